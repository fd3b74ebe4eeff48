"""Plots are readable on white pages and on dark ones."""

from matplotlib import colors
from matplotlib import pyplot as plt

from workbook.stage.engines import play
from workbook.views.plots import BLUE, GREY, RED, plot_prompts


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


def test_all_that_is_drawn_is_readable():
    """Of three colours, on no ground; what a notebook has set is set again after it."""
    before, shown = dict(plt.rcParams), plt.get_fignums()
    seen = plot_prompts(play("drift"), window=200)
    assert {colors.to_hex(ink) for ink in inks(seen)} == {GREY, BLUE, RED}
    assert seen.get_facecolor()[3] == 0
    assert all(ax.get_facecolor()[3] == 0 for ax in seen.axes)
    assert dict(plt.rcParams) == before
    assert plt.get_fignums() == shown  # or else a notebook shows it a second time


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
