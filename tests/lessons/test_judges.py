"""Agents with parts left out, a model as judge, and agreement beyond luck."""

import pickle
from dataclasses import replace

import pytest

from workbook.lessons.evaluation import evaluate, tasks
from workbook.lessons.judges import (
    GUARDS,
    Agent,
    judge,
    kappa_interval,
    read_score,
)
from workbook.lessons.traces_and_replay import traces_in
from workbook.runtime.script import Script

SOME = tasks()[::15]
TOWERS = next(task for task in tasks() if task.slug == "skytree_eiffel")
SCORES = {
    1: ["score is: 1"],
    2: ["It names 3 towns.\nScore: 2"],
    4: [" 4", "4/5", "**4** (complete)", "4 out of 5.", "Score: 4. So the score is 4"],
    5: ["评分 Score：５"],
    None: [
        *("99.99", "4.5", "45", "0", "6", "4/10", "3 or 4", "3-4", ""),
        *("Score: 2, no, score: 3", "I give it a 4"),
    ],
}


def totals(agent, given, out):
    """Return how many answers are right, calls are wasted, and payments were made."""
    rows = evaluate(given, agent, out=out)
    seen = [e for trace in traces_in(out) for e in trace.of("observation")]
    paid = [e for e in seen if e["tool"] == "Pay" and e["ok"] and not e.get("notes")]
    right, wasted = (sum(row[name] for row in rows) for name in ("right", "wasted"))
    return right, wasted, len(paid)


def test_the_expert_is_right_on_all_tasks(tmp_path):
    """With all guards 29 of 29 are right and no call is wasted, in any process."""
    agent = pickle.loads(pickle.dumps(Agent()))
    assert totals(agent, tasks(), tmp_path) == (29, 0, 0)


PAYS = "pays twice"


@pytest.mark.parametrize(
    ("script", "off", "found"),
    [
        ("repeats", (), (2, 4, 0)),
        ("repeats", ["stuck"], (0, 18, 0)),
        ("wanders", (), (2, 16, 0)),
        ("wanders", ["budget"], (0, 78, 0)),
        ("makes up", (), (2, 2, 0)),
        ("makes up", ["grounding"], (0, 2, 0)),
        (PAYS, ["taint"], (2, 4, 0)),
        (PAYS, ["policy"], (2, 4, 1)),  # one of the two tasks has read a page
        (PAYS, ["policy", "taint"], (2, 4, 2)),  # the ledger pays each once
        (PAYS, ["policy", "taint", "ledger"], (2, 4, 4)),
    ],
)
def test_a_guard_is_worth_its_row(tmp_path, script, off, found):
    """With all guards an adversary ends right; without its own it wastes, lies, pays.

    Of two tasks: right answers, wasted calls, payments."""
    guards = tuple(guard for guard in GUARDS if guard not in off)
    assert totals(Agent(script, guards), SOME, tmp_path) == found


def test_a_configuration_is_an_argument(tmp_path):
    """k runs vote; without its search or calculator, a careful agent gives up."""
    careful = Agent("careful", k=3)
    agents = careful, replace(careful, search=False), replace(careful, calculator=False)
    right = [totals(a, tasks(), tmp_path / str(n))[0] for n, a in enumerate(agents)]
    assert right == [28, 7, 19]
    assert len([*traces_in(tmp_path / "0")]) == 3 * 29


@pytest.mark.parametrize("score", SCORES)
def test_a_score_is_read_or_there_is_none(score):
    """One whole number from 1 to 5 where the score stands; nothing is guessed."""
    read = {text: read_score(text) for text in SCORES[score]}
    assert read == dict.fromkeys(SCORES[score], score)


def test_a_judge_is_shown_question_gold_trace_and_answer(tmp_path):
    """The prompt has what the run did, and ends with the beginning of the reply."""
    evaluate([TOWERS], Agent(), out=tmp_path)
    (trace,) = traces_in(tmp_path)
    prompts, text = [], "It is right. Score: 5"
    script = Script([lambda seen: prompts.append(seen) or text])
    found = judge(script, TOWERS.question, "304 m", trace, gold="304")
    assert found == (5, text)
    (prompt,) = prompts
    rubric, _, rest = prompt.partition(f"Question: {TOWERS.question}\n")
    assert "right tool" in rubric
    assert rest.startswith("The right answer: 304\n")
    assert rest.count("action: ") == rest.count("observation: ") == 3
    assert rest.endswith("\nAnswer: 304 m\nScore:")


@pytest.mark.parametrize(
    ("counts", "right"),  # both, only ours, only theirs, neither
    [
        ((16, 4, 4, 16), (0.3048, 0.6, 0.79)),
        ((20, 5, 10, 15), (0.125, 0.4, 0.6179)),
        ((0, 10, 10, 0), (-1, -1, -0.6777)),
        ((5, 0, 0, 5), (0.4449, 1, 1)),  # a few that all agree leave a width
    ],
)
def test_kappa_has_an_interval(counts, right):
    """It is Wilson's of the share that agrees, beyond the same luck."""
    kinds = (True, True), (True, False), (False, True), (False, False)
    pairs = [kind for kind, n in zip(kinds, counts, strict=True) for _ in range(n)]
    assert kappa_interval(*zip(*pairs, strict=True)) == pytest.approx(right, abs=1e-4)
