"""The class list, as nbgrader, Moodle or Canvas writes it, and whose folder is whose.

A folder is joined to a student by what the list has of them: id, user name, e-mail,
name. Where two would fit, nobody is chosen. It knows no marks.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbook.classroom.table import Identity
from workbook.exercises.catalogue import CourseError

# By who wrote the list: its titles, in small letters, and what stands below them.
KINDS = {
    "nbgrader": {
        "id": "id", "last_name": "last", "first_name": "first", "email": "email",
        "lms_user_id": "lms_id",
    },
    "Moodle": {
        "username": "username", "id number": "id", "first name": "first",
        "surname": "last", "last name": "last", "full name": "name",
        "email address": "email", "identifier": "participant",
    },
    "Canvas": {
        "student": "name", "id": "lms_id", "sis user id": "id",
        "sis login id": "username", "section": "section",
    },
}  # fmt: skip
IDENTITIES = ("id", "username", "email", "lms_id", "participant")
_MOODLE_FOLDER = re.compile(r"(.+)_(\d+)_assignsubmission_\w*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Student:
    """A row of the list; what it does not have is empty."""

    id: str = ""
    username: str = ""
    email: str = ""
    first: str = ""
    last: str = ""
    name: str = ""  # both, where the list has them in one
    lms_id: str = ""  # the number by which the platform itself knows a user
    participant: str = ""  # "Participant 17", in Moodle's grading worksheet
    section: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """The last and the first name; a name that is in one piece is a last name."""
        last, _, first = self.name.partition(",")
        return self.last or last.strip(), self.first or first.strip()

    @property
    def identity(self) -> str:
        return self.id or self.username or self.email or self.participant or self.lms_id

    def __str__(self) -> str:
        name = self.name or f"{self.first} {self.last}".strip()
        known = self.identity
        return f"{name} ({known})" if name and known else name or known

    def called(self) -> set[str]:
        """Return by what a folder may be called that is theirs."""
        words = self.name.replace(",", " ").split()  # who knows which is the last name
        both = {" ".join(words[n:] + words[:n]) for n in range(len(words))}
        both |= {f"{self.first} {self.last}", f"{self.last} {self.first}"}
        own = {self.id, self.username, self.email, self.lms_id, self.participant}
        return {word.strip() for word in both | own} - {""}


@dataclass(frozen=True)
class Roster:
    """The students in the list's order, and what its columns are called."""

    students: tuple[Student, ...]
    kind: str
    titles: tuple[tuple[str, str], ...]  # of each column its title and its field

    def find(self, folder: str) -> list[Student]:
        """Return whom a folder's name fits: as it stands, else without its accents."""
        words = [folder]
        if moodle := _MOODLE_FOLDER.fullmatch(folder):
            # The number is the participant's in this assignment, and no id.
            words = [f"Participant {moodle[2]}", moodle[1]]
        for form, index in self._indexes.items():
            for word in words:
                if found := index.get(form(word)):
                    return found
        return []

    @cached_property
    def _indexes(self) -> dict[Callable[[str], str], dict[str, list[Student]]]:
        """The students by each way to write what they may be called."""
        indexes: dict[Callable[[str], str], dict[str, list[Student]]] = {}
        for form in (composed, folded):
            index = indexes.setdefault(form, {})
            for student in self.students:
                for word in {form(word) for word in student.called()} - {""}:
                    index.setdefault(word, []).append(student)
        return indexes


def composed(word: str) -> str:
    """Return a name with its accents in one form; a Mac writes them in another."""
    return unicodedata.normalize("NFC", word)


def folded(word: str) -> str:
    """Return a name in small letters, without accents, its words apart by a blank."""
    letters = unicodedata.normalize("NFKD", word)
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return " ".join(re.sub(r"[^\w@.]|_", " ", plain.casefold()).split())


def read_roster(path: Path) -> Roster:
    """Read a class list: CSV in any usual encoding, apart by comma, semicolon or tab.

    A `CourseError` says what is missing, or in which line something is wrong.
    """
    try:
        text = _decoded(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path}: it cannot be read ({error.strerror}).") from None
    text = re.sub(r"\Asep=.\r?\n", "", text, flags=re.IGNORECASE)  # Excel's own line
    tables = [csv.reader(io.StringIO(text, newline=""), delimiter=d) for d in ",;\t"]
    heads = [[title.strip() for title in next(table, [])] for table in tables]
    fits = [
        (len(fields.keys() & map(str.lower, head)), kind, head, table)
        for head, table in zip(heads, tables, strict=True)
        for kind, fields in KINDS.items()
    ]
    _, kind, head, table = max(fits, key=lambda each: each[0])
    has = [KINDS[kind].get(title.lower(), "") for title in head]
    if not {"id", "username", "email", "last", "name", "lms_id"} & set(has):
        lists = "; ".join(f"{k}: {', '.join(fields)}" for k, fields in KINDS.items())
        raise CourseError(
            f"{path}: its first line names no column of a class list. Export it anew as"
            f" CSV, in English, or name its columns as one of these does. {lists}."
        )
    students = []
    for row in table:
        if any(row[len(has) :]) or any("\n" in cell for cell in row):
            raise CourseError(
                f"{path}, line {table.line_num}: {len(row)} cells below {len(has)}"
                " titles, or a cell over two lines. Put what has a comma in it in"
                " double quotes, and close them."
            )
        cells: dict[str, str] = {}
        for field, cell in zip(has, row, strict=False):
            if field and not cells.get(field):
                text = cell.strip()
                cells[field] = Identity(text) if field in IDENTITIES else text
        students.append(Student(**cells))
    # Canvas says in a row of its own what each assignment is out of.
    named = [s for s in students if s.called() and s.name != "Points Possible"]
    if not named:
        raise CourseError(f"{path}: it names nobody. Export it with its students.")
    return Roster(tuple(dict.fromkeys(named)), kind, tuple(zip(head, has, strict=True)))


def _decoded(raw: bytes) -> str:
    """Return a file's text: UTF-16 by its mark or its zeros, UTF-8, else Windows'."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace")
    if 0 in raw[:2]:
        return raw.decode("utf-16-be" if raw[0] == 0 else "utf-16-le", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")
