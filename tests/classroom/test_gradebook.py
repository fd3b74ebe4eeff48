"""Marks: what stands in the four tables, and what their importers make of it."""

import csv
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.classroom.papers import LESSON, SLUGS, answer, paper
from workbook.classroom.course import Course
from workbook.classroom.gradebook import read_roster, write_marks
from workbook.classroom.results import Paper
from workbook.classroom.table import SIGNS, Identity, neutral
from workbook.exercises.catalogue import CourseError
from workbook.exercises.report import Failure, Outcome

TWO = (
    "id,last_name,first_name,email,lms_user_id\nann,Lee,Ann,a@x.edu,11\nbo,Xu,Bo,,12\n"
)


@pytest.fixture
def marks(tmp_path):
    """Return a function that writes marks and reads a table of them, by its name."""

    def write(papers, course=None, roster=None, table="marks.csv"):
        people = None
        if roster is not None:
            (tmp_path / "list.csv").write_text(roster, encoding="utf-8")
            people = read_roster(tmp_path / "list.csv")
        rules = None if course is None else Course(**course)
        written = write_marks(papers, tmp_path / "out", rules, people)
        assert sorted(tmp_path.glob("out/*")) == sorted(written)
        coding = "utf-8-sig" if table == "marks.csv" else "utf-8"
        with (tmp_path / "out" / table).open(encoding=coding, newline="") as file:
            return list(csv.DictReader(file, strict=True))

    return write


def only(rows):
    """Return the one row that there is."""
    assert len(rows) == 1, rows
    return rows[0]


def test_points_by_exercise_and_lesson(marks):
    """an exercise brings the share of its tests that are met; a lesson the sum"""
    row = only(marks([paper("ann", [4, 3, 1, 0])]))
    assert [row[slug] for slug in SLUGS] == ["1", "0.75", "0.25", "0"]
    assert (row[LESSON], row["points"], row["total"], row["of"]) == ("2", "2", "2", "4")
    assert (row["learner"], row["status"], row["note"]) == ("ann", "handed in", "")


def test_lessons_that_count(marks):
    """those of the course, or those that somebody handed in whole"""
    both = [paper("ann"), paper("ann", lesson="05_state_machine")]
    assert only(marks(both))["of"] == "9"
    assert only(marks(both, {"lessons": [LESSON]}))["of"] == "4"
    strange = Paper("bo", "scratch.ipynb", graded=(answer("drive"),))
    rows = marks([paper("ann"), strange])
    assert [row["of"] for row in rows] == ["4", "4"]
    assert rows[1]["total"] == "0"  # of what counts nothing was handed in


def test_what_could_not_be_graded_is_no_zero(marks):
    """its cell and the sums are empty, and the note says which it was and why"""
    row = only(marks([paper("ann", [4, None, 4, 4])]))
    empty = [SLUGS[1], LESSON, "points", "total", "penalty"]
    assert {row[name] for name in empty} == {""}
    assert row[SLUGS[0]] == "1"
    assert SLUGS[1] in row["note"]
    assert "it was stopped" in row["note"]


@pytest.mark.parametrize(
    "fields",
    [
        {"graded": ()},
        {"graded": (answer("(notebook)", 0, 0, outcome=Outcome.RAISED),)},
        {
            "graded": tuple(
                answer(slug, 0, 0, outcome=Outcome.RAISED, failures=(Failure("torn"),))
                for slug in SLUGS
            )
        },
    ],
)
def test_a_notebook_of_which_nothing_could_be_graded(marks, fields):
    """it brings no grade and no zero, alone or beside a notebook that was graded"""
    row = only(marks([paper("ann", **fields)], {"lessons": [LESSON]}))
    assert row["total"] == ""
    assert f"{LESSON}.ipynb" in row["note"]
    other = paper("ann", lesson="05_state_machine")
    course = {"lessons": [LESSON, "05_state_machine"]}
    row = only(marks([paper("ann", **fields), other], course))
    assert (row[LESSON], row["05_state_machine"], row["total"]) == ("", "5", "")


def test_a_folder_without_a_notebook(marks):
    """it is told apart from who handed in and from who is absent, and has no grade"""
    empty = Paper("bo", "", "the folder holds no notebook")
    rows = marks([paper("ann"), empty], roster=TWO + "cy,Ng,Cy,,\n")
    assert [row["status"] for row in rows] == ["handed in", "no notebook", "absent"]
    assert [row["total"] for row in rows] == ["4", "", ""]
    assert rows[1]["note"] == "the folder holds no notebook"


