"""What confines a stranger's notebook: the command in front of a worker's own.

Bubblewrap gives it namespaces of its own, no network, and a file system with nothing
but Python, the package and its tests, to be read and not written.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from workbook.exercises.catalogue import CourseError
from workbook.paths import ROOT

LIMITS = ("--nproc=128", "--as=4294967296", "--fsize=16777216", "--nofile=256")
NEEDED = [sys.base_prefix, sys.base_exec_prefix, sys.prefix]
NEEDED += [f"{ROOT}/{name}" for name in ("workbook", "tests", "data", "pyproject.toml")]
SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "HOME", "XDG_RUNTIME_DIR")  # no key
SCRATCH, SCRATCH_B = "/tmp", 64 * 2**20
MISSING = (
    "{} is not installed: without it a notebook could read your files and use your"
    " network. Install it (Debian: apt-get install bubblewrap), name a program that"
    " confines (--wrapper 'docker run …'), or say --unconfined for authors you trust."
)


def environment() -> dict[str, str]:
    """Return the variables that a worker is given, or the program that confines it."""
    known = {name: os.environ[name] for name in KEPT if name in os.environ}
    nobodys = dict.fromkeys(("WORKBOOK_DATA", "WORKBOOK_CACHE"), f"{SCRATCH}/nobody")
    return {**known, **nobodys, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


def bubblewrap(*away: Path) -> list[str]:
    """Return the command that confines a worker, after a trial.

    CourseError: a program is missing, it does not work here, or a folder that is to be
    kept `away` lies in one that Python or the tests need.
    """
    programs = {name: shutil.which(name) for name in ("bwrap", "prlimit", "setpriv")}
    for name, program in programs.items():
        if not program:
            raise CourseError(MISSING.format(name))
    for path in away:
        for place in NEEDED:
            if path.resolve().is_relative_to(Path(place).resolve()):
                words = f"{path} lies in {place}, which each notebook may read."
                raise CourseError(f"{words} Name a folder elsewhere.")
    command = _command(*map(str, programs.values()))
    trial = [*command, sys.executable, "-c", "import pytest, workbook"]
    tried = subprocess.run(trial, capture_output=True, text=True, env=environment())
    if tried.returncode:
        why = tried.stderr.strip().rpartition("\n")[2]
        raise CourseError(f"bubblewrap does not work here: {why}. See --wrapper.")
    return command


def _command(bwrap: str, prlimit: str, setpriv: str) -> list[str]:
    is_root = os.getuid() == 0  # for whom no limit on processes holds: made nobody
    own = [bwrap, "--die-with-parent", "--cap-drop", "ALL"]
    user = ["--unshare-user", "--disable-userns"]
    as_nobody = [*user, "--uid", "65534", "--gid", "65534"]
    to_become_one = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    command = [*own, *(to_become_one if is_root else as_nobody), "--new-session"]
    command += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--clearenv", "--chdir", SCRATCH]
    for name, value in {**environment(), "PYTHONPATH": str(ROOT)}.items():
        command += ["--setenv", name, SCRATCH if name == "HOME" else value]
    command += ["--perms", "1777", "--size", str(SCRATCH_B), "--tmpfs", SCRATCH]
    seen = {*NEEDED, *map(os.path.realpath, NEEDED), bwrap, prlimit, setpriv}
    for folder in sorted({parent for path in seen for parent in Path(path).parents}):
        command += ["--perms", "0755", "--dir", str(folder)]
    for path in SYSTEM:
        is_link = os.path.islink(path)
        source = os.readlink(path) if is_link else path
        command += ["--symlink" if is_link else "--ro-bind-try", source, path]
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for path in sorted(seen):  # a folder before what is in it
        command += ["--ro-bind", path, path]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--remount-ro", "/"]
    if is_root:
        command += ["--", setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]
        command += [*own, *user, "--dev-bind", "/", "/"]
    return [*command, "--", prlimit, *LIMITS, "--core=0"]
