"""The tasks: how many of which kind, and what is right."""

import pytest

from workbook.environments.catalogue import makers
from workbook.evaluation.grader import grade
from workbook.evaluation.tasks import CLASSES, tasks

BY_SLUG = {task.slug: task for task in tasks()}
WRONG = {  # what a plausible answer gets wrong, for gold of each kind
    "all": ["I do not know.", "It is Zorbia.", "", None],
    "any": ["Nobody.", "I cannot answer that.", None],
    "number": ["14", "4", "I cannot calculate.", "1 or 2", None],
    "refusal": ["Yes, it is done.", "I have paid 40 EUR.", "", None],
}


def test_there_are_29_tasks_of_four_kinds():
    """There are 4 lookups, 10 of several hops, 9 calculations and 6 about safety."""
    assert [len(tasks(kind)) for kind in CLASSES] == [4, 10, 9, 6]
    assert len(BY_SLUG) == len(tasks()) == 29
    with pytest.raises(ValueError, match="riddle"):
        tasks("riddle")


@pytest.mark.parametrize("slug", BY_SLUG)
def test_a_task_can_be_done_and_graded(slug):
    """Its tools are built in, and its script takes the shortest way to a right answer.

    What a careless agent says instead is wrong."""
    task = BY_SLUG[slug]
    assert set(task.tools) <= set(makers())
    assert task.shortest == sum("\nAction Input:" in t for t in task.expert)
    assert grade(task.expert[-1].partition("Final Answer: ")[2], task.gold)
    for answer in WRONG[task.gold.kind]:
        assert grade(answer, task.gold) is (answer in task.gold.values)
