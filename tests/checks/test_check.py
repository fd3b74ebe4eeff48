"""check, hint and solution, as a learner meets them."""

import functools
import io
import sys
from collections import Counter

import pytest

from workbook import check, hint, progress, solution
from workbook.checks.catalogue import find
from workbook.checks.parts import path_of
from workbook.runtime.turns import who_writes as ours

pytestmark = pytest.mark.usefixtures("own_data", "one_worker")
WRONG = "def who_writes(label):\n    return 'model'\n"
STUB = "def who_writes(label): ..."


def test_a_right_answer_passes_and_is_returned(cell, right, capsys):
    """a right answer passes, and the notebook goes on with the learner's function"""
    for function in (cell(right), functools.cache(cell(right))):
        assert check(function) is function
        assert capsys.readouterr().out == "who_writes · passed · 3 of 3\n"


def test_after_another_one_ours_answers_and_is_not_taken_for_it(cell, capsys):
    """call, result and expectation are shown; checking what is given back is no pass"""
    function = check(cell(WRONG))
    assert function("Observation") == "runtime"
    assert capsys.readouterr().out.splitlines()[:5] == [
        "who_writes · wrong · 2 of 3",
        "not met: Observation: written by the one who runs the tool",
        "  called    who_writes('Observation')",
        "  returned  'model'",
        "  expected  'runtime'",
    ]
    check(function)
    assert "who_writes is the package's own function" in capsys.readouterr().out
    assert not path_of("who_writes").exists()


def test_an_error_is_shown_with_its_place(cell, capsys):
    """code that raises shows the kind, the message and the learner's line"""
    check(cell("def who_writes(label):\n    return label[99]\n"))
    out = capsys.readouterr().out
    assert out.startswith("who_writes · your code raised · 0 of 3")
    assert "  raised    IndexError: string index out of range\n" in out
    assert "  at        line 2 of who_writes: return label[99]\n" in out


EQUAL = "class Any(str):\n    def __eq__(self, other): return True\n\n"
ROW = "from dataclasses import dataclass\n@dataclass\nclass Row: name: str\n"
MAKE = "def make(x):\n    def who_writes(label): return x\n    return who_writes\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STUB, find("who_writes").goal.replace("`", "")),
        (f"{EQUAL}def who_writes(label): return Any()", "decides itself what it"),
        (f"{ROW}def who_writes(label): return Row(label)", "returned  Row(name='Th"),
        ("def who_writes(): return 'model'", "TypeError: who_writes() takes 0 pos"),
        ("def who_writes(label): print('hi' * 9**6)", "printed   'hihihi"),
        ("def who_write(label): return 'model'", "Did you mean who_writes?"),
        (
            "x = 1\nwho_writes = lambda label: x",
            "name, and this one's is <lambda>.",
        ),
        (f"{MAKE}f = make(1)", "uses variables of the function around it (x)"),
    ],
)
def test_what_stands_in_the_way_is_said(cell, capsys, text, words):
    """an answer that cannot be taken is told what to do, and the notebook goes on"""
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
    """what is asked about no exercise is told what was probably meant"""
    assert ask(argument) is (argument if ask is check else None)
    assert words in capsys.readouterr().out


def test_what_was_passed_stays_passed(cell, right, capsys):
    """a later wrong try takes nothing away; untouched stubs are no attempt"""
    for text, keeps in ((WRONG, False), (right, False), (WRONG, True), (STUB, True)):
        check(cell(text))
        said = (
            "Your agent keeps your earlier answer, which passed."
            in capsys.readouterr().out
        )
        assert said is keeps
    row = next(row for row in progress().rows if row[1] == "who_writes")
    assert row == ("00", "who_writes", find("who_writes").title, "passed")


def test_a_folder_that_cannot_be_written_does_not_stop_a_check(
    cell, right, capsys, monkeypatch, tmp_path
):
    """when nothing can be kept, check says so and works all the same"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "folder"))
    check(cell(WRONG))
    assert "wrong · 2 of 3" in capsys.readouterr().out
    check(cell(right))
    out = capsys.readouterr().out
    assert "passed, and could not be kept" in out
    assert "Set WORKBOOK_DATA to a folder" in out
