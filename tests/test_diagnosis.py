"""doctor: one line if all is well, and a fix for each row that is not."""

import pytest

from workbook import diagnosis as questions
from workbook import doctor
from workbook.diagnosis import BROKEN, NOTE, OK, about, as_table


@pytest.fixture(autouse=True)
def nobody_chose_a_model(monkeypatch):
    monkeypatch.delenv("WORKBOOK_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_every_line_that_is_not_well_has_a_fix():
    """whatever is not well comes with what to do"""
    rows = questions.rows()
    assert [row for row in rows if row[1] != OK] == [row for row in rows if row[-1]]


def test_it_is_well_where_the_tests_run():
    """where the suite runs, every lesson would run"""
    assert BROKEN not in [state for _, state, *_ in questions.rows()]


def test_only_what_has_a_fix_is_shown(monkeypatch):
    """one line if all is well; otherwise the rows with something to do, and no other"""
    rows = [("a", OK, "found", "")]
    monkeypatch.setattr(questions, "rows", lambda: rows)
    assert repr(doctor()) == "Every lesson will run."
    rows.append(note := ("b", NOTE, "old", "pip"))
    assert (doctor().rows, doctor().footer) == ([note], "Every lesson will run.")


@pytest.mark.parametrize(
    ("name", "health", "fix"),
    [
        (None, OK, ""),
        ("gpt 4", BROKEN, "names no model"),
        ("scriptde", BROKEN, "or WORKBOOK_MODEL=scripted"),
        ("local", NOTE, "fetch-model"),  # lessons run on recorded results
    ],
)
def test_a_model_that_cannot_be_asked_stops_a_lesson(
    monkeypatch, tmp_path, name, health, fix
):
    """a model that no lesson knows stops it; one that can be fetched does not"""
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))
    _, state, _, found = questions.model("model in use", name)
    assert state == health
    assert fix in found


def test_a_missing_package_is_broken(monkeypatch):
    """a package that lessons import and that is missing, or too old, is named"""
    needs = ["pytest>=9", "no-such-thing>=1", "rich<1", 'mypy ; extra == "test"']
    monkeypatch.setattr(questions.metadata, "requires", lambda name: needs)
    _, state, found, _ = questions.packages()
    assert state == BROKEN
    assert found.startswith("no-such-thing is missing; rich is ")
    assert "mypy" not in found


def test_another_version_than_the_lock_is_a_note(tmp_path):
    """other versions than the locked ones are named, and are no failure"""
    path = tmp_path / "requirements.txt"
    path.write_text(
        "-e .\npytest==0.1\n    # via x\nnothing==1 ; python_version < '3'\n"
        "never==1 ; sys_platform == 'none'\n"
    )
    _, state, found, _ = questions.packages(path)
    assert state == NOTE
    assert found.startswith("other than tested: pytest is ")
    assert found.endswith("needs ==0.1")


def test_a_folder_that_cannot_be_written(monkeypatch, tmp_path):
    """when progress cannot be kept, doctor names the variable to set"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "x"))
    _, state, _, fix = questions.progress()
    assert state == NOTE
    assert "WORKBOOK_DATA" in fix


def test_the_table_escapes_what_it_shows():
    """a path with a tag in it is text in the notebook's table"""
    table = as_table([("a", BROKEN, "<b>", "fix")])
    assert "&lt;b&gt;" in table._repr_html_()
    assert "1 of these would stop a lesson" in str(table)


def test_about_says_the_model_once():
    """the first line of a lesson names Python, the workbook and the model"""
    assert about().count("model:") == 1
    assert "Python 3." in about()
    assert "pytest 9" in about("pytest")
