"""What passes is kept, given back, plugged in, and never stops a lesson."""

import inspect
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.learner import answer_to, solve, spoil
from workbook import check, your_agent, your_parts, yours
from workbook.exercises import worker
from workbook.exercises.catalogue import exercises, find
from workbook.exercises.diagram import ROLES
from workbook.exercises.your_agent import (
    PartBroken,
    folder,
    path_of,
    state,
    write,
)
from workbook.runtime.turns import parse_turn
from workbook.runtime.turns import who_writes as ours

pytestmark = pytest.mark.usefixtures("own_data", "one_worker")


@pytest.fixture
def tests_run(monkeypatch):
    """Return a list to which each run of an exercise's tests adds its name."""
    ran, real = [], worker.tested
    for room in ("check", "your_agent"):
        monkeypatch.setattr(
            f"workbook.exercises.{room}.tested",
            lambda exercise, text: ran.append(exercise.slug) or real(exercise, text),
        )
    return ran


def test_check_keeps_what_passes_and_a_run_uses_it(cell, right, tests_run, capsys):
    """what passed is the learner's part from then on; its tests have run once"""
    assert repr(yours("who_writes")) == "<who_writes: ours>"
    assert yours("who_writes").function is ours
    check(cell(right))
    part = yours("who_writes")
    assert (part.whose, repr(part)) == ("yours", "<who_writes: yours>")
    assert part.function.__code__.co_filename == str(path_of("who_writes"))
    parts = your_parts("who_writes")
    assert parts["who_writes"]("Thought") == "model"
    assert parts.line() == "parts in this run · yours: who_writes"
    assert parts.line() == "parts in this run · no part was used"
    assert tests_run == ["who_writes"]
    assert inspect.unwrap(part) is ours  # for those who look at its signature


def test_of_many_parts_the_line_has_the_count():
    """a run with more than three parts says how many are whose"""
    solve("who_writes")
    parts = your_parts("who_writes", "parse_turn", "advance", "screen")
    for each in parts.values():
        each.calls = 1
    told = "yours: who_writes; ours: parse_turn, advance, screen"
    assert parts.line() == f"parts in this run · {told}"
    more = your_parts(*parts, "drive")
    for each in more.values():
        each.calls = 1
    assert more.line() == "parts in this run · yours: who_writes; ours: 4 parts"


def test_a_part_calls_another_by_its_name():
    """a function that calls another exercise's gets that part, whosever it is"""
    solve("who_writes")
    text = (
        "from workbook.exercises.your_agent import part\n"
        'who_writes = part("who_writes")\n\n\n'
        "def parse_turn(text):\n"
        "    from workbook.runtime import turns\n"
        "    assert who_writes.whose == 'yours'\n"
        "    return turns.parse_turn(text)\n"
    )
    write(find("parse_turn"), text)
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
        ("exit()", "broke in line 2 .*SystemExit"),
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
    with pytest.raises(PartBroken, match="AttributeError"):
        your_parts("drive")["drive"]()


@pytest.mark.parametrize("text", ["", "def who_writes(lab", "who_writes = 3", "\0"])
def test_a_file_that_is_changed_has_to_pass_once_more(text, tests_run):
    """a damaged file is not used, and does no harm; one that passes is used again"""
    solve("who_writes")
    path = path_of("who_writes")
    path.write_text(text, encoding="utf-8")
    part = yours("who_writes")
    assert (part.whose, part("Thought")) == ("ours", "model")
    assert repr(part).startswith("<who_writes: ours, since it does not pass: ")
    assert state("who_writes") == "stale"
    path.write_text(f"# mine\n{answer_to('who_writes')}", encoding="utf-8")
    assert [yours("who_writes").whose for _ in range(3)] == ["yours"] * 3
    assert tests_run == ["who_writes"] * 2


@pytest.mark.parametrize(("wanted", "whose"), [("me", "ours"), ("model", "yours")])
def test_after_a_change_of_its_tests_a_part_is_tested_again(
    monkeypatch, tmp_path, tests_run, wanted, whose
):
    """a part whose tests have changed has to pass once more, else it is stale"""
    solve("who_writes")
    rule = f'"""a new rule"""\n    assert who_writes("Thought") == "{wanted}"\n'
    (tmp_path / "test_it.py").write_text(f"def test_it(who_writes):\n    {rule}")
    exercise = replace(find("who_writes"), tests=str(tmp_path / "test_it.py"))
    monkeypatch.setitem(exercises(), "who_writes", exercise)
    assert [yours("who_writes").whose for _ in range(3)] == [whose] * 3
    assert ("a new rule" in repr(yours("who_writes"))) is (whose == "ours")
    assert tests_run == ["who_writes"]


def test_two_processes_keep_parts_at_once():
    """two kernels that keep parts at the same time leave whole files"""
    script = "from tests.learner import solve\nfor n in range(5): solve('who_writes')\n"
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert [path.name for path in folder().iterdir()] == ["who_writes.py"]
    assert yours("who_writes").whose == "yours"


@pytest.mark.parametrize("lesson", ["", "05", 5])
def test_your_agent_shows_each_part_once_the_learners_lit(lesson):
    """the picture has the parts of a lesson, or all, under what they do"""
    solve("drive")
    drawn = your_agent(lesson)
    parts = {slug for slug, e in exercises().items() if e.role}
    number = "05" if lesson else ""
    own = {slug for slug in parts if exercises()[slug].lesson.startswith(number)}
    shown = [slug for column in drawn.columns.values() for slug, _, _ in column]
    assert sorted(shown) == sorted(own)
    assert set(drawn.columns) == {exercises()[slug].role for slug in own} <= {*ROLES}
    assert drawn.title == f"your agent: 1 of {len(parts)} parts are yours"
    assert [sign in repr(drawn) for sign in ("★ drive", "· advance")] == [True, True]
    assert [slug for slug in shown if slug not in drawn._repr_html_()] == []


def test_a_lesson_without_a_part_shows_its_exercises():
    """lesson 00 shows its one function and whether it passed, and no part of others"""
    solve("who_writes")
    drawn = your_agent("00")
    assert drawn.columns == {"for practice": [("who_writes", "★", "yours")]}
    assert drawn.title.startswith("your agent: 0 of ")
