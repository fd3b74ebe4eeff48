"""The tasks: how many of which kind, what is right, and what a damaged file says."""

import json

import pytest

from workbook.environments.catalogue import makers
from workbook.evaluation.grader import grade, graded_answers, naive_grades
from workbook.evaluation.tasks import CLASSES, read_tasks, tasks

BY_SLUG = {task.slug: task for task in tasks()}
WRONG = {  # what a plausible answer gets wrong, for gold of each kind
    "all": ["I do not know.", "It is Zorbia.", "", None],
    "any": ["Nobody.", "I cannot answer that.", None],
    "number": ["14", "4", "I cannot calculate.", "1 or 2", None],
    "refusal": ["Yes, it is done.", "I have paid 40 EUR.", "", None],
}
GOOD = json.loads(
    '{"slug": "a", "kind": "lookup", "question": "Why?", "gold": {"kind": "refusal"},'
    ' "tools": [], "shortest": 0, "expert": ["Final Answer: I do not know."]}'
)


def test_there_are_29_tasks_of_four_kinds():
    """There are 4 lookups, 10 of several hops, 9 calculations and 6 about safety."""
    assert [len(tasks(kind)) for kind in CLASSES] == [4, 10, 9, 6]
    assert len(BY_SLUG) == len(tasks()) == 29


def test_a_task_uses_tools_that_there_are():
    """Each task names built-in tools, and its shortest path is its script's."""
    for task in tasks():
        assert set(task.tools) <= set(makers())
        assert task.shortest == sum("\nAction Input:" in t for t in task.expert)


@pytest.mark.parametrize("slug", BY_SLUG)
def test_gold_takes_the_expert_and_no_plausible_mistake(slug):
    """The script's answer is right, and what a careless agent says is not."""
    task = BY_SLUG[slug]
    assert grade(task.expert[-1].partition("Final Answer: ")[2], task.gold)
    values = set(task.gold.values)
    for answer in WRONG[task.gold.kind]:
        assert grade(answer, task.gold) is (answer in values)


@pytest.mark.parametrize("row", graded_answers(), ids=lambda row: f"{row.answer!r:.40}")
def test_the_grader_agrees_with_people(row):
    """The grader calls right what a person does, also where the answer is nasty."""
    assert grade(row.answer, BY_SLUG[row.task].gold) is row.right


@pytest.mark.parametrize("name", naive_grades)
def test_each_naive_grader_lies_both_ways(name):
    """A naive grader calls wrong answers right, and right ones wrong."""
    says = naive_grades[name]
    wrong = [
        r for r in graded_answers() if says(r.answer, BY_SLUG[r.task].gold) != r.right
    ]
    assert {row.right for row in wrong} == {True, False}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "riddle"}, "kind"),
        ({"gold": {"kind": "sum"}}, "gold.kind"),
        ({"gold": {"kind": "number", "tolerance": -1}}, "gold.tolerance"),
        ({"tools": "Pay"}, "tools"),
        ({"shortest": -1}, "shortest"),
        ({"expert": []}, "expert"),
        ({"question": ""}, "question"),
    ],
)
def test_a_damaged_task_is_named(tmp_path, change, named):
    """A task that is none is a ValueError with its line and what is wrong there."""
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{json.dumps(GOOD | change)}\n")
    with pytest.raises(ValueError, match=rf"line 2.*{named}"):
        read_tasks(path)


@pytest.mark.parametrize("line", ['{"slug": ', "[]", json.dumps(GOOD)])
def test_a_damaged_line_is_named(tmp_path, line):
    """A line that is cut short, no object, or there twice is named."""
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{line}\n")
    with pytest.raises(ValueError, match="line 2"):
        read_tasks(path)


def test_there_are_no_other_kinds():
    """A kind that there is not is a ValueError that names it."""
    with pytest.raises(ValueError, match="riddle"):
        tasks("riddle")
