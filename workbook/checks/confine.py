"""What confines a stranger's notebook: a command in front of that of its process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from workbook.checks.catalogue import CourseError
from workbook.paths import ROOT

READ = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", sys.base_prefix, sys.prefix]
READ += [f"{ROOT}/{name}" for name in ("workbook", "tests", "data", "pyproject.toml")]
PASSED_ON = ["PATH", "LANG", "LC_ALL", "SYSTEMROOT", "HOME", "XDG_RUNTIME_DIR"]
OWN = ["bwrap", "--die-with-parent", "--cap-drop", "ALL"]
NOBODY = ["--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"]
APART = ["--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
APART += ["--unshare-uts", "--setenv", "HOME", "/tmp", "--chdir", "/tmp"]
APART += ["--perms", "1777", "--size", "67108864", "--tmpfs", "/tmp", "--dev", "/dev"]
LIMITS = ["--nproc=128", "--as=4294967296", "--fsize=16777216", "--nofile=256"]
MISSING = (
    "bubblewrap is not installed: without it a notebook could read your files and use"
    " your network. Install it (Debian: apt-get install bubblewrap), or use --wrapper"
    " 'docker run …', or --unconfined for authors you trust."
)


def environment() -> dict[str, str]:
    """Return the variables of a process that tests: no key of anybody."""
    known = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    known |= dict.fromkeys(("WORKBOOK_DATA", "WORKBOOK_CACHE"), "/tmp/nobody")
    return {**known, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def bubblewrap(*away: Path) -> list[str]:
    """Return a command that confines; CourseError: it cannot, or can read `away`."""
    if not shutil.which("bwrap"):
        raise CourseError(MISSING)
    read = sorted({*READ, *map(os.path.realpath, READ)})  # a folder before its files
    for path in away:
        if any(path.resolve().is_relative_to(place) for place in read):
            raise CourseError(f"Every notebook may read {path}: name another place.")
    is_root = os.getuid() == 0  # for whom no limit on processes holds: become nobody
    rights = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    command = [*OWN, *(rights if is_root else NOBODY), *APART]
    for folder in sorted({str(each) for place in read for each in Path(place).parents}):
        command += ["--perms", "0755", "--dir", folder]
    for place in read:
        command += ["--ro-bind-try", place, place]
    command += ["--proc", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]
    if is_root:
        command += ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        command += [*OWN, *NOBODY, "--dev-bind", "/", "/"]
    command += ["prlimit", *LIMITS, "--core=0"]
    trial = [*command, sys.executable, "-c", "import pytest, workbook"]
    tried = subprocess.run(trial, capture_output=True, text=True, env=environment())
    if tried.returncode:
        why = tried.stderr.strip().rpartition("\n")[2]
        raise CourseError(f"bubblewrap does not work here: {why}. See --wrapper.")
    return command
