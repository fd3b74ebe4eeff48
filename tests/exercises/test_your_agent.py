"""What passes is kept, given back, plugged in, and never stops a lesson."""

import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.learner import RAISES, cells_with_answer, solve, spoil
from workbook import check, reset, your_agent, your_parts, yours
from workbook.__main__ import main
from workbook.exercises import kept
from workbook.exercises.agent_diagram import ROLES
from workbook.exercises.catalogue import exercises, find
from workbook.exercises.your_agent import PartBroken, fits
from workbook.loop.turns import Action, Malformed, parse_turn, who_writes

pytestmark = pytest.mark.usefixtures("own_data")

RIGHT = """
def who_writes(label):
    return "runtime" if label == "Observation" else "model"
"""


@pytest.mark.parametrize("slug", exercises())
def test_a_right_answer_is_kept_and_given_back(slug):
    """what passes becomes a part, and the part is the learner's function"""
    solve(slug)
    part = yours(slug)
    assert part.whose == "yours"
    assert part.function is not exercises()[slug].function()
    assert part.function.__code__.co_filename == str(kept.path_of(slug))


@pytest.mark.parametrize("slug", exercises())
def test_without_an_answer_a_part_is_ours(slug):
    """where the learner has no function, the part is the package's, and says so"""
    part = yours(slug)
    assert (part.whose, part.function) == ("ours", exercises()[slug].function())
    assert repr(part) == f"<{slug}: ours>"


@pytest.mark.parametrize("slug", exercises())
def test_a_function_that_raises_is_not_kept(slug):
    """a function that raises does not become a part"""
    assert "could not be kept" in kept.keep(slug, [RAISES.format(slug=slug)])
    assert not kept.path_of(slug).exists()


def test_a_gate_without_a_test_keeps_nothing(monkeypatch):
    """where no test looks at a function, nothing passes"""
    monkeypatch.setitem(
        exercises(), "who_writes", replaced("who_writes", tests="tests/learner.py")
    )
    assert "no test in" in kept.keep("who_writes", [RIGHT])
    assert not kept.path_of("who_writes").exists()


def replaced(slug, **fields):
    from dataclasses import replace

    return replace(find(slug), **fields)


def test_check_keeps_what_passes(capsys):
    """after a check that passed, the next run has the learner's function"""
    exec(compile_cell(RIGHT), namespace := {})
    check(namespace["who_writes"])
    assert yours("who_writes").whose == "yours"
    parts = your_parts("who_writes")
    assert parts["who_writes"]("Thought") == "model"
    assert parts.line() == "parts in this run · yours: who_writes"


def test_a_later_failure_says_what_the_agent_keeps(capsys):
    """a wrong answer after a right one says which of them your agent has"""
    wrong = "def who_writes(label):\n    return 'model'\n"
    exec(compile_cell(wrong), namespace := {})
    check(namespace["who_writes"])
    assert "Your agent keeps" not in capsys.readouterr().out
    solve("who_writes")
    check(namespace["who_writes"])
    assert "Your agent keeps the one that passed" in capsys.readouterr().out


def compile_cell(text, name="<a cell of the test>"):
    import linecache

    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return compile(text, name, "exec")


def test_solving_again_replaces_failing_later_does_not():
    """a later right answer replaces the part, a later wrong one leaves it"""
    solve("who_writes")
    part = yours("who_writes")
    assert kept.keep("who_writes", [RIGHT]) == ""
    assert '"runtime" if label' in kept.path_of("who_writes").read_text("utf-8")
    assert part("Thought") == "model"
    kept.keep("who_writes", [RAISES.format(slug="who_writes")])
    assert yours("who_writes").whose == "yours"


def test_a_part_that_breaks_gives_way_to_ours(capsys):
    """a part that breaks says in which line, and ours answers from there on"""
    spoil("who_writes")
    part = yours("who_writes")
    assert part("Thought") == "model"
    said = capsys.readouterr().err
    assert "your who_writes broke in line 3 of who_writes.py" in said
    assert "not today" in said
    assert (part.whose, yours("who_writes").whose) == ("ours", "ours")


def test_in_a_run_a_part_that_breaks_ends_it_and_the_next_has_ours():
    """in a run a broken part is an error that names it; the next run has ours"""
    spoil("who_writes")
    parts = your_parts("who_writes")
    with pytest.raises(PartBroken, match="your who_writes broke in line 3"):
        parts["who_writes"]("Thought")
    assert "broke in line 3" in parts.line()
    assert your_parts("who_writes")["who_writes"]("Thought") == "model"


def test_a_part_that_hangs_is_given_up(monkeypatch):
    """a part that never comes back breaks, too"""
    monkeypatch.setattr("workbook.exercises.your_agent.CALL_LIMIT_S", 0.2)
    spoil("who_writes", "def {slug}(label):\n    while True:\n        pass\n")
    with pytest.raises(PartBroken, match="not finished"):
        your_parts("who_writes")["who_writes"]("Thought")


