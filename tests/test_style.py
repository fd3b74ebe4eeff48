"""The house is kept: the lock, stripped notebooks, nothing at the top but the map.

Formatting, lint, types and layers are commands of their own: see `.ci/run`.
"""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import test_house as house
from workbook.checks.answer import to_python
from workbook.checks.handed_in import read_cells

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
ALLOWED = {
    "README.md", "LICENSE", "data", "notebooks", "pyproject.toml", "requirements.txt",
    "tests", "workbook",
}  # fmt: skip


def test_notebooks_are_stripped():
    """nbstripout finds nothing to take out of a lesson."""
    notebooks = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    run = subprocess.run(
        [BIN / "nbstripout", "--verify", *notebooks], capture_output=True, text=True
    )
    told = "run `nbstripout` on these notebooks:\n"
    assert run.returncode == 0, told + run.stdout + run.stderr


LEARNER, TESTS = ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STARTED = {"pip", "mcp-server-time", "jupyterlab", "ruff", "mypy", "nbstripout", "uv"}
STARTED |= {"import-linter", "pytest-socket", "pytest-xdist"}
"""What is declared because it is run as a command, or by pytest or mypy."""


def locked(*locks):
    """Return the versions of the locks by name."""
    pinned = {}
    for line in chain.from_iterable(lock.read_text().splitlines() for lock in locks):
        if match := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            pinned.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return pinned


def declared():
    """Yield what pyproject.toml asks for, each with the locks that must hold it."""
    for text in PROJECT["dependencies"]:
        yield pytest.param(Requirement(text), [LEARNER], id=text)
    for text in PROJECT["optional-dependencies"]["test"]:
        yield pytest.param(Requirement(text), [LEARNER, TESTS], id=f"test: {text}")


@pytest.mark.parametrize(("requirement", "locks"), list(declared()))
def test_the_lock_holds_what_is_declared(requirement, locks):
    """Every dependency is in the lock, in a version that its range allows."""
    versions = locked(*locks).get(canonicalize_name(requirement.name), set())
    assert versions
    assert all(requirement.specifier.contains(version) for version in versions)


def test_a_learner_installs_no_tool_of_the_tests():
    """The tools of the tests are in the second lock alone, and no pin is in both."""
    mine, theirs = locked(LEARNER).keys(), locked(TESTS).keys()
    assert not mine & theirs
    assert {"playwright", "mypy", "ruff", "uv", "distributed"} <= theirs


def imported(codes):
    """Return the names of the packages of others that codes import."""
    names = chain.from_iterable(map(house.imported, map(ast.parse, codes)))
    tops = {name.partition(".")[0] for name in names}
    return tops - set(sys.stdlib_module_names) - {"workbook", "_pytest"}


def packages_of(modules):
    """Return which installed packages have a module of these names."""
    homes = metadata.packages_distributions()
    return {m: {canonicalize_name(name) for name in homes.get(m, [])} for m in modules}


def names(requirements):
    """Return the names that requirements ask for."""
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def test_each_import_is_declared_and_each_declared_package_imported():
    """What the package and the notebooks import is what a learner installs, no less.

    Tests may import more: what the extra `test` names. What is declared is imported
    somewhere, or run.
    """
    notebooks = (ROOT / "notebooks").rglob("*.ipynb")
    lessons = [to_python(cell.source) for p in notebooks for cell in read_cells(p)]
    package = [path.read_text() for path in (ROOT / "workbook").rglob("*.py")]
    tests = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
    own = names(PROJECT["dependencies"])
    extra = names(PROJECT["optional-dependencies"]["test"])
    optional = names(PROJECT["optional-dependencies"]["cluster"])
    theirs = packages_of(imported([*lessons, *package]))
    assert {m for m, homes in theirs.items() if not homes & (own | optional)} == set()
    beside = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {"tests"}
    of_tests = packages_of(imported(tests) - beside)
    assert {m for m, homes in of_tests.items() if not homes & (own | extra)} == set()
    used = set().union(*theirs.values(), *of_tests.values())
    assert (own | extra) - used - STARTED == set()


def test_the_lock_begins_with_the_workbook_itself():
    """`-e .` comes first, so that every notebook can import the workbook."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "-e ."


def tracked():
    """Return the paths of all files that belong to the repository."""
    command = ["git", "ls-files"]
    return subprocess.check_output(command, cwd=ROOT, text=True).splitlines()


def test_nothing_else_stands_at_the_top_level():
    """The layout is the map: what is tracked at the top is what the README names."""
    tops = {path.split("/")[0] for path in tracked()}
    assert {top for top in tops if not top.startswith(".")} == ALLOWED


def test_the_workbook_speaks_of_itself_alone():
    """No path of somebody's machine stands in a file."""
    here = re.compile(r"/(?:root|work|home/\w+)/|/tmp/(?:plan|nb|v)/")
    kinds = {".py", ".md", ".toml", ".ipynb", ".json", ".jsonl", ".txt"}
    texts = [ROOT / name for name in tracked() if "test_style" not in name]
    found = [
        p for p in texts if p.suffix in kinds and here.search(p.read_text("utf-8"))
    ]
    assert found == []


def test_only_one_character_is_possessive():
    """Python matches `(…)*+` wrongly before 3.11.5, and Debian 12 has 3.11.2."""
    shown = [ROOT / name for name in tracked() if name.startswith(("workbook", "data"))]
    read = {p: p.read_text("utf-8") for p in shown if p.suffix in {".py", ".toml"}}
    of_a_group = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
    assert [p.name for p, text in read.items() if of_a_group.search(text)] == []
