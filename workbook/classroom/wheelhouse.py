"""All that a room without a network installs: the lock's wheels and the model's.

pip downloads them and pip says whether they are whole: it is asked what it would
install from the folder alone. The checkout itself is carried beside it, by you.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from workbook.exercises.catalogue import CourseError
from workbook.models.weights import MB, SMOLLM2, pip_trouble
from workbook.paths import DATA, ROOT

LOCK = ROOT / "requirements.txt"
GLIBC = [f"manylinux_2_{minor}_" for minor in range(28, 16, -1)] + ["manylinux2014_"]
MACHINES = {  # sys_platform, platform_system, os_name, platform_machine, pip's tags
    "linux": ("linux", "Linux", "posix", "x86_64", [f"{g}x86_64" for g in GLIBC]),
    "linux-arm": ("linux", "Linux", "posix", "aarch64", [f"{g}aarch64" for g in GLIBC]),
    "mac": ("darwin", "Darwin", "posix", "arm64", ["macosx_14_0_arm64"]),
    "mac-intel": ("darwin", "Darwin", "posix", "x86_64", ["macosx_14_0_x86_64"]),
    "windows": ("win32", "Windows", "nt", "AMD64", ["win_amd64"]),
}
PATCHES = ("99", "0")  # a pin may be for the early releases of a Python, or the late


@dataclass(frozen=True)
class Target:
    """The machines of the room: one of `MACHINES` (empty: as this one), a Python."""

    machine: str = ""
    python: str = ".".join(platform.python_version_tuple()[:2])

    def __post_init__(self) -> None:
        if self.machine and self.machine not in MACHINES:
            raise CourseError(f"--machine {self.machine}: choose {', '.join(MACHINES)}")
        if not re.fullmatch(r"3\.\d+", self.python):
            raise CourseError(f"--python {self.python}: write it as 3.12")

    def __str__(self) -> str:
        here = f"{platform.system()} {platform.machine()}"
        return f"{self.machine or here}, Python {self.python}"

    def options(self, patch: str) -> list[str]:
        """Return what pip is told: wheels for such a machine, nothing to be built."""
        tags = MACHINES[self.machine][-1] if self.machine else []
        python = f"--python-version={self.python}.{patch}"
        return ["--only-binary=:all:", python, *(f"--platform={tag}" for tag in tags)]

    def environment(self, patch: str) -> dict[str, str]:
        """Return what the markers of the lock are about, where it is not as here."""
        full = {"python_full_version": f"{self.python}.{patch}"}
        known = {"python_version": self.python, **full}
        if self.machine:
            names = ("sys_platform", "platform_system", "os_name", "platform_machine")
            values = map(str, MACHINES[self.machine])
            known |= zip(names, values, strict=False)
        return known


Asked = tuple[list[str], list[str]]  # requirements, and how pip is to take them


def wheelhouse(folder: Path, target: Target | None = None, lock: Path = LOCK) -> str:
    """Fill a folder, or what is missing in it, and say how to install from it.

    CourseError: no network, no room, a folder that cannot be written, a package
    without a wheel for such machines; a second call goes on where it ended.
    """
    target = target or Target()
    folder = folder.expanduser().absolute()
    asked = list(_asked(target, lock))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for wheel in folder.glob("*.whl"):
            if not zipfile.is_zipfile(wheel):  # the end of it never came
                wheel.unlink()
        begun = any(folder.glob("*.whl"))
        if not begun or any(_trouble(each, folder) for each in asked):
            for names, options in asked:
                if said := _pip(["download", *options, f"--dest={folder}"], names):
                    room = "Make room, or name a folder on another disk"
                    again = "Run the same command again: it goes on where it ended"
                    raise CourseError(pip_trouble("the wheels", said, again, room))
        for each in asked:
            if said := _trouble(each, folder):
                raise CourseError(f"{folder} is not whole: {_last(said)}")
        wheels = list(folder.glob("*.whl"))
        size = sum(wheel.stat().st_size for wheel in wheels) // MB
        about = {"target": target, "folder": folder.name, "wheels": len(wheels)}
        text = (DATA / "classroom" / "INSTALL.txt").read_text(encoding="utf-8")
        told = text.format(**about, size=size)
        (folder / "INSTALL.txt").write_text(told, encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{folder} cannot be written: {error.strerror}.") from None
    return (
        f"{folder} is whole: {len(wheels)} wheels, {size} MB, for {target};"
        " each pin has its file. INSTALL.txt in it says how to go on."
    )


def _asked(target: Target, lock: Path) -> Iterator[Asked]:
    """Yield what is asked of pip: the pins, and what builds the workbook itself."""
    seen: set[str] = set()
    for patch in PATCHES:
        # The lock names all that a pin needs.
        pins = [pin for pin in pinned(lock, target, patch) if pin not in seen]
        pins += [] if seen else [SMOLLM2.requirement]
        if pins:
            yield pins, ["--no-deps", *target.options(patch)]
        seen.update(pins)
    with open(ROOT / "pyproject.toml", "rb") as file:
        building = tomllib.load(file)["build-system"]["requires"]
    yield [*building, "editables"], target.options(PATCHES[0])


def pinned(lock: Path, target: Target, patch: str) -> Iterator[str]:
    """Yield the lock's pins that such a machine installs, without their markers."""
    for line in lock.read_text(encoding="utf-8").splitlines():
        try:
            pin = Requirement(line.partition("#")[0].strip())
        except InvalidRequirement:
            continue  # the workbook itself, a comment
        if not pin.marker or pin.marker.evaluate(target.environment(patch)):
            yield f"{pin.name}{pin.specifier}"


def _trouble(asked: Asked, folder: Path) -> str:
    """Return what pip has against installing these from the folder alone, or ''."""
    names, options = asked
    alone = ["--no-index", f"--find-links={folder}", "--quiet", *options]
    with tempfile.TemporaryDirectory() as nowhere:
        dry = ["install", "--dry-run", "--ignore-installed", f"--target={nowhere}"]
        # Not with the folders of wheels that a setting of this machine's pip names.
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
        return _pip([*dry, *alone], names, {**kept, "PIP_CONFIG_FILE": os.devnull})


def _pip(
    command: list[str], names: Sequence[str], settings: Mapping[str, str] = os.environ
) -> str:
    """Run pip and return what it said where it failed. Its progress is shown."""
    usual = ["--disable-pip-version-check", "--no-input", "--no-color", "--retries=2"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *command, *usual, *names],
        stdout=sys.__stderr__,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env={**settings, "PYTHONUTF8": "1"},
        check=False,
    )
    return "" if done.returncode == 0 else done.stderr or f"code {done.returncode}"


def _last(said: str) -> str:
    """Return pip's own sentence about an error."""
    told = [line for line in said.splitlines() if "ERROR" in line]
    return (told or said.splitlines() or ["pip failed"])[-1].strip()[:300]