@pytest.mark.parametrize("value", ["None", "'Action'", "7"])
def test_a_part_that_returns_another_kind_breaks(value):
    """a part that returns what its type does not allow is named, with what it owes"""
    spoil("parse_turn", "def {slug}(text):\n    return " + value)
    with pytest.raises(PartBroken, match=r"your parse_turn returned .*; it owes"):
        your_parts("parse_turn")["parse_turn"]("Thought: x")


def test_an_error_that_the_card_allows_is_no_breakage():
    """what a card allows a function to raise goes through"""
    from workbook.tools.calculator import CalculatorError

    solve("safe_eval")
    part = yours("safe_eval")
    with pytest.raises(CalculatorError):
        part("open('x')")
    assert part.whose == "yours"


@pytest.mark.parametrize("text", ["", "def who_writes(lab", "who_writes = 3", "\0"])
def test_a_file_that_is_half_there_is_stale(text):
    """a damaged file is not used, and does no harm"""
    solve("who_writes")
    kept.path_of("who_writes").write_text(text, encoding="utf-8")
    part = yours("who_writes")
    assert (part.whose, part("Thought")) == ("ours", "model")
    assert "who_writes" in repr(your_agent())


def test_after_a_change_of_its_tests_a_part_is_checked_again(monkeypatch, tmp_path):
    """a part whose tests have changed has to pass once more, else it is stale"""
    solve("who_writes")
    tests = tmp_path / "test_other.py"
    tests.write_text(
        'def test_it(who_writes):\n    """a new rule"""\n'
        '    assert who_writes("Thought") == "me"\n',
        encoding="utf-8",
    )
    monkeypatch.setitem(
        exercises(), "who_writes", replaced("who_writes", tests=str(tests))
    )
    assert yours("who_writes").whose == "ours"
    assert "a new rule" in repr(yours("who_writes"))
    tests.write_text(tests.read_text("utf-8").replace('"me"', '"model"'), "utf-8")
    assert yours("who_writes").whose == "yours"


def test_a_part_calls_another_by_its_name():
    """a function that calls another exercise's gets that part, whosever it is"""
    caller = (
        "def parse_turn(text):\n"
        "    from workbook.loop import turns\n"
        "    assert who_writes('Thought') == 'model'\n"
        "    return turns.parse_turn(text)\n"
    )
    other = "from workbook.loop.turns import who_writes"
    assert kept.keep("parse_turn", [other, caller]) == ""
    assert 'who_writes = part("who_writes")' in kept.path_of("parse_turn").read_text()
    spoil("who_writes")
    assert yours("parse_turn")("") == parse_turn("")


def test_reset_asks_before_it_takes_code_away(monkeypatch):
    """reset asks, names the file, and sets code aside instead of deleting it"""
    solve("who_writes")
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "n")
    reset("who_writes")
    assert "who_writes.py" in asked[0]
    assert yours("who_writes").whose == "yours"
    monkeypatch.setattr("builtins.input", lambda text: "y")
    reset("who_writes")
    assert yours("who_writes").whose == "ours"
    assert (kept.folder() / "removed" / "who_writes.py").exists()


def test_two_processes_keep_parts_at_once():
    """two kernels that keep parts at the same time leave whole files"""
    script = (
        "from tests.learner import solve\nfor n in range(5):\n    solve('who_writes')\n"
    )
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen(command, env=os.environ) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert yours("who_writes").whose == "yours"


def test_your_agent_lights_what_is_yours():
    """the diagram has every part once, the learner's lit"""
    solve("who_writes")
    drawn = your_agent().mermaid()
    assert '★ who_writes"]:::yours' in drawn
    for slug in exercises():
        assert drawn.count(f" {slug}[") == 1, slug


def test_what_a_value_has_to_be():
    """types are told apart from the outside, unions and optional ones too"""
    assert fits(Action("", "a", "b"), Action | Malformed)
    assert not fits("Action", Action | Malformed)
    assert fits(3, float)
    assert not fits("3", float)
    assert fits([1], list[str])
    assert not fits((1,), list[str])


def test_a_part_looks_like_the_function():
    """hint and solution take a part like any function"""
    import inspect

    assert inspect.unwrap(yours("who_writes")) is who_writes
    assert cells_with_answer("who_writes")


def test_with_all_parts_lit_progress_writes_a_page(capsys):
    """with every part the learner's own, progress writes a page with figures"""
    assert main(["progress"]) == 0
    assert "What you built" not in capsys.readouterr().out
    solve()
    assert main(["progress"]) == 0
    assert "What you built: " in capsys.readouterr().out
    page = (kept.folder() / "what_you_built.md").read_text("utf-8")
    assert "| `who_writes` | who writes which line | 00 | 3 of 3 |" in page
    assert page.count("| `") == len(exercises())


def test_a_page_without_mermaid_shows_every_part():
    """the picture for saved pages names each part, under each role"""
    picture = your_agent()._repr_mimebundle_()["image/svg+xml"]
    words = [*exercises(), *ROLES]
    assert [word for word in words if f"{word}</tspan>" not in picture] == []
    ElementTree.fromstring(picture)
