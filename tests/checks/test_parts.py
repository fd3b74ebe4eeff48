"""What passes is kept, given back, used in a run, and never stops a lesson."""

import inspect
import os

import pytest

from tests.learner import answer_to, solve, spoil
from workbook import check, your_agent, your_parts, yours
from workbook.checks.catalogue import exercises
from workbook.checks.parts import ROLES, PartBroken, keep, path_of, state
from workbook.runtime.turns import parse_turn
from workbook.runtime.turns import who_writes as ours

pytestmark = pytest.mark.usefixtures("own_data", "one_worker")


def test_check_keeps_what_passes_and_a_run_uses_it(cell, right):
    """what passed is the learner's part from then on"""
    assert yours("who_writes").whose == "ours"
    check(cell(right))
    part = yours("who_writes")
    assert part.whose == "yours"
    parts = your_parts("who_writes")
    assert parts["who_writes"]("Thought") == "model"
    assert parts.line() == "parts in this run · yours: who_writes"
    assert parts.line() == "parts in this run · no part was used"
    parts = your_parts("who_writes", "parse_turn", "advance", "screen", "drive")
    for each in parts.values():
        each.calls = 1
    assert parts.line() == "parts in this run · yours: who_writes; ours: 4 parts"
    assert inspect.unwrap(part) is ours  # for those who look at its signature


def test_a_part_calls_another_by_its_name():
    """a function that calls another exercise's gets that part, whosever it is"""
    solve("who_writes")
    text = (
        "from workbook.checks.parts import part\n"
        'who_writes = part("who_writes")\n\n\n'
        "def parse_turn(text):\n"
        "    from workbook.runtime import turns\n"
        "    assert who_writes.whose == 'yours'\n"
        "    return turns.parse_turn(text)\n"
    )
    keep("parse_turn", text)
    assert your_parts("parse_turn")["parse_turn"]("") == parse_turn("")


def test_a_part_that_breaks_gives_way_to_ours(capsys):
    """a part that breaks says in which line, and ours answers from there on"""
    spoil("who_writes")
    part = yours("who_writes")
    assert (part("Thought"), part("Thought")) == ("model", "model")
    said = capsys.readouterr().err
    assert said.count("your who_writes broke in line 2 of who_writes: raise ") == 1
    assert "not today" in said
    assert (part.whose, yours("who_writes").whose) == ("ours", "ours")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise RuntimeError('not today')", "broke in line 2 .*not today"),
        ("return None", "returned None for 'Thought: x'; it has to return .*Malformed"),
        ("return 'Action'", "returned 'Action' for .*; it has to return"),
    ],
)
def test_in_a_run_a_part_that_breaks_ends_it_and_the_next_has_ours(body, words):
    """in a run a broken part says what it did; the next run has ours"""
    spoil("parse_turn", f"def {{slug}}(text):\n    {body}\n")
    parts = your_parts("parse_turn")
    with pytest.raises(PartBroken, match=f"your parse_turn {words}"):
        parts["parse_turn"]("Thought: x")
    assert "parse_turn: your parse_turn " in parts.line()
    expected = parse_turn("Thought: x")
    assert your_parts("parse_turn")["parse_turn"]("Thought: x") == expected


def test_an_error_that_the_card_allows_or_a_tool_raises_is_no_breakage():
    """what a card allows a function to raise goes through, and what it called raises"""
    solve("safe_eval")
    with pytest.raises(ValueError, match=r"."):
        yours("safe_eval")("open('x')")
    spoil("drive", "def {slug}(*args):\n    return args[0]() if args else args.no\n")
    with pytest.raises(ZeroDivisionError):
        your_parts("drive")["drive"](lambda: 1 / 0)
    assert [yours(slug).whose for slug in ("safe_eval", "drive")] == ["yours", "yours"]
    spoil("parse_turn")
    with pytest.raises(PartBroken, match="your parse_turn broke"):
        your_parts("drive")["drive"](lambda: your_parts("parse_turn")["parse_turn"](""))
    assert yours("drive").whose == "yours"
    with pytest.raises(PartBroken, match="AttributeError"):
        your_parts("drive")["drive"]()


@pytest.mark.parametrize("text", ["def who_writes(lab", "who_writes = 3"])
def test_a_damaged_file_is_not_used(text):
    """a file that cannot be run does no harm; one that is put right is used again"""
    keep("who_writes", text)
    part = yours("who_writes")
    assert (part.whose, part("Thought")) == ("ours", "model")
    assert "Error" in part.kept()[1]
    assert state("who_writes") == "broken"
    assert your_agent("00").rows[0][1] == "! who_writes, which broke"
    path_of("who_writes").write_text(f"# mine\n{answer_to('who_writes')}", "utf-8")
    assert yours("who_writes").whose == "yours"


def test_two_processes_keep_parts_at_once(monkeypatch, right):
    """two kernels that keep parts at the same time leave whole files"""
    replace = os.replace

    def while_another_keeps(new, path):
        monkeypatch.setattr(os, "replace", replace)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        keep("who_writes", "# of another process")
        replace(new, path)

    monkeypatch.setattr(os, "replace", while_another_keeps)
    keep("who_writes", right)
    assert [path.name for path in path_of("").parent.iterdir()] == ["who_writes.py"]
    assert yours("who_writes").whose == "yours"


@pytest.mark.parametrize("lesson", ["", 5])
def test_your_agent_shows_each_part_once_the_learners_apart(lesson):
    """the table has the parts of a lesson, or all, under what they do"""
    solve("drive")
    shown = your_agent(lesson)
    parts = {slug for slug, e in exercises().items() if e.role}
    own = {slug for slug in parts if exercises()[slug].lesson.startswith("05")}
    named = [
        slug for row in shown.rows for cell in row[1:] for slug in cell.split(", ")
    ]
    named = [slug.removeprefix("★ ") for slug in named if slug]
    assert sorted(named) == sorted(own if lesson else parts)
    assert {row[0] for row in shown.rows} <= {*ROLES}
    assert shown.footer == f"your agent: 1 of {len(parts)} parts are yours"
    assert "★ drive" in [row[1] for row in shown.rows]
    assert your_agent("00").rows == [("for practice", "", "who_writes")]  # no part
