"""Pages to read in a browser: one for each learner, and one of the class without names.

A learner's page has nobody else's words, no signs and no hidden tests. All that a
learner wrote is text there, and nothing is fetched or run. It knows no marks.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbook.classroom.results import PAPER, Graded, Paper
from workbook.classroom.roster import composed, folded
from workbook.classroom.table import write_whole
from workbook.exercises.catalogue import exercises, lessons
from workbook.exercises.display import as_message
from workbook.exercises.report import Outcome, Report, clip
from workbook.paths import template

LONGEST = 20_000  # characters of one text, such as a cell
WORST = COMMONEST = 5
RESULT = ("called", "returned", "raised", "stopped", "expected", "but")
UNGRADED = "could not be graded"
FAILED = (Outcome.WRONG, Outcome.RAISED)
NO_TEST = "its cell could not be read or run, so that no test was"
MADE_HERE = b'content="workbook"'
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def write_feedback(papers: Sequence[Paper], out: Path) -> list[Path]:
    """Write `feedback/<learner>.html` for each, and `feedback.html`, which lists them.

    The list has names: it stands outside the folder, which can be handed out as it is.
    A page that an earlier run wrote, of somebody who is not there now, is removed.
    """
    mine: dict[str, list[Paper]] = defaultdict(list)
    for paper in papers:
        mine[paper.learner].append(
            PAPER.validate_python(_visible(PAPER.dump_python(paper)))
        )
    names, rows, written = page_names(mine), [], []
    for learner, own in mine.items():
        graded = [(p.notebook, g) for p in own for g in p.graded]
        graded.sort(key=lambda each: [*exercises(), each[1].slug].index(each[1].slug))
        reports = [g.report for _, g in graded if g.report]
        open_ = [r for r in reports if r.outcome is not Outcome.PASSED]
        shown = {
            "learner": _visible(learner),
            "papers": own,
            "limits": dict.fromkeys(limit for p in own for limit in p.limits),
            "graded": graded,
            "reports": reports,
            "next": sorted(open_, key=_nearly_done)[:3],
            "passed": len(reports) - len(open_),
        }
        text = _page("feedback.html").render(**shown, message=as_message)
        written.append(write_whole(out / "feedback" / names[learner], text))
        rows.append((names[learner], shown))
    for old in {*(out / "feedback").glob("*.html")} - {*written}:
        if MADE_HERE in old.read_bytes()[:500]:  # by an earlier run, of who is gone
            old.unlink()
    text = _page("feedback_list.html").render(rows=rows)
    return [write_whole(out / "feedback.html", text), *written]


def write_class_page(papers: Sequence[Paper], out: Path) -> Path:
    """Write `class.html`: what fails most, by which test, with which results.

    A result stands there if two learners have it and no learner's name is in it.
    """
    found: dict[str, dict[str, Graded]] = defaultdict(dict)  # by exercise, by learner
    for paper in sorted(papers, key=lambda p: p.handed_in):
        for graded in paper.graded:
            before = found[graded.slug].get(paper.learner)
            if before is None or _end(graded) != Outcome.NOT_ATTEMPTED:
                found[graded.slug][paper.learner] = graded
    names_one = _naming({paper.learner for paper in papers})
    slugs = [slug for slug in exercises() if slug in found]
    rows = [_row(slug, [*found[slug].values()], names_one) for slug in slugs]
    rows.sort(key=lambda row: (-row["failed"] / row["of"], row["ends"][Outcome.PASSED]))
    times = sorted(paper.handed_in for paper in papers if paper.handed_in)
    text = _page("class.html").render(
        rows=rows,
        worst=[row for row in rows if row["failed"]][:WORST],
        learners=len({paper.learner for paper in papers}),
        graded=len({paper.learner for paper in papers if paper.graded}),
        total=sum((row["ends"] for row in rows), Counter()),
        times=[time[:16].replace("T", " ") for time in (times[:1] + times[-1:])],
    )
    return write_whole(out / "class.html", text)


def page_names(learners: Iterable[str]) -> dict[str, str]:
    """Return a file's name for each learner, which any system takes, and no two share.

    A name that had to be changed, or that differs from another only by its case, gets
    a few digits that depend on it alone, so that it is the same in every run.
    """
    stems = {learner: composed(learner) for learner in learners}
    seen = Counter(stem.casefold() for stem in stems.values())
    for learner, name in stems.items():
        stem = re.sub(r"[^\w-]+", "_", name).strip("_-")[:40]
        alone = stem == name and seen[name.casefold()] == 1
        if not (stem and alone) or RESERVED.fullmatch(stem):
            digest = hashlib.sha256(learner.encode("utf-8", "surrogatepass"))
            stem = f"{stem or 'learner'}-{digest.hexdigest()[:8]}"
        stems[learner] = f"{stem}.html"
    return stems


def _page(name: str) -> Any:
    ends = [*Outcome, UNGRADED]
    known = {"exercises": exercises(), "lessons": lessons(), "ends": ends}
    return template(f"classroom/{name}", **known)


def _nearly_done(report: Report) -> tuple[bool, float]:
    """Sort what is nearly done to the front, behind it what was not begun."""
    begun = report.outcome is not Outcome.NOT_ATTEMPTED
    return not begun, -report.passed / report.total if report.total else 0.0


def _visible(thing: Any) -> Any:
    """Return a value whose texts hide nothing: what cannot be seen is named."""
    if isinstance(thing, str):
        text = clip(thing.replace("\r\n", "\n"), LONGEST)
        return "".join(f"[U+{ord(c):04X}]" if _unseen(c) else c for c in text)
    if isinstance(thing, Mapping):
        return {key: _visible(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_visible(value) for value in thing]
    return thing


def _unseen(c: str) -> bool:
    """Joiners are no such: Persian names need them, and pictures of families."""
    return unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t\u200c\u200d"


def _naming(learners: Iterable[str]) -> Callable[[str], bool]:
    """Return whether a text has a part of somebody's name in it."""
    names = [re.sub(r"_\d+_assignsubmission_\w*$", "", each) for each in learners]
    words = {w for name in names for w in re.split("[ .@]", folded(name)) if w}
    long = {w for w in words if len(w) > 3 or not w.isascii()}
    short = {w for w in words - long if len(w) > 1 and not w.isdigit()}

    def names_one(text: str) -> bool:
        plain = folded(text)
        apart = re.split("[ .@]", plain)
        return any(w in plain for w in long) or not short.isdisjoint(apart)

    return names_one


