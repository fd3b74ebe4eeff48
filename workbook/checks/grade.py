"""A folder of notebooks, graded: tables, a page for each learner, one of the class."""

import ast
import csv
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from workbook.checks.catalogue import CourseError, exercises
from workbook.checks.display import Grid, as_message, template
from workbook.checks.handed_in import NOTHING, Row, handed_in
from workbook.checks.parts import keep
from workbook.checks.process import Worker
from workbook.paths import ROOT

FORMULA = r"^([=+\-@\t\r\n])"  # what a spreadsheet would calculate begins so
COLUMNS = "learner notebook exercise outcome met of rule counts alike ours note problem"
MARKS = ("learner", "met", "of", "percent")
LEARNER = itemgetter("learner")
# What confines a stranger's notebook: a command in front of that of its process.
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


def collect(path: Path) -> Grid:
    """Test the answers in the notebooks at or below a path; keep those that pass."""
    table = []
    for notebook, own in groupby(handed_in(path), itemgetter("notebook")):
        for row in complete([*own]):
            outcome, why = row["outcome"], row["problem"] or row["rule"]
            if outcome == "passed":
                keep(row["slug"], row["text"])
                outcome = "kept"
            if row["slug"] or why != NOTHING:
                table.append((notebook, row["slug"], outcome, why))
    kept = sum(row[2] == "kept" for row in table)
    head = ("notebook", "exercise", "outcome", "")
    return Grid(head, table, f"{kept} kept; what was kept before stays")


def grade(
    folder: Path,
    out: Path | None = None,
    jobs: int | None = None,
    wrapper: str = "",
    unconfined: bool = False,
    lessons: Sequence[str] = (),
) -> int:
    """Grade a folder; return 0, or 1: not all can be graded. CourseError: wrong use."""
    folder = folder.absolute()
    out = out or folder.with_name(f"{folder.name}_graded")
    if out.resolve().is_relative_to(folder.resolve()):
        raise CourseError(f"{out} is in the folder that is graded. Name another one.")
    if (out / "marks.csv").exists():
        raise CourseError(f"{out} holds marks, which stay. Name a new folder.")
    try:
        command = shlex.split(wrapper)
    except ValueError as error:
        raise CourseError(f"--wrapper {wrapper!r} cannot be read: {error}.") from None
    if command and not shutil.which(command[0]):
        raise CourseError(f"--wrapper: there is no program {command[0]} here.")
    rows = handed_in(folder, lessons)
    confined = command or ([] if unconfined else bubblewrap(folder, out))
    out.mkdir(parents=True, exist_ok=True)
    books = [[*own] for _, own in groupby(rows, itemgetter("learner", "notebook"))]
    with ThreadPoolExecutor(max(1, jobs or os.cpu_count() or 1)) as pool:
        begun = partial(complete, wrapper=confined, env=environment())
        for done, (row, *_) in enumerate(pool.map(begun, books), start=1):
            line = f"{done} of {len(books)}  {row['learner']}  {row['notebook']}"
            print(f"{line}  {row['problem']}".rstrip(), file=sys.stderr, flush=True)
    _compare(rows)
    _write_tables(rows, out)
    write_pages(rows, out)
    print(f"{len(books)} notebooks. Tables and pages are in {out}.")
    return 1 if any(row["problem"] for row in rows) else 0


def complete(
    rows: Sequence[Row],
    wrapper: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Sequence[Row]:
    """Test a notebook's answers, in one process while it lives; return the rows."""
    worker = None
    for row in rows:
        try:
            if row["text"] and (worker is None or worker.ended):
                worker = Worker(wrapper, env)
            if row["text"] and worker:
                found = worker.test(row["slug"], row["text"])
                row["met"] = max(0, min(int(found["met"]), row["of"]))
                row["outcome"], row["note"] = str(found["outcome"]), str(found["note"])
                for each in found["failures"]:  # whatever an answer wrote in its name
                    failure = {"rule": str(each["rule"]), "test": str(each["test"])}
                    pairs = [(str(one), str(two)) for one, two in each["evidence"]]
                    row["failures"].append({**failure, "evidence": pairs})
        except Exception as error:  # the tests cannot run
            row["problem"] = f"{row['slug']}: {error}"
        row["attempted"] = row["outcome"] != "not attempted"
        row["rule"] = row["failures"][0]["rule"] if row["failures"] else ""
    if worker:
        worker.close()
    return rows


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


def _compare(rows: Sequence[Row]) -> None:
    best, alike = {}, dict[tuple[str, ...], set[str]]()
    for row in sorted(rows, key=itemgetter("met", "attempted")):
        slug, learner = row["slug"], row["learner"]
        best[learner, slug] = row  # of two with as many, the newest
        plain = row["text"]
        with suppress(Exception):  # it may be too deep
            plain = ast.unparse(ast.parse(plain))
        ours = rf"import .*\b{slug}\b|\.{slug}\b(?! import)|['\"]{slug}['\"]"
        row["ours"] = "workbook" in plain and bool(re.search(ours, plain))
        key = (slug, plain) if row["text"] and row["attempted"] else (slug, "", learner)
        row["alike"] = alike.setdefault(key, set())
        row["alike"].add(learner)
    for row in rows:
        row["counts"] = best[row["learner"], row["slug"]] is row
        row["alike"] = ", ".join(sorted(row["alike"] - {row["learner"]}))


def _write_tables(rows: Sequence[Row], out: Path) -> None:
    rows, marks = sorted(rows, key=LEARNER), list[Row]()
    for learner, own in groupby(rows, LEARNER):
        counted = [row for row in own if row["counts"]]
        met, of = (sum(row[name] for row in counted) for name in ("met", "of"))
        mark = {"learner": learner, "met": met, "of": of}
        mark["percent"] = round(100 * met / of) if of else ""
        for row in filter(itemgetter("lesson"), counted):
            mark[row["lesson"]] = mark.get(row["lesson"], 0) + row["met"]
        marks.append(mark)
    lessons = sorted({name for mark in marks for name in mark} - {*MARKS})
    results = [row | {"exercise": row["slug"]} for row in rows]
    _write_table(out / "results.csv", COLUMNS.split(), results)
    _write_table(out / "marks.csv", [*MARKS, *lessons], marks)


def _write_table(path: Path, head: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for row in rows:
            texts = [str(row.get(name, "")) for name in head]
            writer.writerow([re.sub(FORMULA, r"'\1", text) for text in texts])


def write_pages(rows: Sequence[Row], out: Path) -> None:
    """Write a page a learner, with no other's name in it, and one without any name."""
    (out / "feedback").mkdir(exist_ok=True)
    page = template(
        "classroom/feedback.html", exercises=exercises(), message=as_message
    )
    for name in {row["learner"] for row in rows}:
        file = re.sub(r"[^\w-]", "_", name)[:60]  # what any system takes for a file
        if file != name:  # or two names could be one
            file += f"-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"
        text = page.render(name=name, rows=[r for r in rows if r["learner"] == name])
        path = out / "feedback" / f"{file}.html"
        path.write_text(text, encoding="utf-8", errors="replace")
    found = []
    for slug, exercise in exercises().items():
        own = [row for row in rows if row["slug"] == slug and row["counts"]]
        failures = [each for row in own for each in row["failures"] if each["test"]]
        missed = Counter(each["rule"] for each in failures)
        found += [(exercise, own, missed.most_common())] if own else []
    text = template("classroom/class.html").render(exercises=found, rows=rows)
    (out / "class.html").write_text(text, encoding="utf-8", errors="replace")
