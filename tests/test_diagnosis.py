"""doctor: one table, and a fix for each line that is not well."""

import sys

import pytest

from workbook import diagnosis as questions
from workbook import doctor
from workbook.diagnosis import Diagnosis, Health, Row, about, read_lock


@pytest.fixture(autouse=True)
def nobody_chose_a_model(monkeypatch):
    monkeypatch.delenv("WORKBOOK_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_every_line_that_is_not_well_has_a_fix():
    """whatever is not well comes with what to do"""
    rows = doctor().rows
    assert [
        row.what for row in rows if row.health is not Health.WELL and not row.fix
    ] == []


def test_it_is_well_where_the_tests_run():
    """where the suite runs, every lesson would run"""
    assert doctor().well


def test_the_key_is_never_shown(monkeypatch):
    """doctor says that a key is set, and never what it is"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-show-me-0123")
    diagnosis = doctor()
    assert "sk-do-not" not in diagnosis._repr_html_() + repr(diagnosis)
    found = {row.what: row.found for row in diagnosis.rows}
    assert found["OPENAI_API_KEY"] == "set; its value is not shown"


@pytest.mark.parametrize(
    ("model", "key", "health"),
    [
        (None, None, Health.WELL),
        ("scripted", None, Health.WELL),
        ("local", None, Health.WELL),
        ("openai:gpt-4o-mini", None, Health.BROKEN),
        ("openai:gpt-4o-mini", "k", Health.WELL),
    ],
)
def test_a_hosted_model_needs_a_key(monkeypatch, model, key, health):
    """only a hosted model needs a key, and doctor names the variable"""
    for name, value in (("WORKBOOK_MODEL", model), ("OPENAI_API_KEY", key)):
        if value:
            monkeypatch.setenv(name, value)
    assert questions.api_key().health is health


def test_a_missing_model_file_is_a_note(monkeypatch, tmp_path):
    """without the real model the lessons run on recorded results: a note, no failure"""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    row = questions.local_model()
    assert row.health is Health.NOTE
    assert "fetch-model" in row.fix


def test_a_half_model_file_is_not_complete(monkeypatch, tmp_path):
    """a model file of another size is told apart from none"""
    from workbook.models.weights import SMOLLM2

    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    (tmp_path / SMOLLM2.file).write_bytes(b"x")
    row = questions.local_model()
    assert row.found.startswith("not complete")


def test_an_old_python_is_broken(monkeypatch):
    """Python 3.10 is too old, and doctor says what is needed"""
    monkeypatch.setattr(questions.platform, "python_version", lambda: "3.10.4")
    row = questions.python()
    assert (row.health, row.found) == (Health.BROKEN, "3.10.4, needs 3.11")


def test_a_missing_package_is_broken(monkeypatch):
    """a package that lessons import and that is missing, or too old, is named"""
    needs = ["pytest>=9", "no-such-thing>=1", "rich<1", 'mypy ; extra == "test"']
    monkeypatch.setattr(questions.metadata, "requires", lambda name: needs)
    row = questions.packages()
    assert row.health is Health.BROKEN
    assert row.found.startswith("no-such-thing is missing; rich is ")
    assert "mypy" not in row.found


def test_another_version_than_the_lock_is_a_note(tmp_path):
    """other versions than the locked ones are named, and are no failure"""
    path = tmp_path / "requirements.txt"
    path.write_text(
        "-e .\npytest==0.1\n    # via x\nnothing==1 ; python_version < '3'\n"
    )
    row = questions.lock(path)
    assert row.health is Health.NOTE
    assert row.found.startswith("pytest ")
    assert row.found.endswith("(locked: 0.1)")


def test_the_lock_respects_markers():
    """pins for another system or another Python are left out"""
    text = f"a==1 ; sys_platform == {sys.platform!r}\nb==1 ; sys_platform == 'none'\n"
    assert list(read_lock(text)) == [("a", "1")]


def test_a_folder_that_cannot_be_written(monkeypatch, tmp_path):
    """when progress cannot be kept, doctor names the variable to set"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "x"))
    row = questions.data_is_writable()
    assert row.health is Health.NOTE
    assert "WORKBOOK_DATA" in row.fix


def test_without_chromium_it_is_a_note(monkeypatch):
    """Chromium is for contributors: without it nothing fails"""
    monkeypatch.setattr(questions.shutil, "which", lambda name: None)
    row = questions.browser()
    assert row.health is Health.NOTE


def test_the_table_escapes_what_it_shows():
    """a path with a tag in it is text in the notebook's table"""
    diagnosis = Diagnosis([Row("a", Health.BROKEN, "<b>", "fix")])
    assert "&lt;b&gt;" in diagnosis._repr_html_()
    assert not diagnosis.well
    assert "1 of these would stop a lesson" in str(diagnosis)


def test_about_says_the_model_once():
    """the first line of a lesson names Python, the workbook and the model"""
    assert about().count("model:") == 1
    assert "Python 3." in about("pytest")
    assert "no-such-package not installed" in about("no-such-package")
