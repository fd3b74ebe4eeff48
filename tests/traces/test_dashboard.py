"""The dashboard: three panels that are readable on white pages and on dark ones."""

import warnings

import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

from workbook.playground.engines import play
from workbook.traces.dashboard import BLUE, GREY, RED, dashboard, plot_prompts
from workbook.traces.metrics import figures
from workbook.traces.writer import TraceWriter

SLUGS = ("price_question", "endless_retry", "slow_tool", "crash_at_step_45")


@pytest.fixture(scope="module")
def found():
    """Return the figures of a few runs."""
    return figures(play(slug, e) for slug in SLUGS for e in ("guarded", "naive"))


@pytest.fixture(scope="module")
def seen(found):
    """Return their dashboard, drawn."""
    figure = dashboard(found)
    figure.draw_without_rendering()
    return figure


def inks(figure):
    """Yield every colour in which something is drawn."""
    for text in figure.findobj(plt.Text):
        if text.get_text():
            yield text.get_color()
    for line in figure.findobj(plt.Line2D):
        if line.get_visible():  # a grid is there, and not drawn
            yield line.get_color()
    for ax in figure.axes:
        yield from (each for lines in ax.collections for each in lines.get_color())
        yield from (spine.get_edgecolor() for spine in ax.spines.values())
        yield from (bar.get_edgecolor() for bar in ax.patches if bar.get_hatch())
        yield from (bar.get_facecolor() for bar in ax.patches if not bar.get_hatch())


def test_all_that_is_drawn_is_readable(seen):
    """Of three colours that a browser measures in lab 08, on the page itself."""
    assert {colors.to_hex(ink) for ink in inks(seen)} == {GREY, BLUE, RED}
    assert seen.get_facecolor()[3] == 0
    assert all(ax.get_facecolor()[3] == 0 for ax in seen.axes)


def test_letters_have_the_contrast_that_wcag_asks_for():
    """On white, and turned around, as a dark page shows them, on its ground."""

    def light(colour):
        parts = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour
        ]
        return sum(f * p for f, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    ink = colors.to_rgb(GREY)
    assert 1.05 / (light(ink) + 0.05) >= 4.5
    turned = light([1 - c for c in ink])
    assert (turned + 0.05) / (light(colors.to_rgb("#111111")) + 0.05) >= 4.5


def test_numbers_of_prompts_do_not_lie_on_the_line_of_the_window():
    """A number whose bar ends just below the line stands above it."""
    (ax,) = plot_prompts(play("drift"), window=200).axes
    numbers = [text for text in ax.texts if text.get_text().isdigit()]
    assert len(numbers) == 7
    assert all(not 160 < number.xy[1] < 200 for number in numbers)


def test_each_panel_says_what_to_see_and_in_which_unit(seen, found):
    """All have something to see, and nothing is told by its colour alone."""
    assert len(seen.axes) == 3
    assert all(ax.get_title() and ax.get_xlabel() for ax in seen.axes)
    assert all(ax.has_data() for ax in seen.axes)
    assert "seconds" in seen.axes[1].get_xlabel()
    assert "8 runs" in seen.get_suptitle()
    shown = {text.get_text() for text in seen.findobj(plt.Text)}
    tools = found.frames()["Tools, and seconds of a call"]
    told = tools["ok"].astype(str) + " of " + tools["calls"].astype(str) + " ok"
    assert set(told) <= shown
    assert {bool(bar.get_hatch()) for bar in seen.axes[2].patches} == {True, False}
    marks = [line.get_marker() for line in seen.axes[1].lines]
    assert len(set(marks)) == len(marks) == 2


def test_without_runs_there_is_a_sentence_in_each_panel():
    """No runs, no bars; it is not left open for a notebook to show a second time."""
    before = plt.get_fignums()
    figure = dashboard([])
    assert plt.get_fignums() == before
    assert not any(ax.has_data() for ax in figure.axes)
    assert all(ax.get_title() for ax in figure.axes)
    assert "0 runs" in figure.get_suptitle()


def test_names_are_shown_as_they_are_written():
    """A dollar is no formula, a long name is cut, and a lone call can be drawn."""
    emit = TraceWriter(secrets=[])
    emit("run_started", engine="x", question="q")
    for name in ("$x$", "$\\frac$", "n" * 500, "two\nlines"):
        emit("tool_call", call_id=name, tool=name, arguments={})
        emit("observation", call_id=name, tool=name, ok=False, text="t")
        about = {"source": name, "event": "e", "target": "T", "why": "w"}
        emit("transition", **about, elapsed_s=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = dashboard(emit.trace())
        figure.draw_without_rendering()
    texts = [text.get_text() for text in figure.axes[2].get_yticklabels()]
    assert texts[0] == r"\$x\$"  # what matplotlib draws as $x$
    assert max(map(len, texts)) < 40


def test_the_prompts_of_a_run_are_drawn():
    """A bar a prompt, and a title that says their sum, a formula's, or the window."""
    trace = play("drift")
    (ax,) = plot_prompts(trace, window=200).axes
    heights = [round(bar.get_height()) for bar in ax.patches]
    assert len(heights) == len(trace.of("model_request"))
    assert heights == sorted(heights)
    first = next(n for n, height in enumerate(heights, 1) if height > 200)
    assert ax.get_title().startswith(f"From call {first} on")
    (ax,) = plot_prompts(trace, formula=lambda first, growth, n: first).axes
    assert f"{sum(heights):,} tokens" in ax.get_title()
    assert ax.get_title().endswith(f"by the formula {heights[0]:,}")
