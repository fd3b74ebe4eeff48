"""The agent as a package that runs without the course."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zlib

import pytest

from tests.learner import answer_to, solve
from workbook.checks.catalogue import CourseError
from workbook.checks.export import export
from workbook.checks.parts import keep
from workbook.paths import ROOT
from workbook.runtime.model import ToolRequest
from workbook.worlds.endpoint import endpoint

pytestmark = pytest.mark.usefixtures("own_data")


COPIES = re.compile(r"my_agent/(runtime|guards)/")


@pytest.fixture
def mine(tmp_path):
    """An exported agent without a part of one's own."""
    export(tmp_path / "mine")
    return tmp_path / "mine"


def files_in(folder):
    """Return the texts of all files by name, but for the marker."""
    paths = (p for p in folder.rglob("*") if p.is_file() and p.name != ".exported")
    return {p.relative_to(folder).as_posix(): p.read_text() for p in paths}


def adding(slug, line, top="", module="workbook.runtime.table"):
    """Return our answer to an exercise with one line more, and what that needs."""
    head = f"{top}\nfrom {module} import {slug} as ours\n\n\n"
    body = f"    {line}\n    return ours(*args, **kwargs)\n"
    return f"{head}def {slug}(*args, **kwargs):\n{body}"


def ran(folder, *arguments, url="", typed="", **more):
    """Return the process of a command in an exported agent."""
    known = {"PATH": os.environ["PATH"], "OPENAI_BASE_URL": url, **more}
    command, how = [sys.executable, *arguments], {"capture_output": True, "text": True}
    return subprocess.run(command, cwd=folder, env=known, input=typed, **how)


def test_it_is_the_runtime_and_nothing_of_the_course(mine):
    """the runtime is in it, whole; no file names the course but to credit it"""
    room = {path.name: path for path in (ROOT / "workbook/runtime").glob("*.py")}
    copied = {path.name: path for path in (mine / "my_agent/runtime").glob("*.py")}
    assert copied.keys() == room.keys()
    same = {name for name in room if room[name].read_text() == copied[name].read_text()}
    assert room.keys() - same == {"__init__.py"}
    texts = {n: text for n, text in files_in(mine).items() if not COPIES.search(n)}
    named = {name for name in texts if "workbook" in texts[name].lower()}
    assert named == {"README.md", "LICENSE"}
    assert "$" not in texts["README.md"]
    assert not re.search(r"lesson \d|the course", "".join(texts.values()))


def test_its_imports_are_the_standard_librarys_its_own_or_declared(mine):
    """what the agent imports as it starts is among its dependencies"""
    project = tomllib.loads((mine / "pyproject.toml").read_text())["project"]
    known = {re.split("[<>=]", name)[0] for name in project["dependencies"]}
    known |= {"my_agent"} | sys.stdlib_module_names
    for name, text in files_in(mine).items():
        if name.endswith(".py") and not name.startswith(
            ("tests/", "my_agent/guards/stra")
        ):
            tops = re.findall(r"^(?:from (?=\S+ import)|import )(\w+)", text, re.M)
            assert {top.replace("_rs", "-rs") for top in tops} <= known, name


