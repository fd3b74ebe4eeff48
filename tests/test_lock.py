"""The locks install from wheels alone, on each system and Python that is promised."""

import re
import subprocess
import sys
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


@pytest.mark.in_ci
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_installs_from_wheels_alone(tmp_path, system, python):
    """Each pin has a wheel for this system, and nothing else is needed."""
    locks = ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"
    lines = [line for lock in locks for line in lock.read_text("utf-8").splitlines()]
    pins = [line for line in lines if re.match(r"[A-Za-z0-9]", line)]
    (lock := tmp_path / "pins.txt").write_text("\n".join(pins), encoding="utf-8")
    options = (
        f"--only-binary :all: --python-platform {system} --python-version {python}"
    )
    command = [Path(sys.executable).parent / "uv", "pip", "compile", *options.split()]
    command += ["--no-annotate", "--no-header", "--quiet", "--no-python-downloads"]
    command += ["--python", sys.executable, lock]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    known = {line.partition(";")[0].strip() for line in pins}
    assert set(run.stdout.split()) <= known