def _end(graded: Graded) -> str:
    return graded.report.outcome if graded.report else UNGRADED


def _row(slug: str, graded: list[Graded], names_one: Callable[[str], bool]) -> Any:
    """Return what the class page says of one exercise."""
    ends = Counter(map(_end, graded))
    failed = [g.report for g in graded if g.report and _end(g) in FAILED]
    missed: Counter[str] = Counter()
    results: Counter[tuple[tuple[str, str], ...]] = Counter()
    for report in failed:
        said = [f.requirement if f.test else NO_TEST for f in report.failures]
        missed.update([*dict.fromkeys(said)])
        if report.failures and report.failures[0].test:
            evidence = [(a, _visible(b)) for a, b in report.failures[0].evidence]
            results[tuple(each for each in evidence if each[0] in RESULT)] += 1
    shared = [(r, n) for r, n in results.most_common() if n > 1 and r]
    named = [r for r, _ in shared if any(names_one(text) for _, text in r)]
    return {
        "exercise": exercises()[slug],
        "of": len(graded),
        "ends": ends,
        "failed": len(failed),
        "missed": missed.most_common(COMMONEST),
        "results": [(r, n) for r, n in shared if r not in named][:COMMONEST],
        "alone": sum(n == 1 for n in results.values()),
        "named": len(named),
    }