def test_a_lesson_that_was_not_handed_in_is_named(marks):
    """who handed in another lesson has no points for it, and the note says so"""
    rows = marks([paper("ann"), paper("bo", lesson="05_state_machine")])
    assert [row["total"] for row in rows] == ["4", "5"]
    assert "05_state_machine" in rows[0]["note"]
    assert LESSON in rows[1]["note"]


def test_of_two_attempts_the_last_counts(marks):
    """the one handed in last, but neither a stub nor what could not be graded"""
    first = paper("ann", [4, 4, 4, 4], handed_in="2026-01-01T00:00:00+00:00")
    second = paper("ann", [1, 0, None, 4], handed_in="2026-01-02T00:00:00+00:00")
    second = replace(second, notebook="again.ipynb")
    for papers in ([first, second], [second, first]):
        row = only(marks(papers))
        assert [row[slug] for slug in SLUGS] == ["0.25", "1", "1", "1"]


def test_late(marks):
    """each day begun costs its share of the points that were reached"""
    late = paper("ann", 2, handed_in="2026-01-02T10:00:00+00:00")
    due = datetime(2026, 1, 1, 9, tzinfo=UTC)
    course = {"due": due, "late_penalty": 0.25, "out_of": 10.0}
    row = only(marks([late], course))
    assert [row[k] for k in ("days_late", "points", "penalty", "total", "of")] == [
        *("2", "5", "2.5", "2.5", "10")
    ]
    row = only(marks([replace(late, handed_in="")], course))
    assert (row["total"], row["penalty"]) == ("5", "0")
    assert "not known" in row["note"]


def test_notes_and_signs_are_named(marks):
    """what grading noted stands in the note, and that there are signs to look at"""
    signed = replace(paper("ann"), note="the newest of two")
    graded = (replace(signed.graded[0], signs=("reads the tests",)), *signed.graded[1:])
    note = only(marks([replace(signed, graded=graded)]))["note"]
    assert "the newest of two" in note
    assert "1 sign" in note
    assert "reads the tests" not in note


def test_the_roster_says_who_there_is(marks):
    """who is absent has no grade; a folder that fits nobody stands at the end"""
    rows = marks([paper("stranger"), paper("Lee, Ann")], roster=TWO)
    assert [(r["learner"], r["id"], r["status"], r["total"]) for r in rows] == [
        ("Lee, Ann", "ann", "handed in", "4"),
        ("", "bo", "absent", ""),
        ("stranger", "", "not on the roster", "4"),
    ]


@pytest.mark.parametrize(
    ("roster", "folders"),
    [
        (TWO + "ann2,LEE,ANN,,\n", ["ann lee"]),  # two students, one folder
        (TWO, ["ann", "Ann Lee"]),  # one student, two folders
    ],
)
def test_what_is_not_clear_is_given_to_nobody(marks, roster, folders):
    """a folder of two, or a student with two: both say so, neither gets the grade"""
    papers = [paper(folder) for folder in folders]
    rows = marks(papers, roster=roster)
    listed = [r for r in rows if r["id"] in ("ann", "ann2")]
    assert {(r["status"], r["total"]) for r in listed} == {("unclear", "")}
    assert all(folder in r["note"] for r in listed for folder in folders)
    loose = [r for r in rows if r["learner"]]
    assert [(r["learner"], r["id"], r["total"]) for r in loose] == [
        (folder, "", "4") for folder in folders
    ]
    assert all("Ann Lee (ann)" in r["note"] for r in loose)
    for table in ("nbgrader", "moodle", "canvas"):
        rows = marks(papers, {"out_of": 77.0}, roster, f"marks.{table}.csv")
        grades = [[*row.values()][9 if table == "nbgrader" else -1] for row in rows]
        assert {*grades} - {"77"} <= {"", "-"}
        assert grades.count("77") == (table == "canvas")  # what it is out of


def test_nbgraders_columns(marks):
    """exactly those of its export, a row a student of the roster"""
    rows = marks([paper("ann", 2, handed_in="2026-01-02T10:00:00+01:00"), paper("?")],
                 {"assignment": "ps1"}, TWO, "marks.nbgrader.csv")  # fmt: skip
    assert ",".join(rows[0]) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,"
        "late_submission_penalty,score,max_score"
    )
    assert [*rows[0].values()] == [
        *("ps1", "", "2026-01-02 09:00:00", "ann", "Lee", "Ann", "a@x.edu"),
        *("2", "0", "2", "4"),
    ]
    assert [*rows[1].values()][2:] == ["", "bo", "Xu", "Bo", "", "", "", "", "4"]
    assert len(rows) == 2


