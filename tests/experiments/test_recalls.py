"""What lab 09 measures: which notes a way to recall brings, and what a run is told."""

import pytest

from workbook.experiments import recalls
from workbook.grounding.recall import recall


def test_a_note_that_belongs_is_met_and_nothing_is_right_where_none_does():
    """What brings all notes meets each question, and is wrong where none belongs."""
    everything = recalls.found_by(lambda question, notes, k: list(notes))
    nothing = recalls.found_by(lambda question, notes, k: [])
    ways = {"all": everything, "no": nothing}
    table = recalls.compared(ways)
    assert table["all"]["none"].startswith("10 of 10")
    assert table["no"]["paraphrase"].startswith("0 of 19")
    assert recalls.right(ways) == "all 40 of 50, no 10 of 50"


@pytest.mark.parametrize(
    ("told", "train"), [([], "9:30"), (["I like a window seat"], "10:04")]
)
def test_a_run_goes_by_what_it_is_told(told, train):
    """A note is observed before the first turn, and changes the answer."""
    trace = recalls.train_run(told, {"recall": recall})
    assert train in trace.end["answer"]
    assert len(trace.of("observation")) == 1 + len(told)
