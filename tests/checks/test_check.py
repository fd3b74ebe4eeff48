"""check, hint and solution, as a learner meets them."""

import io
import sys
from collections import Counter

import pytest

from workbook import check, hint, progress, solution
from workbook.checks.catalogue import find
from workbook.runtime.turns import who_writes as ours

pytestmark = pytest.mark.usefixtures("own_data", "one_worker")
WRONG = "def who_writes(label):\n    return 'model'\n"
STUB = "def who_writes(label): ..."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STUB, find("who_writes").goal.replace("`", "")),
        ("def who_writes(label): print('hi' * 9**6)", "printed   'hihihi"),
        ("def who_write(label): return 'model'", "Did you mean who_writes?"),
        ("who_writes = lambda label: 1", "name, and this one's is <lambda>."),
        (WRONG, "  called    who_writes('Observation')\n  returned  'model'\n  exp"),
    ],
)
def test_an_answer_that_cannot_pass_has_a_message(cell, capsys, text, words):
    """an answer that cannot be taken gets a message what to do; the notebook goes on"""
    check(cell(text))
    out = capsys.readouterr().out
    assert words in out
    assert len(out) < 2000


def test_a_console_without_the_signs_gets_others(cell, monkeypatch):
    """where the console's code page lacks a sign, the report comes without it"""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    check(cell(WRONG))
    stream.flush()
    assert b"expected  'runtime'" in stream.buffer.getvalue()


def test_each_call_of_hint_shows_one_more(capsys, monkeypatch):
    """hint shows the next hint each time, and says when there are no more"""
    monkeypatch.setattr("workbook.checks.check._hints", Counter())
    hints = find("who_writes").hints
    for number in (1, 2, 3):
        hint("who_writes")
        out = capsys.readouterr().out
        assert [text in out for text in hints] == [n < number for n in range(3)]
    hint(ours)
    assert "solution(who_writes) shows ours" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ask", "argument", "words"),
    [
        (hint, "who_write", "Did you mean who_writes?"),
        (solution, "zebra", "`python -m workbook progress` lists them"),
        (hint, None, "hint takes the function itself, without brackets: hint(parse_"),
        (check, "who_writes", "It got 'who_writes'."),
        (check, dict, "It got <class 'dict'>."),
    ],
)
def test_something_else_than_an_exercise(capsys, ask, argument, words):
    """for what is no exercise, the message names what was probably meant"""
    assert ask(argument) is (argument if ask is check else None)
    assert words in capsys.readouterr().out


def test_what_was_passed_stays_passed(cell, right, capsys):
    """a later wrong try takes nothing away; untouched stubs are no attempt"""
    kept = "Your agent keeps your earlier answer, which passed."
    for text, keeps in ((WRONG, False), (right, False), (WRONG, True), (STUB, True)):
        check(cell(text))
        assert (kept in capsys.readouterr().out) is keeps
    shown = progress()
    row = next(row for row in shown.rows if row[1] == "who_writes")
    assert row == ("00", "who_writes", find("who_writes").title, "passed")
    assert shown.footer.startswith("1 of ")


def test_a_folder_that_cannot_be_written_does_not_stop_a_check(
    cell, right, capsys, monkeypatch, tmp_path
):
    """when nothing can be kept, check says so and works all the same"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "folder"))
    check(cell(right))
    out = capsys.readouterr().out
    assert "passed, and could not be kept" in out
    assert "Set WORKBOOK_DATA to a folder" in out
