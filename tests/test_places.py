"""Files for other people's machines: they can be read, and do what the README says."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from traitlets.config import Config

from workbook.__main__ import COMMANDS
from workbook.checks.catalogue import lessons
from workbook.runtime.local import SHARED

ROOT = Path(__file__).resolve().parents[1]
BINDER, DEV = ROOT / ".binder", ROOT / ".devcontainer" / "devcontainer.json"
HUB = ROOT / "data/pages/classroom" / "jupyterhub_config.py"
WORKFLOW = ROOT / ".github" / "workflows" / "tests.yml"
UNTRIED = (BINDER / "requirements.txt", BINDER / "postBuild", DEV, WORKFLOW)


def readme_commands():
    """Return the README's two commands, each as its parts."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [found.split(" && ") for found in re.findall(r"```\n(.+)\n```", text)]


def steps(job):
    """Return what a job of the workflow runs, part by part, as on Linux."""
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    runs = [step["run"] for step in jobs[job]["steps"] if "run" in step]
    text = " && ".join(runs).replace(".venv\\Scripts\\", ".venv/bin/")
    return [re.sub("^python -m venv", "python3 -m venv", s) for s in text.split(" && ")]


@pytest.mark.parametrize("path", UNTRIED, ids=lambda path: path.name)
def test_what_was_not_tried_says_so(path):
    """What could not be tried says so first, and calls commands that exist."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    first = next(line for line in lines if not line.startswith("#!"))
    assert "Not tried" in first
    assert set(re.findall(r"-m workbook ([\w-]+)", text)) <= set(COMMANDS.choices)


@pytest.mark.parametrize("job", ["unix", "windows"])
def test_the_workflow_runs_the_readmes_tests(job):
    """A system's job makes the environment and runs the tests as the README does."""
    assert WORKFLOW.read_text("utf-8").count("-latest") >= 3  # of three systems
    assert steps(job)[:3] == readme_commands()[1]


def test_a_container_and_a_binder_install_as_the_readme_does():
    """One makes the README's environment, one has its lock, and a script may be run."""
    lines = DEV.read_text(encoding="utf-8").splitlines()
    about = json.loads("\n".join(line for line in lines if line[:2] != "//"))
    assert about["postCreateCommand"].split(" && ")[:2] == readme_commands()[0][:2]
    wanted = (BINDER / "requirements.txt").read_text(encoding="utf-8").splitlines()[-1]
    lock = BINDER / wanted.removeprefix("-r ")
    assert lock.resolve() == ROOT / "requirements.txt"
    assert os.access(BINDER / "postBuild", os.X_OK)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """What the hub's configuration sets, for homes in a folder of this test."""
    monkeypatch.setenv("HUB_HOMES", str(tmp_path))
    monkeypatch.setenv("HUB_PASSWORD", "a long one")
    config = Config()
    exec(HUB.read_text(encoding="utf-8"), {"get_config": lambda: config})
    return config


def test_a_learners_notebook_is_never_written_over(hub, tmp_path):
    """At each login what is missing is copied, and what a learner wrote stays."""
    spawner = SimpleNamespace(user=SimpleNamespace(name="ada"))
    hub.Spawner.pre_spawn_hook(spawner)
    first, *others = sorted((tmp_path / "ada" / "notebooks").rglob("*.ipynb"))
    first.write_text("mine")
    others[0].unlink()
    hub.Spawner.pre_spawn_hook(spawner)
    assert first.read_text() == "mine"
    assert others[0].is_file()
    assert len(others) == len(lessons()) - 1
    shown = re.findall(r"\.\./data/pictures/[^\"\\]+", others[0].read_text())
    assert shown
    assert all((others[0].parent / picture).is_file() for picture in shown)


def test_progress_is_kept_where_home_is(hub):
    """The hub sets no folder of progress, which all would share, and one model."""
    assert set(hub.Spawner.environment) == {SHARED, "WORKBOOK_SHARED"}
    port = hub.Spawner.environment[SHARED].rpartition(":")[2]
    assert f", {port})" in hub.JupyterHub.services[0]["command"][-1]