def moodle_takes(rows, identity):
    """Return the grades that Moodle's importer gives to each user.

    It looks a user up by one column. A row with nothing there, or with 0, goes to
    the user of the row before.
    """
    got, user = {}, None
    for row in rows:
        user = row[identity] if row[identity] not in ("", "0") else user
        got.setdefault(user, []).append(row["ReAct workbook"])
    return got


MOODLE = "First name,Surname,Username,ID number,Email address\n"


@pytest.mark.parametrize(
    ("people", "identities"),
    [
        ("Ann,Lee,ann,1,a@x.edu\nBo,Xu,bo,2,b@x.edu\n", 3),
        ("Ann,Lee,ann,1,a@x.edu\nBo,Xu,bo,,b@x.edu\n", 2),  # one has no number
        ("Ann,Lee,ann,1,a@x.edu\nBo,Xu,bo,0,b@x.edu\n", 2),  # which 0 is not
        ("Ann,Lee,ann,1,a@x.edu\nBo,Xu,bo,1,a@x.edu\n", 1),  # shared, so nobody's
        ("Ann,Lee,ann,1,\nBo,Xu,,2,\nCy,Ng,,,c@x.edu\n", 1),  # no column is whole
    ],
)
def test_moodle_gives_each_grade_to_its_owner(marks, people, identities):
    """by whichever column of identities, no grade goes to the row before it"""
    rows = marks([paper("ann lee", 4), paper("bo xu", 2)], None, MOODLE + people,
                 "marks.moodle.csv")  # fmt: skip
    named = rows[0].keys() & {"Username", "ID number", "Email address"}
    assert len(named) == identities
    for title in named:
        got = moodle_takes(rows, title)
        for row in rows:
            assert got[row[title]] == [row["ReAct workbook"]]
    grades = {row["Surname"]: row["ReAct workbook"] for row in rows}
    assert grades["Lee"] == "4"
    assert grades["Xu"] == "2"
    assert grades.get("Ng", "-") == "-"
    notes = {row["last_name"]: row["note"] for row in marks([], None, MOODLE + people)}
    assert [name for name in notes if name not in grades] == [
        name for name, note in notes.items() if "marks.moodle.csv" in note
    ]


def test_two_with_one_number_are_not_in_moodles_table(marks):
    """where no column is whole, who shares an identity is left out, as who has none"""
    people = MOODLE + "Ann,Lee,,1,\nBo,Xu,,1,\nCy,Ng,,2,\nDi,Oh,,3,\nEd,Po,,,\n"
    rows = marks([paper("ann lee")], None, people, "marks.moodle.csv")
    assert [row["Surname"] for row in rows] == ["Ng", "Oh"]


def canvas_takes(rows, users):
    """Return the scores that Canvas's importer gives to each user, by its number.

    It takes the digits of ID for its own number, then looks at the SIS' columns,
    which it only sees in their places, then for the name.
    """
    header = [*rows[0]]
    assert header[:2] == ["Student", "ID"]
    assert header[-2] == "Section"
    assert header[2:-2] in ([], ["SIS Login ID"], ["SIS User ID", "SIS Login ID"])
    assert "Points Possible" in rows[0]["Student"]
    got = {}
    for row in rows[1:]:
        owner = next(
            (u for u in users if row["ID"] and int(row["ID"]) == u["id"]), None
        )
        for title, key in (("SIS User ID", "sis"), ("SIS Login ID", "login")):
            owner = owner or next((u for u in users if row.get(title) == u[key]), None)
        owner = owner or next(u for u in users if row["Student"] == u["name"])
        got[owner["id"]] = row[header[-1]]
    return got


USERS = [
    {"id": 11, "sis": "0012", "login": "alee", "name": "Lee, Ann"},
    {"id": 12, "sis": "11", "login": "bxu", "name": "Xu, Bo"},
]


