"""The locks install from wheels alone, on each system and Python that is promised."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SYSTEMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
AT_ONCE = 4  # they wait for the package index more than they compute


def pins():
    """Return the lines of both locks that name a package and its version."""
    locks = ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"
    lines = [line for lock in locks for line in lock.read_text("utf-8").splitlines()]
    return [line for line in lines if re.match(r"[A-Za-z0-9]", line)]


def resolve(lock, system, python):
    """Ask uv for the wheels that one system takes, with all that they need."""
    options = f"--only-binary :all: --python-platform {system} --no-annotate --quiet"
    command = [Path(sys.executable).parent / "uv", "pip", "compile", *options.split()]
    command += ["--no-header", "--python", sys.executable, "--python-version", python]
    # What uv has seen of a release stays so: the index is asked for the rest only.
    for asked in (["--offline"], []):
        run = subprocess.run(
            [*command, *asked, lock],
            cwd=lock.parent,
            env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode == 0:
            break
    return run


@pytest.fixture(scope="module")
def resolved(tmp_path_factory):
    """What uv says for each system and Python; all of them are asked at once."""
    lock = tmp_path_factory.mktemp("lock") / "pins.txt"
    lock.write_text("\n".join(pins()), encoding="utf-8")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {
            (system, python): pool.submit(resolve, lock, system, python)
            for system in SYSTEMS
            for python in PYTHONS
        }


@pytest.mark.in_ci
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_installs_from_wheels_alone(resolved, system, python):
    """Each pin has a wheel for this system, and nothing else is needed."""
    run = resolved[system, python].result()
    assert run.returncode == 0, run.stderr
    known = {line.partition(";")[0].strip() for line in pins()}
    assert set(run.stdout.split()) <= known
