"""What the README says is so."""

import re
import shlex
from pathlib import Path

import pytest

from workbook.__main__ import COMMANDS
from workbook.checks.catalogue import lessons

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "notebooks" / "reference.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\((?!http)([^)]+)\)", README)


@pytest.mark.parametrize("link", LINKS)
def test_a_link_leads_somewhere(link):
    """Every lesson and picture that the README names is there."""
    assert (ROOT / link.partition("#")[0]).exists()


def test_the_reference_names_every_command():
    """Each command has a row or a sentence in the reference, or in classroom.md."""
    classroom = (ROOT / "notebooks" / "classroom.md").read_text(encoding="utf-8")
    text = REFERENCE + classroom + README
    assert [c for c in COMMANDS.choices if f"workbook {c}" not in text] == []


def test_each_command_is_complete():
    """Each command makes the environment, installs the lock, and does its work."""
    commands = re.findall(r"```\n(.+)\n```", README)
    assert len(commands) == 2
    for command in commands:
        make, install, work = (shlex.split(part) for part in command.split("&&"))
        assert make == ["python3", "-m", "venv", ".venv"]
        assert install[4:6] == ["-r", "requirements.txt"]
        assert work[0].startswith(".venv/bin/")


def test_the_first_command_leads_to_a_lesson():
    """Also the address that JupyterLab prints opens the first lesson."""
    (page,) = re.findall(r"--LabApp\.default_url=/lab/tree/(\S+)", README)
    assert page == "notebooks/index.ipynb"
    assert (ROOT / page).exists()


def test_the_map_agrees_with_the_lessons():
    """Titles and minutes of the map are those of data/exercises/."""
    for slug, lesson in lessons().items():
        if not lesson.lab:
            link = f"[{lesson.title}](notebooks/{slug}.ipynb)"
            assert f"| {slug[:2]} | {link} | {lesson.minutes} |" in README


def test_it_is_short():
    """A visitor reads at most 600 words, commands and the table of lessons included.

    How to contribute, the last section, is for the few who do.
    """
    for_visitors, for_contributors = README.split("## Contributing")
    assert len(for_visitors.split()) <= 600
    assert len(for_contributors.split()) <= 250


PAGES = [ROOT / "README.md", *(ROOT / "notebooks").glob("*.[im][pd]*")]
MARKDOWN = re.compile(r"!\[(?P<alt>[^]]*)\]\((?P<path>[^)]+png)\)")
HTML = re.compile(r'<img src=\\"(?P<path>[^"]+png)\\" alt=\\"(?P<alt>[^"]*)\\">')
SHOWN = {
    f"{page.name}: {found['path']}": (found["alt"], page.parent / found["path"])
    for page in PAGES
    for pattern in (MARKDOWN, HTML)
    for found in pattern.finditer(page.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("shown", SHOWN)
def test_a_picture_is_there_and_says_what_to_see(shown):
    """Each picture of a page has a file, and words for whoever cannot see it"""
    alt, path = SHOWN[shown]
    assert path.exists()
    assert len(alt.split()) > 5


@pytest.mark.parametrize("name", [p.name for p in (ROOT / "data/pictures").iterdir()])
def test_a_picture_is_small_and_shown(name):
    """A clone is not slowed down by pictures, and none is left over."""
    assert (ROOT / "data/pictures" / name).stat().st_size < 60_000
    assert name in {path.name for _, path in SHOWN.values()}
