"""Class lists as three systems write them, and whose folder is whose."""

import unicodedata

import pytest

from workbook.classroom.roster import read_roster
from workbook.exercises.catalogue import CourseError

NBGRADER = """id,last_name,first_name,email,lms_user_id
ann,Lee,Ann,ann@x.edu,11
007,Müller,Zoë,zoe@x.edu,12
"""
MOODLE = """First name,Surname,ID number,Institution,Department,Email address
Ann,Lee,ann,,"Arts, and letters",ann@x.edu
Zoë,Müller,007,,,zoe@x.edu
"""
MOODLE_MIXED = """"Email address","Last name",Groups,"First name",Username,"ID number"
ann@x.edu,Lee,,Ann,alee,ann
zoe@x.edu,Müller,"A, B",Zoë,zmueller,007
"""
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade
"Participant 501","Ann Lee",ann@x.edu,"No submission",
"Participant 502","Zoë Müller",zoe@x.edu,,
"""
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Essay (77),Final Score
,,,,,Manual Posting,
    Points Possible,,,,,10,(read only)
"Lee, Ann",11,ann,alee,"A and B",9,90
"Müller, Zoë",12,007,zmueller,A,,0
"""
LISTS = [NBGRADER, MOODLE, MOODLE_MIXED, WORKSHEET, CANVAS]


@pytest.fixture
def roster(tmp_path):
    """Return a function that reads a class list from a text or from bytes."""

    def read(content, coding="utf-8"):
        path = tmp_path / "list.csv"
        path.write_bytes(
            content if isinstance(content, bytes) else content.encode(coding)
        )
        return read_roster(path)

    return read


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize(
    "folder",
    [
        "zoe@x.edu", "ZOE@X.EDU", "Zoë Müller", "zoe muller", "Müller, Zoë",
        "muller_zoe", "Zoë Müller_502_assignsubmission_file_",
        "Müller Zoë_502_assignsubmission_file",
        unicodedata.normalize("NFD", "Zoë Müller"),
    ],
)  # fmt: skip
def test_a_folder_is_found(roster, text, folder):
    """by e-mail or name, in either order, without regard to case and accents"""
    if "@" in folder and text is CANVAS:
        return
    assert [
        str(s).split()[0] in ("Zoë", "Müller,") for s in roster(text).find(folder)
    ] == [True]


@pytest.mark.parametrize("text", [NBGRADER, MOODLE, MOODLE_MIXED, CANVAS])
def test_an_id_keeps_its_zeros(roster, text):
    """007 is found by 007 and by nothing else"""
    found = roster(text)
    assert [s.id for s in found.find("007")] == ["007"]
    assert found.find("7") == []
    assert len(found.students) == 2


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize(
    "folder", ["", "_", "🙂", "An", "Lee", "Ann Lee Müller", "nobody"]
)
def test_nobody_is_guessed(roster, text, folder):
    """a part of a name is no name"""
    assert roster(text).find(folder) == []


def test_what_two_have_is_found_twice(roster):
    """of two students with one name both come back; an id tells them apart"""
    found = roster(NBGRADER + "a2,lee,ann,a2@x.edu,\nAnn,Other,One,,\n")
    assert [s.id for s in found.find("Ann Lee")] == ["ann"]  # as it stands
    assert [s.id for s in found.find("ANN LEE")] == ["ann", "a2"]
    assert [s.id for s in found.find("ann")] == ["ann"]
    assert [s.id for s in found.find("ANN")] == ["ann", "Ann"]


def test_moodles_number_is_no_id(roster):
    """a folder's number is the participant's: it tells two of one name apart"""
    twins = roster(WORKSHEET + '"Participant 503","Ann Lee",b@x.edu,,\n')
    folder = "Ann Lee_{}_assignsubmission_file_"
    assert [s.email for s in twins.find(folder.format(503))] == ["b@x.edu"]
    assert len(twins.find(folder.format(999))) == 2
    other = roster(MOODLE + "Bo,Xu,501,,,\n")
    assert [s.first for s in other.find(folder.format(501))] == ["Ann"]


@pytest.mark.parametrize(
    "coding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_spreadsheets_csv(roster, coding, separator, end):
    """in each usual encoding, with each separator and each line end"""
    text = NBGRADER.replace(",", separator).replace("\n", end)
    assert roster(text, coding).students == roster(NBGRADER).students


def test_excels_first_line(roster):
    """`sep=;` says how the cells are apart, and names nobody"""
    text = "sep=;\r\n" + MOODLE_MIXED.replace('"A, B"', "A").replace(",", ";")
    assert [s.username for s in roster(text).students] == ["alee", "zmueller"]


def test_what_is_no_number_stays_text(roster):
    """a person called NA or null is a person, and a row with no names is none"""
    found = roster("id,last_name,first_name\nNA,null,None\n,,\n\n1e5,Inf,True\n")
    assert [s.called() >= {s.id} for s in found.students] == [True, True]
    assert [s.id for s in found.find("NA")] == ["NA"]
    assert [s.last for s in found.find("1e5")] == ["Inf"]


def test_one_row_twice_is_one_student(roster):
    """a list of two groups may name somebody twice"""
    assert len(roster(NBGRADER + NBGRADER.splitlines()[1]).students) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Vorname,Nachname\nAnn,Lee\n", ["First name".lower(), "last_name"]),
        ("", ["nbgrader"]),
        (b"\x00\x01\x02\xff", ["nbgrader"]),
        ("First name,Groups\nAnn,A\n", ["surname"]),
        ("id,last_name\n", ["nobody"]),
        ("id,last_name\na,Lee, Ann\n", ["line 2", "quotes"]),
        ('id,last_name\na,"Lee\nb,Xu\nc,Wu\n', ["quotes"]),
    ],
)
def test_what_is_wrong_is_said(roster, content, words):
    """no title that is known, nobody in it, a comma or a quote too many: in words"""
    with pytest.raises(CourseError) as caught:
        roster(content)
    assert [
        word for word in [*words, "list.csv"] if word not in str(caught.value)
    ] == []


def test_a_list_that_is_not_there(tmp_path):
    """no file, or a folder, is said in words"""
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(CourseError):
            read_roster(path)
