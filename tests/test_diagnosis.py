"""doctor: one line if all is well, and a fix for each row that is not."""

import pytest

from workbook import diagnosis, doctor
from workbook.diagnosis import BROKEN, NOTE, OK, about, as_table


@pytest.fixture(autouse=True)
def nobody_chose_a_model(monkeypatch):
    monkeypatch.delenv("WORKBOOK_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def row(what):
    """Return what doctor finds of one thing."""
    return next(row for row in diagnosis.rows() if row[0] == what)


def test_it_is_well_where_the_tests_run():
    """where the suite runs, every lesson would; what is not well comes with a fix"""
    rows = diagnosis.rows()
    assert BROKEN not in [state for _, state, *_ in rows]
    assert [row for row in rows if row[1] != OK] == [row for row in rows if row[-1]]


def test_only_what_has_a_fix_is_shown(monkeypatch):
    """one line if all is well; otherwise the rows with something to do, and no other"""
    rows = [("a", OK, "found", "")]
    monkeypatch.setattr(diagnosis, "rows", lambda: rows)
    assert repr(doctor()) == "Every lesson will run."
    rows.append(note := ("b", NOTE, "old", "pip"))
    assert (doctor().rows, doctor().footer) == ([note], "Every lesson will run.")
    assert "1 of these would stop a lesson" in str(as_table([("a", BROKEN, "", "")]))


@pytest.mark.parametrize(
    ("name", "health", "fix"),
    [
        ("", OK, ""),
        ("gpt 4", BROKEN, "names no model"),
        ("local", NOTE, "fetch-model"),  # lessons run on recorded results
    ],
)
def test_a_model_that_cannot_be_asked_stops_a_lesson(
    monkeypatch, tmp_path, name, health, fix
):
    """a model that no lesson knows stops it; one that can be fetched does not"""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    monkeypatch.setenv("WORKBOOK_MODEL", name)
    assert row("model in use")[1] == health
    assert fix in row("model in use")[-1]


def test_a_missing_package_is_broken(monkeypatch):
    """a package that lessons import and that is missing, or too old, is named"""
    needs = ["pytest>=9", "no-such-thing>=1", "rich<1", 'mypy ; extra == "test"']
    monkeypatch.setattr(diagnosis.metadata, "requires", lambda name: needs)
    _, state, found, _ = row("packages")
    assert state == BROKEN
    assert found.startswith("no-such-thing is missing; rich is ")
    assert "mypy" not in found


def test_another_version_than_the_lock_is_a_note(monkeypatch, tmp_path):
    """other versions than the locked ones are named, and are no failure"""
    monkeypatch.setattr(diagnosis, "ROOT", tmp_path)
    path = tmp_path / "requirements.txt"
    path.write_text("-e .\npytest==0.1\n    # via x\nno==1 ; sys_platform == 'none'\n")
    _, state, found, _ = row("packages")
    assert state == NOTE
    assert found.startswith("other than tested: pytest is ")
    assert found.endswith("needs ==0.1")


def test_a_folder_that_cannot_be_written(monkeypatch, tmp_path):
    """when progress cannot be kept, doctor names the variable to set"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "x"))
    _, state, _, fix = row("progress")
    assert state == NOTE
    assert "WORKBOOK_DATA" in fix


def test_about_says_the_model_once():
    """the first line of a lesson names Python, the workbook and the model"""
    line = about("pytest")
    assert line.count("model:") == 1
    assert "Python 3." in line
    assert "pytest 9" in line
