"""Lesson 02's pictures say what few questions say, and the paper's own figures."""

import matplotlib.pyplot as plt
import pytest

from tests.experiments.test_experiment import trial
from workbook.evaluation.statistics import paired_difference
from workbook.experiments import figures
from workbook.experiments.experiment import summarize
from workbook.paths import ROOT


@pytest.fixture(autouse=True)
def closed():
    """No picture is left open behind a test."""
    yield
    plt.close("all")


def lengths(axes):
    return [bar.get_width() for bar in axes.patches]


def test_a_rate_stands_with_its_interval():
    """A bar is as high as the share, and its line goes from one end to the other"""
    axes = figures.plot_rates(summarize([trial("act", n, n < 13) for n in range(20)]))
    assert axes.patches[0].get_height() == 65
    (line,) = axes.collections[0].get_segments()
    assert [round(y) for _, y in line] == [43, 82]


def test_the_count_is_common_in_the_middle_and_rare_at_the_ends():
    """What was counted is red; at both ends of the interval it is rare"""
    three = figures.plot_plausible(13, 20)
    red = [round(axes.patches[13].get_height()) for axes in three]
    titles = [axes.get_title()[-3:] for axes in three]
    assert dict(zip(titles, red, strict=True)) == {"43%": 3, "65%": 18, "82%": 4}


def test_the_red_coins_are_p():
    """The coins that are at least as uneven are red, and together they are p"""
    pairs = [(True, False)] * 6 + [(False, True)] + [(True, True)] * 13
    found = paired_difference(pairs)
    questions, coins = figures.plot_pairs(found, "Act", "ReAct")
    assert lengths(questions) == [13, 6, 1, 0]
    red = [bar for bar in coins.patches if bar.get_facecolor()[0] > 0.8]
    assert sum(bar.get_height() for bar in red) == pytest.approx(100 * found.p)
    _, none = figures.plot_pairs(paired_difference([(True, True)]), "Act", "ReAct")
    assert none.get_title() == "0 coins fall so unevenly (red): p = 100.0%"


def test_the_papers_pictures_show_its_figures():
    """Each bar is a figure of the paper; ReAct's failures add up to 99, as printed"""
    hotpot, fever = figures.plot_paper("questions")
    assert lengths(hotpot)[3:5] == [25.7, 27.4]
    assert lengths(fever)[3:5] == [58.9, 60.9]
    assert hotpot.yaxis_inverted()  # the first row is the top one
    house, shop = figures.plot_paper("worlds")
    assert lengths(house) == [37, 45, 57, 71]
    assert max(lengths(shop)) == 59.6
    assert dict(figures.paper("failures").sum()) == {"ReAct": 99, "CoT": 100}


def test_the_lesson_quotes_the_paper_as_the_lab_draws_it():
    """Lesson 02's table has the figures that the lab's pictures show"""
    lesson = (ROOT / "notebooks/02_react_prompting.ipynb").read_text(encoding="utf-8")
    table = figures.paper("questions").loc[["Standard", "CoT", "Act", "ReAct"]]
    for name, figure in table.items():
        assert f"| {' | '.join(map(str, figure))} |" in lesson, name


def test_the_prompts_that_were_tried_are_shown_with_their_day(capsys):
    """Seven recorded prompts, and when and with which model they were tried"""
    table = figures.prompt_trials()
    assert len(table) == 7
    assert capsys.readouterr().out.startswith("recorded on 20")
