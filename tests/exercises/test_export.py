"""The agent as a package that runs without the course."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.endpoint import endpoint
from tests.learner import RAISES, solve, spoil
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.export import export, packed
from workbook.exercises.your_agent import path_of, write
from workbook.paths import ROOT
from workbook.runtime.model import ToolRequest

pytestmark = pytest.mark.usefixtures("own_data", "one_worker")

COUNTED = """
from {module} import {slug} as ours


def {slug}(*args, **kwargs):
    with open({log!r}, "a") as file:
        file.write("{slug}\\n")
    return ours(*args, **kwargs)
"""
INSTALLED_AS = {"jsonschema_rs": "jsonschema-rs"}


@pytest.fixture
def mine(tmp_path):
    """An exported agent without a part of one's own."""
    export(tmp_path / "mine")
    return tmp_path / "mine"


def ran(folder, *arguments, url="", typed=""):
    """Return the process of a command in an exported agent."""
    known = {"PATH": os.environ["PATH"], "OPENAI_BASE_URL": url}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=known,
        input=typed,
        capture_output=True,
        text=True,
    )


def test_nothing_of_the_course_is_left_in_it(mine):
    """no file names the package but for its credit, and each module can be read"""
    for path in filter(Path.is_file, mine.rglob("*")):
        if path.name not in ("README.md", "LICENSE"):
            assert "workbook" not in path.read_text(), path
            assert "python -m runtime" not in path.read_text(), path
    assert (mine / "README.md").read_text().count("workbook") == 3
    text = "".join(path.read_text() for path in (mine / "runtime").rglob("*.py"))
    assert not re.search(r"lesson \d|the course|WORKBOOK", text)


def test_its_imports_are_the_standard_librarys_its_own_or_declared(mine):
    """what the runtime imports as it starts is among the dependencies"""
    project = tomllib.loads((mine / "pyproject.toml").read_text())["project"]
    declared = {re.split("[<>=]", name)[0] for name in project["dependencies"]}
    own = {path.stem for path in mine.iterdir()}
    for path in mine.rglob("*.py"):
        if not {"tests", "servers"} & {*path.relative_to(mine).parts}:
            body = ast.parse(path.read_text()).body
            names = {a.name for n in body if isinstance(n, ast.Import) for a in n.names}
            from_others = [
                n for n in body if isinstance(n, ast.ImportFrom) and not n.level
            ]
            names |= {n.module for n in from_others}
            tops = {name.partition(".")[0] for name in names}
            tops = {INSTALLED_AS.get(top, top) for top in tops}
            assert tops <= declared | own | sys.stdlib_module_names, path


def test_the_runtime_is_copied_whole(mine):
    """it is the package's own, whole: nothing is computed, nothing left out"""
    copied = {path.name for path in (mine / "runtime").iterdir()}
    assert copied == {path.name for path in (ROOT / "workbook/runtime").glob("*.py")}


@pytest.mark.in_ci
def test_all_its_tests_pass_with_all_parts_of_ones_own(tmp_path):
    """the tests of the parts and of the whole pass in the exported folder"""
    solve()
    assert "Ours: none." in export(tmp_path / "mine")
    done = ran(tmp_path / "mine", "-m", "pytest", "-q", "--no-header", "-p", "no:xdist")
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_part_that_is_exported_runs(tmp_path):
    """a few questions call every part of one's own"""
    log, mine = tmp_path / "log", tmp_path / "mine"
    for exercise in exercises().values():
        module, _, slug = exercise.target.partition(":")
        write(exercise, COUNTED.format(module=module, slug=slug, log=str(log)))
    files, _ = packed()
    exported = {Path(name).stem for name in files if name.startswith("parts/")}
    export(mine)
    config = mine / "config.toml"
    config.write_text(config.read_text().replace("32_000", "700"))
    note = ToolRequest("add_note", {"text": "long " * 300})
    sums = [ToolRequest("calculator", {"expression": "1 + 1"}, f"{n}") for n in "ab"]
    turns = [sums, note, *[ToolRequest("calculator", {"sum": "2"})] * 3, "2"]
    with endpoint(*turns) as told:
        ask = ["agent.py", "--model", "fake", "--trace", "run.jsonl", "1 + 1?"]
        done = ran(mine, *ask, url=told.url, typed="yes\n")
    assert done.returncode == 0, done.stderr
    assert ran(mine, "agent.py", "--replay", "run.jsonl").returncode == 0
    config.write_text('[model]\ncalls = "text"\n')
    with endpoint("Final Answer: 2") as told:
        done = ran(mine, "agent.py", "--model", "fake", "1 + 1?", url=told.url)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert exported - {*log.read_text().split()} == {"__init__"}


def test_what_does_not_pass_or_cannot_leave_is_left_out(tmp_path):
    """a part that fails by now is named, and so is one that imports the course"""
    solve("parse_turn", "decide", "advance")
    path_of("decide").write_text("def decide(*given):\n    return None\n")
    spoil("advance", "from workbook.playground import player\n\n" + RAISES)
    (tmp_path / "none").mkdir()
    said = export(tmp_path / "none")
    assert "Yours: parse_turn." in said
    assert "they no longer pass: decide" in said
    assert "advance (it imports workbook." in said
    assert not (tmp_path / "none" / "parts" / "advance.py").exists()


def test_a_folder_that_holds_something_is_left_alone(mine, tmp_path):
    """a full folder, a file, a second export, and a folder that is no agent"""
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("mine")
    for target, update, word in [
        (full, False, "no empty folder"),
        (full / "thesis.txt", False, "no empty folder"),
        (mine, False, "--update"),
        (full, True, "no exported agent"),
    ]:
        with pytest.raises(CourseError, match=word):
            export(target, update)
    assert [path.name for path in full.iterdir()] == ["thesis.txt"]


def test_an_update_renews_what_is_ours_and_leaves_what_is_the_users(mine):
    """after an edit of each file: what was done is said, and no edit is lost"""
    names = [p.relative_to(mine).as_posix() for p in mine.rglob("*") if p.is_file()]
    names.remove(".exported.json")
    for name in names:
        (mine / name).write_text(f"# mine\n{(mine / name).read_text()}")
    (mine / "parts" / "own.py").write_text("def own():\n    return 1\n")
    solve("parse_turn")
    said = export(mine, update=True)
    assert "new: parts/parse_turn.py" in said
    for name in names:
        renewed = name.startswith(("parts/", "runtime/", "data/", "servers/"))
        assert ("# mine" in (mine / name).read_text()) != renewed, name
        if renewed:
            assert "# mine" in (mine / f"{name}.yours").read_text()
    assert (mine / "parts" / "own.py").exists()
    assert "new:" not in export(mine, update=True)


def test_an_update_brings_new_templates_where_they_are_as_exported(mine, monkeypatch):
    """an untouched file is renewed, and one that no agent needs any more goes"""

    def newer():
        files, said = real()
        files["tools.py"] += "# newer\n"
        del files["workspace.py"], files["LICENSE"]
        return files, said

    real = packed
    (mine / "LICENSE").write_text("mine")
    monkeypatch.setattr("workbook.exercises.export.packed", newer)
    said = export(mine, update=True)
    assert "# newer" in (mine / "tools.py").read_text()
    assert "renewed: tools.py" in said
    assert "taken away: workspace.py" in said
    assert not (mine / "workspace.py").exists()
    assert (mine / "LICENSE").read_text() == "mine"
