"""The house is kept: the lock, stripped notebooks, nothing at the top but the map.

Formatting, lint, types and layers are commands of their own: see `.ci/run`.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    assert run.returncode == 0, run.stdout + run.stderr


def locked():
    """Return the versions of the lock by name."""
    pinned = {}
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            pinned.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return pinned


def declared():
    """Return what pyproject.toml asks for, the tests' needs with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [
        Requirement(text)
        for text in project["dependencies"] + project["optional-dependencies"]["test"]
    ]


@pytest.mark.parametrize("requirement", declared(), ids=lambda r: r.name)
def test_the_lock_holds_what_is_declared(requirement):
    """Every dependency is in the lock, in a version that its range allows."""
    versions = locked().get(canonicalize_name(requirement.name), set())
    assert versions
    assert all(requirement.specifier.contains(version) for version in versions)


def test_the_lock_begins_with_the_workbook_itself():
    """`-e .` comes first, so that every notebook can import the workbook."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "-e ."


def test_nothing_else_stands_at_the_top_level():
    """The layout is the map: what is tracked at the top is what the README names."""
    run = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tops = {path.split("/")[0] for path in run.stdout.splitlines()}
    assert {top for top in tops if not top.startswith(".")} == ALLOWED


def test_the_workbook_speaks_of_itself_alone():
    """No path of somebody's machine stands in a file."""
    run = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    here = re.compile(r"/(?:root|work|home/\w+)/|/tmp/(?:plan|nb|v)/")
    texts = [
        ROOT / name for name in run.stdout.splitlines() if "test_style" not in name
    ]
    found = [
        path.name
        for path in texts
        if path.suffix in {".py", ".md", ".toml", ".ipynb", ".json", ".jsonl", ".txt"}
        and here.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