@pytest.mark.in_ci
def test_all_its_tests_pass_with_all_parts_of_ones_own(tmp_path):
    """the tests of the parts and of the whole pass in the exported folder"""
    solve()
    assert "Ours: none." in export(tmp_path / "mine")
    done = ran(tmp_path / "mine", "-m", "pytest", "-q", "--no-header", "-p", "no:xdist")
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_part_that_may_be_exported_runs(mine, tmp_path):
    """a few questions call every function that a part may replace"""
    log = tmp_path / "log"
    ask = ["-m", "my_agent", "--model", "fake", "1 + 1?", "--trace", "run.jsonl"]
    parts = (mine / "my_agent/parts/__init__.py").read_text()
    homes = re.findall(r"(\w+)=(runtime\.\w+)", parts)
    for slug, module in homes:
        line = f"open({str(log)!r}, 'a').write('{slug} ')"
        text = adding(slug, line, module=f"my_agent.{module}")
        (mine / f"my_agent/parts/{slug}.py").write_text(text)
    config = mine / "my_agent/config.toml"
    config.write_text(config.read_text().replace("100_000", "700"))
    note = ToolRequest("add_note", {"text": "long " * 300})
    sums = [ToolRequest("calculator", {"expression": "1 + 1"}, f"{n}") for n in "ab"]
    turns = [sums, note, *[ToolRequest("calculator", {"sum": "2"})] * 3, "2"]
    with endpoint(*turns) as server:
        done = ran(mine, *ask, url=server.url, typed="yes\n", HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert ran(mine, "-m", "my_agent", "--replay", "run.jsonl").returncode == 0
    config.write_text('[model]\ncalls = "text"\n')
    with endpoint("Final Answer: 2") as server:
        done = ran(mine, *ask[:-2], url=server.url)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert {*log.read_text().split()} == {slug for slug, _ in homes}


def test_what_does_not_pass_or_needs_the_course_is_left_out(tmp_path):
    """each part that is left out is named with the reason; others do without it"""
    solve("parse_turn")
    keep("decide", "def decide(*given):\n    return None\n")
    course = "from workbook.stage import play"
    keep("advance", adding("advance", "assert play", course))
    for slug, other in ("audit", "advance"), ("agent_table", "vote"):
        part = f'from workbook.checks.parts import part\n{other} = part("{other}")'
        keep(slug, adding(slug, f"assert {other}", part))
    report = export(tmp_path / "mine")
    assert "Yours: parse_turn, audit." in report
    assert "decide, as it no longer passes" in report
    assert "advance, as it needs workbook.stage" in report
    assert "agent_table, as it needs vote" in report
    audit = (tmp_path / "mine/my_agent/parts/audit.py").read_text()
    assert "from my_agent.runtime.table import advance\n" in audit


CASES = {"full": "no empty", "mine": "--update", "mine/LICENSE/x": "cannot be written"}


@pytest.mark.parametrize("name", CASES)
def test_a_folder_that_holds_something_is_left_alone(mine, name):
    """a full folder, an exported agent, what is no folder; none is half written"""
    full = mine.with_name("full")
    full.mkdir()
    (full / "thesis.txt").write_text("mine")
    before = files_in(mine.parent)
    with pytest.raises(CourseError, match=CASES[name]):
        export(mine.parent / name)
    with pytest.raises(CourseError, match="no exported agent"):
        export(full, update=True)
    assert files_in(mine.parent) == before


def test_an_update_loses_no_file_of_the_users(mine):
    """what was edited is kept beside today's file, or today's beside it; it is named"""
    texts = files_in(mine)
    names = "_own", "my_guard", "decide"
    own = [mine / f"my_agent/parts/{name}.py" for name in names]
    for path in own:
        path.write_text("def own():\n    return 1\n")
    for edit, last in ("# one\n", ".yours"), ("# two\n", ".yours.yours"):
        for name, text in texts.items():
            (mine / name).write_text(edit + text)
        report = export(mine, update=True)
        for name, text in texts.items():
            inner = name.removeprefix("my_agent/")
            renewed = inner.startswith(("parts/", "runtime/", "guards/"))
            beside = f"{name}{last if renewed else '.new'}"
            there, other = (mine / name).read_text(), (mine / beside).read_text()
            assert (there, other)[:: 1 if renewed else -1] == (text, edit + text)
            assert beside in report
    assert {path.read_text() for path in own} == {"def own():\n    return 1\n"}


def test_an_update_renews_what_nobody_edited_and_says_so(mine):
    """today's file is there, and named; an edited command says that it is an old one"""
    marker = mine / ".exported"
    for name, edit in ("my_agent/models.py", "# old\n"), ("my_agent/cli.py", "# old\n"):
        old = edit + (mine / name).read_text()
        (mine / name).write_text(old)
        sums = json.loads(marker.read_text()) | {name: zlib.crc32(old.encode())}
        marker.write_text(json.dumps(sums))
    report = export(mine, update=True)
    assert "my_agent/models.py: renewed" in report
    assert "my_agent/cli.py: renewed" in report
    assert not [name for name in files_in(mine) if name.endswith(".new")]


def test_an_update_brings_the_parts_of_today(mine):
    """a new part comes, one that no longer passes goes, and README.md names them"""
    for text, whose in [(answer_to("decide"), "decide"), ("def decide(): ...", "none")]:
        keep("decide", text)
        assert f"Yours: {whose}." in export(mine, update=True)
        assert f"Yours: {whose}." in (mine / "README.md").read_text()
        assert (mine / "my_agent/parts/decide.py").exists() == (whose == "decide")
    assert not (mine / "my_agent/parts/decide.py.yours").exists()
    assert not [name for name in files_in(mine) if name.endswith(".new")]
