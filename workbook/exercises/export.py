"""Your agent as a package of its own: your parts, what assembles them, their tests."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from workbook.exercises.answer import PART_IMPORT
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.your_agent import Part, path_of
from workbook.paths import DATA

TEMPLATE = DATA / "agent"
PLACES = {
    "agent.py": "agent.py",
    "parts.py": "your_agent/__init__.py",
    "test_agent.py": "tests/test_agent.py",
    "pyproject.toml": "pyproject.toml",
}


def export(target: Path) -> str:
    """Write your agent into a new or empty folder, and say what is in it.

    Each part is checked once more. CourseError: the folder holds something, cannot be
    written, or no part is yours.
    """
    own = [slug for slug in exercises() if Part(slug).whose == "yours"]
    stale = [slug for slug in exercises() if slug not in own and path_of(slug).exists()]
    if not own:
        raise CourseError(
            "No part of the agent is yours yet. Pass an exercise, or run"
            " `python -m workbook collect` to read your notebooks."
        )
    ours = [slug for slug in exercises() if slug not in own]
    said = f"Yours: {', '.join(own)}.\nOurs: {', '.join(ours) or 'none'}."
    if stale:
        said += f"\nLeft out, since they do not pass any more: {', '.join(stale)}."
    with whole_folder(target) as whole:
        _write(whole, own, said)
    target = target.expanduser().absolute()
    return f"Your agent is in {target}: python agent.py there answers.\n{said}"


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yield a folder that becomes `target` when the block ends well.

    CourseError: `target` holds something or cannot be written; then it is as before.
    """
    target = target.expanduser().absolute()
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise CourseError(f"{target} is no folder. Name a new one.")
    if target.is_dir() and any(target.iterdir()):
        raise CourseError(
            f"{target} is not empty. Name a new folder; nothing was done."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as beside:
            whole = Path(beside) / "whole"
            whole.mkdir()
            yield whole
            if target.is_dir():
                target.rmdir()
            os.replace(whole, target)  # all of it, or nothing
    except OSError as error:
        raise CourseError(f"{target} cannot be written: {error.strerror}.") from None


def _write(whole: Path, own: list[str], said: str) -> None:
    for name, place in PLACES.items():
        (whole / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TEMPLATE / name, whole / place)
    for slug in own:
        text = path_of(slug).read_text(encoding="utf-8")
        part = text.replace(PART_IMPORT, "from your_agent import part")
        (whole / "your_agent" / f"{slug}.py").write_text(part, encoding="utf-8")
    readme = Template((TEMPLATE / "README.md").read_text(encoding="utf-8"))
    readme_text = readme.substitute(SAID=said.replace("\n", "\n\n"))
    (whole / "README.md").write_text(readme_text, encoding="utf-8")
