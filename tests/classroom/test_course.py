"""The rules for marks: what a TOML may say, and what it makes of a report."""

import pytest

from workbook.classroom.course import Course, read_course
from workbook.exercises.catalogue import CourseError
from workbook.exercises.report import Outcome, Report
from workbook.paths import DATA

EXAMPLE = DATA / "classroom" / "course.toml"


@pytest.fixture
def course(tmp_path):
    """Return a function that reads a course from a TOML's text."""

    def read(text):
        path = tmp_path / "course.toml"
        path.write_bytes(text.encode())
        return read_course(path)

    return read


def test_without_a_file_each_exercise_is_one_point():
    """an empty course has the rules that the example shows"""
    assert Course() == read_course(EXAMPLE)
    assert Course().worth(["think", "drive"]) == {"think": 1, "drive": 1}


def test_the_example_shows_every_key(course):
    """the example, its examples switched on, is a course, and it names all keys"""
    text = EXAMPLE.read_text(encoding="utf-8")
    assert all(f"\n{key} = " in text.replace("\n## ", "\n") or f"[{key}]" in text
               for key in Course.model_fields)  # fmt: skip
    made = course(text.replace("\n## ", "\n"))
    assert made.lessons
    assert made.due_at("01_naive_loop")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("poits = 1", ["poits", "points"]),
        ('points = "3"', ["points", "3"]),
        ("points = true", ["points"]),
        ("points = nan", ["points"]),
        ("points = -1", ["points", "-1"]),
        ("late_penalty = 10", ["late_penalty", "10", "0.1"]),
        ("out_of = 0", ["out_of"]),
        ("out_of = inf", ["out_of"]),
        ('assignment = ""', ["assignment"]),
        ("lessons = []", ["lessons"]),
        ('lessons = "01_naive_loop"', ["lessons", "list"]),
        ('lessons = ["01_naive_lop"]', ["01_naive_lop", "01_naive_loop"]),
        ('lessons = ["zzz"]', ["zzz", "00_start_here", "13_read_the_claims"]),
        ("[weights]\nparse_trun = 2", ["parse_trun", "parse_turn"]),
        ('[weights]\nparse_turn = "2"', ["weights.parse_turn", "2"]),
        ("due = 2026-12-01", ["due", "timezone", "+01:00"]),
        ('due = "2026-12-01"', ["due", "quotes"]),
        ("due = 23:59:00", ["due", "date"]),
        ("[due]\n05_state = 2026-12-01", ["05_state", "05_state_machine"]),
        ('timezone = "Mars"', ["timezone", "Mars"]),
        ('timezone = "../../etc/passwd"', ["timezone"]),
        ("points = 1\nx", ["TOML"]),
        ("a = 1\na = 2\nb = 1", ["line 2"]),
    ],
)
def test_what_is_wrong_is_named(course, text, words):
    """a key that is not known, a wrong type or value: the message names it"""
    with pytest.raises(CourseError) as caught:
        course(text)
    assert [
        word for word in [*words, "course.toml"] if word not in str(caught.value)
    ] == []


def test_a_file_that_cannot_be_read(tmp_path):
    """no file, a folder, or another encoding is said in words"""
    (tmp_path / "latin.toml").write_bytes('assignment = "Übung"'.encode("latin-1"))
    for name in ("none.toml", ".", "latin.toml"):
        with pytest.raises(CourseError):
            read_course(tmp_path / name)


def test_a_file_from_windows(course):
    """a byte-order mark and Windows' line ends do no harm"""
    assert course("\ufeffpoints = 2\r\nlate_penalty = 0.5\r\n").points == 2


@pytest.mark.parametrize(
    ("handed_in", "days"),
    [
        ("2026-12-01T22:59:00+00:00", 0),  # on the second
        ("2026-12-01T22:59:00.001+00:00", 1),
        ("2026-12-02T22:59:00+00:00", 1),
        ("2026-12-02T23:59:00.5+01:00", 2),
        ("2026-12-01T22:59:00", 0),  # UTC, where no zone is named
        ("2026-12-01T23:00:00Z", 1),
        ("", 0),
        ("yesterday", 0),
    ],
)
def test_days_late(course, handed_in, days):
    """a day begun is a day; the due date is local time in the course's zone"""
    made = course('timezone = "Europe/Berlin"\ndue = 2026-12-01T23:59:00')
    assert made.days_late("01_naive_loop", handed_in) == days


def test_a_date_ends_with_its_day_and_each_lesson_may_have_its_own(course):
    """[due] names lessons; a lesson that it does not name is never late"""
    made = course('timezone = "Asia/Tokyo"\n[due]\n01_naive_loop = 2026-12-01')
    assert made.days_late("01_naive_loop", "2026-12-01T14:59:59+00:00") == 0
    assert made.days_late("01_naive_loop", "2026-12-01T15:00:00+00:00") == 1
    assert made.days_late("05_state_machine", "2030-01-01T00:00:00+00:00") == 0


def test_the_penalty_has_a_maximum(course):
    """each day costs its share, and all days together no more than the maximum"""
    made = course("late_penalty = 0.2\nlate_maximum = 0.5")
    assert [made.penalty(days) for days in (0, 1, 2, 3, 99)] == [0, 0.2, 0.4, 0.5, 0.5]


def test_weights_and_the_scale(course):
    """a lesson's weight is for each of its exercises, and the sum is what was asked"""
    made = course("out_of = 100\n[weights]\nthink = 3\n01_naive_loop = 2")
    worth = made.worth(["parse_turn", "think", "drive"])
    assert sum(worth.values()) == pytest.approx(100)
    assert worth["parse_turn"] / worth["drive"] == pytest.approx(2)
    assert worth["think"] / worth["drive"] == pytest.approx(3)
    nothing = course("[weights]\nthink = 0").worth(["think"])
    assert nothing == {"think": 0}


@pytest.mark.parametrize(("rule", "share"), [("false", 0.75), ("true", 0.0)])
def test_partial_points(course, rule, share):
    """six of eight tests bring three quarters, unless it is all or nothing"""
    made = course(f"all_or_nothing = {rule}")
    assert made.share(Report("think", Outcome.WRONG, 6, 8)) == share
    assert made.share(Report("think", Outcome.PASSED, 8, 8)) == 1
    assert made.share(Report("think", Outcome.RAISED)) == 0
