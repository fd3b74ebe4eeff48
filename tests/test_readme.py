"""What the README says is so."""

import re
import tomllib
from pathlib import Path

import pytest

from workbook.__main__ import COMMANDS
from workbook.checks.catalogue import lessons

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *(ROOT / "notebooks").glob("*.[im][pd]*")]
KINDS = r"\.(?:ipynb|md|png|svg)"
LINK = re.compile(rf'(!?)\[([^]]*)\]\(((?!http)[^)#]+{KINDS})|<img src=\\?"([^"\\]+)')


def test_links_lead_somewhere_and_pictures_are_small():
    """Each link of a page has its file; a picture has words, and is on a page"""
    shown = set()
    for page in PAGES:
        for mark, words, link, image in LINK.findall(page.read_text(encoding="utf-8")):
            path = page.parent / (link or image)
            assert path.exists(), f"{page.name}: {path}"
            assert words or not mark, f"{page.name}: say what {link} shows"
            shown.add(path.resolve())
    for picture in (ROOT / "data/pictures").iterdir():
        assert picture in shown
        assert picture.stat().st_size < 60_000


def test_files_that_the_pages_name_are_there():
    """Whoever contributes finds each file and folder of the workbook"""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for path in re.findall(r"\b(?:tests|workbook)/[\w/]+(?:\.py|/)", text):
        if not path.endswith("your_name.py"):
            assert (ROOT / path).exists(), path


def test_every_command_is_explained():
    """Each command has its place in the reference, in classroom.md or in the README"""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [c for c in COMMANDS.choices if f"workbook {c}" not in text] == []


def test_each_command_is_complete():
    """Each makes the environment, installs the lock, and works; lessons come first"""
    to_lessons, to_tests = re.findall(r"```\n(.+)\n```", README)
    for command in (to_lessons, to_tests):
        make, install, work = command.split(" && ")
        assert make == "python3 -m venv .venv"
        assert " -r requirements.txt" in install
        assert work.startswith(".venv/bin/")
    assert to_lessons.endswith("default_url=/lab/tree/notebooks/index.ipynb")


@pytest.mark.parametrize("slug", [s for s, each in lessons().items() if not each.lab])
def test_the_map_agrees_with_the_lessons(slug):
    """Titles and minutes of the map are those of data/exercises/"""
    link = f"[{lessons()[slug].title}](notebooks/{slug}.ipynb)"
    assert f"| {slug[:2]} | {link} | {lessons()[slug].minutes} |" in README


def test_the_badges_are_true():
    """Python and license are those of the project; they need no network"""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    newer = about["requires-python"].replace(">=", "") + " or newer"
    for name, words in (("python", newer), ("license", about["license"])):
        badge = ROOT / f"data/pictures/badge_{name}.svg"
        assert f">{words}<" in badge.read_text(encoding="utf-8")


def test_it_is_short():
    """A visitor reads at most 600 words, whoever contributes 400 more"""
    parts = re.sub("<.*?>", "", README).split("## Contributing")
    words = [len(re.findall(r"\S*\w\S*", part)) for part in parts]
    assert words[0] <= 600
    assert words[1] <= 400