@pytest.mark.parametrize(
    "roster",
    [
        "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
        '"Lee, Ann",11,0012,alee,A\n"Xu, Bo",12,11,bxu,A\n',
        "Student,ID,SIS Login ID,Section\n"
        '"Lee, Ann",11,alee,A\n"Xu, Bo",12,bxu,A\n',
        'Student,ID,Section\n"Lee, Ann",11,A\n"Xu, Bo",12,A\n',
        "id,last_name,first_name,lms_user_id\n0012,Lee,Ann,11\n11,Xu,Bo,12\n",
        "First name,Surname,ID number\nAnn,Lee,12\nBo,Xu,11\n",  # numbers of its own
        "First name,Surname,Username\nAnn,Lee,bxu\nBo,Xu,alee\n",
    ],
)  # fmt: skip
def test_canvas_gives_each_grade_to_its_owner(marks, roster):
    """an id of another system never stands where Canvas looks for its own number"""
    rows = marks([paper("ann lee", 4), paper("xu bo", None)], {"out_of": 8.0}, roster,
                 "marks.canvas.csv")  # fmt: skip
    assert canvas_takes(rows, USERS) == {11: "8", 12: ""}
    assert rows[0]["ReAct workbook"] == "8"


def test_canvas_finds_its_own_assignment(marks):
    """where its export has a column of that name, the title is as it stands there"""
    roster = 'Student,ID,Section,ReAct workbook (77)\n"Lee, Ann",11,A,\n'
    rows = marks([paper("ann lee")], None, roster, "marks.canvas.csv")
    assert [*rows[0]][-1] == "ReAct workbook (77)"


def test_without_a_roster_each_folder_is_a_student(marks):
    """the folder's name is all that is known of them"""
    papers = [paper("bo"), paper("ann", 0)]
    for table, column in (("nbgrader", "student_id"), ("moodle", "learner"),
                          ("canvas", "Student")):  # fmt: skip
        rows = marks(papers, table=f"marks.{table}.csv")
        assert [row[column] for row in rows][-2:] == ["bo", "ann"]
        assert [[*row.values()][-1 if table != "nbgrader" else -2] for row in rows][
            -2:
        ] == ["4", "0"]


@pytest.mark.parametrize("id_", ["@ann", "+49170", "-5", "007", "a@x.edu", "O'Hara"])
def test_an_identity_is_found_again(marks, id_):
    """what gradebooks join by is as the roster has it, also if it begins oddly"""
    roster = f'id,last_name,first_name\n"{id_}",Lee,Ann\n'
    row = only(marks([paper("ann lee")], None, roster, "marks.moodle.csv"))
    assert row["id"] == id_


@pytest.mark.parametrize("text", ["=1+1", "+A1", "-2", "@SUM(A1)", "\t=1", "＝1", "=-"])
def test_no_cell_is_a_formula(marks, text):
    """neither a folder's name nor a student's, nor an id that could call something"""
    roster = f'id,last_name,first_name\n"=HYPERLINK(""http://x"")","{text}",Ann\n'
    papers = [paper(text), replace(paper("ann lee"), note=text)]
    for table in ("marks.csv", *(f"marks.{x}.csv" for x in ("moodle", "canvas"))):
        for row in marks(papers, None, roster, table):
            cells = [cell for cell in row.values() if cell.startswith(SIGNS)]
            assert cells in ([], ["-"])


@given(st.text(max_size=20))
def test_a_neutral_text_begins_like_no_formula(text):
    """any text: no sign in front, and nothing else is lost of what can be printed"""
    for cell in (text, Identity(text)):
        said = neutral(cell)
        if said.startswith(SIGNS):
            assert said == "-" or (
                cell is not text and not set(said) & set("=(|![\"',")
            )


@pytest.mark.parametrize(
    "name",
    ['a,"b"', "a\nb", "Zoë 李雷 🙂", "caf\udce9", "a\x00b", "x" * 300, "a;b", ""],
)
def test_odd_names_stay_one_cell(marks, name):
    """commas, quotes, line ends, bytes that are no text: one row, one cell"""
    row = only(marks([paper(name)]))
    assert row["total"] == "4"
    assert row["learner"][:1] == name[:1]


def test_no_papers_at_all(marks):
    """an empty folder gives a table of who is absent, or an empty one"""
    assert marks([]) == []
    assert [row["status"] for row in marks([], roster=TWO)] == ["absent", "absent"]


def test_the_old_table_stays_until_the_new_one_is_whole(marks, tmp_path, monkeypatch):
    """a writer that breaks leaves what was there, and no half file"""
    marks([paper("ann")])
    before = (tmp_path / "out" / "marks.csv").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbook.classroom.table.os.replace", full)
    with pytest.raises(CourseError) as caught:
        write_marks([paper("bo")], tmp_path / "out")
    assert "marks." in str(caught.value)
    assert (tmp_path / "out" / "marks.csv").read_bytes() == before
    assert len([*(tmp_path / "out").iterdir()]) == 4
