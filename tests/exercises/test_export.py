"""The agent as a package of its own, run from outside, as a process."""

import os
import subprocess
import sys
import sysconfig
import venv

import pytest

from tests.learner import solve, spoil
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.export import export
from workbook.exercises.kept import path_of
from workbook.paths import ROOT

pytestmark = pytest.mark.usefixtures("own_data")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A fresh virtual environment that has what the workbook needs, and its Python."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    linked = home / "lib" / version / "site-packages" / "workbook.pth"
    linked.write_text(f"{sysconfig.get_paths()['purelib']}\n{ROOT}\n", encoding="utf-8")
    return home / "bin" / "python"


def leave(python, folder, *arguments):
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH",)}
    return subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=clean | {"WORKBOOK_DATA": str(folder / "nobody")},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_agent_answers_and_its_tests_pass(python, tmp_path):
    """an exported agent says who answers, is right, and its own tests pass"""
    solve()
    said = export(tmp_path / "mine")
    assert "Ours: none." in said
    run = leave(python, tmp_path / "mine", "agent.py")
    assert (run.stdout, run.returncode) == ("88\n", 0), run.stderr
    assert run.stderr.startswith("model: scripted: a script")
    assert "\nparts in this run · yours: " in run.stderr
    assert "; ours" not in run.stderr
    run = leave(python, tmp_path / "mine", "-m", "pytest", "-q")
    assert f"{len(exercises()) + 3} passed" in run.stdout, run.stdout


def test_the_agent_looks_back_at_its_runs(python, tmp_path):
    """a run that is kept is gone on with where it died, and else played again"""
    solve("replay", "state_times", "success_rate", "classify_error")
    export(tmp_path / "mine")
    command, kept = ("agent.py", "--trace", "run.jsonl"), tmp_path / "mine/run.jsonl"
    first = leave(python, tmp_path / "mine", *command)
    whole = kept.read_bytes().splitlines(keepends=True)
    again = leave(python, tmp_path / "mine", *command)
    assert (first.stdout, again.stdout) == ("88\n", "88\n"), again.stderr
    assert "THINK: 3 stays" in again.stderr
    assert "Rate(ok=2, calls=2, retries=0)" in again.stderr
    assert "yours: replay, state_times, success_rate" in again.stderr
    kept.write_bytes(b"".join(whole[:9]))
    died = leave(python, tmp_path / "mine", *command)
    assert died.stdout == "88\n", died.stderr
    assert len(kept.read_bytes().splitlines()) >= len(whole)
    kept.write_bytes(b"\x00")
    run = leave(python, tmp_path / "mine", *command)
    assert run.returncode == 1
    assert "Traceback" not in run.stderr


def test_the_agent_answers_from_pages_of_which_one_is_hostile(python, tmp_path):
    """three answers with sources; what a page asked for is neither paid nor told"""
    slugs = ["normalize_for_screening", "screen", "fence_untrusted", "may_flow"]
    solve(*slugs)
    export(tmp_path / "mine")
    run = leave(python, tmp_path / "mine", "agent.py", "--pages")
    assert run.returncode == 0, run.stderr
    said = "answered 3 of 3 with sources, paid nothing, leaked nothing"
    assert run.stdout.splitlines()[-1] == said, run.stdout + run.stderr
    assert f"yours: {', '.join(slugs)}" in run.stderr


def test_a_part_that_lets_everything_through_is_seen_in_the_traces(python, tmp_path):
    """with a may_flow that allows all, the agent says what was leaked"""
    solve("may_flow")
    export(tmp_path / "mine")
    part = tmp_path / "mine" / "your_agent" / "may_flow.py"
    allows = "    return Decision(Verdict.ALLOW, 'why not')\n"
    head = "from workbook.guardrails.policy import Decision, Verdict\n\n"
    text = f"{head}def may_flow(labels, sink, rules=()) -> Decision:\n{allows}"
    part.write_text(text, encoding="utf-8")
    run = leave(python, tmp_path / "mine", "agent.py", "--pages")
    assert run.returncode == 0, run.stderr
    assert "leaked nothing" not in run.stdout.splitlines()[-1]


