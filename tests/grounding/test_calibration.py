"""Both errors of each threshold, and the figures of the wiki questions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.environments.search import bundled_search
from workbook.environments.wiki import load_articles, wiki_tasks
from workbook.grounding.calibration import calibrate, plot_costs


def top_scores():
    """Return, for each question, the top document's score, and if it has the answer."""
    texts = {article.doc_id: article.text for article in load_articles()}
    for task in wiki_tasks():
        top = bundled_search().search(task.text)[0]
        yield top.score, any(answer in texts[top.doc_id] for answer in task.answers)


def test_a_row_says_what_a_threshold_costs():
    """a score of the threshold or more is accepted; both errors are shares"""
    rows = calibrate([(0.2, False), (0.4, True), (0.4, False), (0.8, True)])
    assert rows == [
        (0.2, 0.0, 1.0),
        (0.4, 0.0, 0.5),
        (0.8, 0.5, 0.0),
        (math.inf, 1.0, 0.0),
    ]


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_one_error_falls_where_the_other_grows(pairs):
    """row by row no more wrong ones are accepted and no fewer right ones refused"""
    rows = calibrate([*pairs, (0.5, True), (0.5, False)])
    refused, accepted = (
        [r.right_refused for r in rows],
        [r.wrong_accepted for r in rows],
    )
    assert (refused, accepted) == (sorted(refused), sorted(accepted, reverse=True))
    assert (refused[0], accepted[0], refused[-1], accepted[-1]) == (0, 1, 1, 0)


@pytest.mark.parametrize(
    ("pairs", "named"),
    [([], "0 right"), ([(0.5, True)], "0 wrong"), ([(math.nan, True)], "nan")],
)
def test_an_error_without_a_rate_is_told(pairs, named):
    """without a right one, or a wrong one, or with no number there is no row"""
    with pytest.raises(ValueError, match=named):
        calibrate(pairs)


def test_half_is_a_bad_threshold_here():
    """of 27 top documents 18 hold the answer, and 8 of these score 0.5 or more"""
    pairs = list(top_scores())
    right = [score for score, is_right in pairs if is_right]
    print(*calibrate(pairs), sep="\n")
    assert (len(pairs), len(right), sum(s >= 0.5 for s in right)) == (27, 18, 8)


@pytest.mark.parametrize(
    ("query", "title", "score"),
    [("Population of Paris", "Paris", 0.24), ("Mount Doom", "Mount Fuji", 0.33)],
)
def test_a_right_article_may_score_below_a_wrong_one(query, title, score):
    """the population of Paris scores 0.24 in the right article, Mount Doom 0.33"""
    best = bundled_search().search(query)[0]
    assert (best.title, round(best.score, 2)) == (title, score)


def test_the_plot_shows_both_errors_and_the_choice():
    """two curves and the chosen threshold, with labelled axes"""
    figure = plot_costs(calibrate(top_scores()), chosen=0.3)
    [ax] = figure.axes
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == ["right ones refused", "wrong ones accepted", "chosen: 0.3"]
    assert ax.get_xlabel()
    assert ax.get_ylabel()
