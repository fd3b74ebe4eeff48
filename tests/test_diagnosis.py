"""doctor: one line if all is well, and a fix for each row that is not."""

import pytest

from workbook import diagnosis as questions
from workbook import doctor
from workbook.diagnosis import Health, Row, about, as_table


@pytest.fixture(autouse=True)
def nobody_chose_a_model(monkeypatch):
    monkeypatch.delenv("WORKBOOK_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_every_line_that_is_not_well_has_a_fix():
    """whatever is not well comes with what to do"""
    rows = questions.rows()
    assert [row.what for row in rows if row.health is not Health.WELL] == [
        row.what for row in rows if row.fix
    ]


def test_it_is_well_where_the_tests_run():
    """where the suite runs, every lesson would run"""
    assert Health.BROKEN not in [row.health for row in questions.rows()]


def test_only_what_has_a_fix_is_shown(monkeypatch):
    """one line if all is well; otherwise the rows with something to do, and no other"""
    well, note = Row("a", Health.WELL, "ok"), Row("b", Health.NOTE, "old", "pip")
    for name in ("packages", "lesson_files", "progress"):
        monkeypatch.setattr(questions, name, lambda: well)
    monkeypatch.setattr(questions, "model", lambda *names: well)
    assert repr(doctor()) == "Every lesson will run."
    monkeypatch.setattr(questions, "progress", lambda: note)
    assert (doctor().rows, doctor().footer) == ([note], "Every lesson will run.")


@pytest.mark.parametrize(
    ("name", "health", "fix"),
    [
        (None, Health.WELL, ""),
        ("gpt 4", Health.BROKEN, "names no model"),
        ("scriptde", Health.BROKEN, "or WORKBOOK_MODEL=scripted"),
        ("local", Health.NOTE, "fetch-model"),  # lessons run on recorded results
    ],
)
def test_a_model_that_cannot_be_asked_stops_a_lesson(
    monkeypatch, tmp_path, name, health, fix
):
    """a model that no lesson knows stops it; one that can be fetched does not"""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    row = questions.model("model in use", name)
    assert row.health is health
    assert fix in row.fix


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
        "never==1 ; sys_platform == 'none'\n"
    )
    row = questions.packages(path)
    assert row.health is Health.NOTE
    assert row.found.startswith("other than tested: pytest is ")
    assert row.found.endswith("needs ==0.1")


def test_a_folder_that_cannot_be_written(monkeypatch, tmp_path):
    """when progress cannot be kept, doctor names the variable to set"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "x"))
    row = questions.progress()
    assert row.health is Health.NOTE
    assert "WORKBOOK_DATA" in row.fix


def test_the_table_escapes_what_it_shows():
    """a path with a tag in it is text in the notebook's table"""
    table = as_table([Row("a", Health.BROKEN, "<b>", "fix")])
    assert "&lt;b&gt;" in table._repr_html_()
    assert "1 of these would stop a lesson" in str(table)


def test_about_says_the_model_once():
    """the first line of a lesson names Python, the workbook and the model"""
    assert about().count("model:") == 1
    assert "Python 3." in about("pytest")
    assert "no-such-package not installed" in about("no-such-package")