def test_the_capstone_is_on_board(python, tmp_path):
    """tool, guard and scenario are in the package, and its other runs have them, too"""
    solve("my_agent")
    export(tmp_path / "mine")
    run = leave(python, tmp_path / "mine", "agent.py", "--capstone")
    ends = ["without the guard: DONE, 300 dollars", "with the guard: DONE, 270 dollars"]
    assert run.stdout.splitlines() == ends, run.stderr
    run = leave(python, tmp_path / "mine", "agent.py", "--trace", "run.jsonl")
    assert run.stdout == "88\n", run.stderr
    assert '"Convert"' in (tmp_path / "mine/run.jsonl").read_text("utf-8")
    assert "yours: my_agent" in run.stderr


def test_with_one_part_the_rest_is_ours(python, tmp_path):
    """an agent of one part runs, and says what is not the learner's"""
    solve("parse_turn")
    export(tmp_path / "mine")
    run = leave(python, tmp_path / "mine", "agent.py")
    assert run.stdout == "88\n", run.stderr
    assert "yours: parse_turn; ours:" in run.stderr


@pytest.mark.parametrize(
    "text", ["def parse_turn(text):\n    return text[99]\n", "def parse_turn(text:\n"]
)
def test_a_broken_part_is_named_with_its_line(python, tmp_path, text):
    """of a part that breaks, the message has the name and the line"""
    solve("parse_turn", "advance")
    export(tmp_path / "mine")
    part = tmp_path / "mine" / "your_agent" / "parse_turn.py"
    part.write_text(text, encoding="utf-8")
    run = leave(python, tmp_path / "mine", "agent.py")
    line = text.count("\n")
    said = run.stdout + run.stderr
    assert run.returncode == 1
    assert f"your parse_turn broke in line {line} of parse_turn.py" in said
    assert "Traceback" not in said


def test_a_part_that_never_ends_is_named_with_its_line(python, tmp_path):
    """of a part that never ends, the file and the line are said, and the agent stops"""
    solve("drive")
    export(tmp_path / "mine")
    part = tmp_path / "mine" / "your_agent" / "drive.py"
    endless = "def drive(table, handlers, context, emit):\n    while table: 0\n"
    part.write_text(endless, encoding="utf-8")
    run = leave(python, tmp_path / "mine", "agent.py")
    assert run.returncode == 1
    assert 'drive.py", line 2 in drive' in run.stderr


@pytest.mark.parametrize("slug", exercises())
def test_a_function_that_raises_is_not_exported(slug, tmp_path):
    """a part that raises by now is left out, and the message names it"""
    other = next(name for name in exercises() if name != slug)
    solve(other, slug)
    path_of(slug).write_text(f"def {slug}(*a, **k):\n    raise ValueError\n", "utf-8")
    said = export(tmp_path / "mine")
    assert not (tmp_path / "mine" / "your_agent" / f"{slug}.py").exists()
    assert f"Left out, since they do not pass any more: {slug}." in said


def test_a_gate_without_a_test_exports_nothing(monkeypatch, tmp_path):
    """where no test looks at a part any more, it is not exported"""
    from dataclasses import replace

    solve("who_writes")
    without = replace(exercises()["who_writes"], tests="tests/learner.py")
    monkeypatch.setitem(exercises(), "who_writes", without)
    with pytest.raises(CourseError, match="No part"):
        export(tmp_path / "mine")


def test_a_folder_that_holds_something_is_refused(tmp_path):
    """export writes into a new or empty folder, and into no other"""
    solve("who_writes")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine", "utf-8")
    (tmp_path / "file").write_text("mine", "utf-8")
    for name, word in (("full", "not empty"), ("file", "no folder")):
        with pytest.raises(CourseError, match=word):
            export(tmp_path / name)
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.txt"]
    (tmp_path / "empty").mkdir()
    export(tmp_path / "empty")
    assert (tmp_path / "empty" / "agent.py").exists()


def test_nothing_of_ones_own_is_nothing_to_export(tmp_path):
    """without a part of the learner's there is nothing to export"""
    with pytest.raises(CourseError, match="No part of the agent is yours"):
        export(tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_a_part_that_broke_in_this_process_is_not_exported(tmp_path):
    """what broke in a run is not exported as if it were well"""
    solve("parse_turn")
    spoil("who_writes")
    export(tmp_path / "mine")
    assert (tmp_path / "mine" / "your_agent" / "parse_turn.py").exists()
