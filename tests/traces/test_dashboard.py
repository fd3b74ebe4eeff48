"""The dashboard: four panels that are readable on white pages and on dark ones."""

import warnings

import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

from workbook.stage.engines import play
from workbook.traces.dashboard import dashboard
from workbook.traces.metrics import figures
from workbook.traces.writer import TraceWriter

PAGES = ("#ffffff", "#111111")  # JupyterLab's, light and dark
SLUGS = ("price_question", "endless_retry", "slow_tool", "crash_at_step_45")
RUNS = []


@pytest.fixture(scope="module")
def seen():
    """Return the dashboard of a few runs, drawn."""
    RUNS[:] = [play(slug, engine) for slug in SLUGS for engine in ("guarded", "naive")]
    figure = dashboard(RUNS)
    figure.draw_without_rendering()
    return figure


def luminance(color):
    """Return the relative luminance of a colour, as WCAG defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return sum(
        w * part for w, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
    )


def contrast(one, other):
    """Return the contrast of two colours, 1 to 21."""
    dark, light = sorted(luminance(colors.to_rgb(each)) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


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


@pytest.mark.parametrize("page", PAGES)
def test_all_that_is_drawn_is_readable(seen, page):
    """Each line, bar and letter has a contrast of 3:1 or more, in light and dark."""
    assert min(contrast(ink, page) for ink in inks(seen)) >= 3
    assert seen.get_facecolor()[3] == 0
    assert all(ax.get_facecolor()[3] == 0 for ax in seen.axes)


def test_each_panel_says_what_to_see_and_in_which_unit(seen):
    """A panel has a title, and an axis with its unit; all have something to see."""
    assert len(seen.axes) == 4
    assert all(ax.get_title() and ax.get_xlabel() for ax in seen.axes)
    assert all(ax.has_data() for ax in seen.axes)
    assert "seconds" in seen.axes[1].get_xlabel()
    assert "tokens" in seen.axes[3].get_ylabel()
    assert "8 runs" in seen.get_suptitle()
    shown = {text.get_text() for text in seen.findobj(plt.Text)}
    rates = figures(RUNS).rates.values()
    assert {f"{rate.ok} of {rate.calls} ok" for rate in rates} <= shown


def test_nothing_is_told_by_colour_alone(seen):
    """What failed is hatched; a median and a 95th percentile have different marks."""
    tools = seen.axes[2]
    assert {bool(bar.get_hatch()) for bar in tools.patches} == {True, False}
    marks = [line.get_marker() for line in seen.axes[1].lines]
    assert len(set(marks)) == len(marks) == 2


def test_without_runs_there_is_a_sentence_in_each_panel():
    """No runs, no bars: the figure says that there is nothing to see."""
    figure = dashboard([])
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


def test_a_notebook_shows_it_once():
    """It is returned, and not left open for the notebook to show a second time."""
    before = plt.get_fignums()
    dashboard([])
    assert plt.get_fignums() == before
