"""The lessons as a class saw them: pages and slides that open without a network."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from pygments.formatters import HtmlFormatter

from workbook.checks.catalogue import CourseError, Lesson, exercises, lessons
from workbook.checks.display import template
from workbook.checks.export import whole_folder
from workbook.paths import DATA, ROOT

STUB = re.compile(r"^def (\w+)\(.*?(?=^\1 = check\(\1\))", re.DOTALL | re.MULTILINE)
HIDDEN = re.compile(r"^{}$|widget-view\+json|The workbook's [\w, ]+ runs? here: yours")


def handout(target: Path, *, solved: bool = False, only: Sequence[str] = ()) -> str:
    """Run notebooks, write them as pages into a new folder; CourseError: it is used."""
    found = [*lessons().values(), Lesson("demos", "The demos of the guide", 0)]
    chosen = [each for each in found if each.slug.startswith(tuple(only) or "")]
    if not chosen:
        raise CourseError(f"no notebook begins with {' or '.join(only)}")
    known: dict[str, Any] = {"lessons": chosen, "solved": solved}
    for name, style in (("light", "default"), ("dark", "github-dark")):
        known[name] = HtmlFormatter(style=style).get_style_defs(".highlight pre")
    page, deck = (template(f"classroom/{n}.html", **known) for n in ("handout", "deck"))
    with whole_folder(target) as whole, ThreadPoolExecutor(os.cpu_count()) as pool:
        shutil.copytree(DATA / "pages" / "reveal", whole / "reveal")
        notebooks = [read(lesson, solved) for lesson in chosen]
        for here, notebook in enumerate(pool.map(run, notebooks, chosen)):
            lesson, cells = chosen[here], as_html(notebook)
            for kind, form in ((".slides", deck), ("", page)):
                text = form.render(here=here, title=lesson.title, cells=cells)
                (whole / f"{lesson.slug}{kind}.html").write_text(text, "utf-8")
            line = f"{here + 1} of {len(chosen)}  {lesson.slug}"
            print(f"{line}  {text.count('output_error')} errors", file=sys.stderr)
        (whole / "index.html").write_text(page.render(here=None), "utf-8")
    return f"{target}: open index.html. It holds {len(chosen)} notebooks."


def read(lesson: Lesson, solved: bool) -> Any:
    """Return a notebook; `solved`, with our answers in place of its stubs."""
    notebook: Any = nbformat.read(lesson.notebook, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells if solved else ():
        if stub := STUB.search(cell.source):
            answer = exercises()[stub[1]].solution
            cell.source = cell.source.replace(stub[0], f"{answer}\n")
    return notebook


def run(notebook: Any, lesson: Lesson) -> Any:
    """Run all cells of a notebook, as a learner without a model of their own."""
    with tempfile.TemporaryDirectory() as own:
        known = {"WORKBOOK_DATA": own, "WORKBOOK_RECORD": "0", "WORKBOOK_MODEL": ""}
        client = NotebookClient(notebook, allow_errors=True, coalesce_streams=True)
        client.extra_arguments = ["--log-level=ERROR"]
        client.resources = {"metadata": {"path": str(lesson.notebook.parent)}}
        client.execute(env={**os.environ, **known})
    return notebook


def as_html(notebook: Any) -> list[tuple[Any, str]]:
    """Return each cell that is shown, and it with its outputs as HTML."""
    cells = [c for c in notebook.cells if "setup" not in c.metadata.get("tags", ())]
    for cell in cells:
        if cell.cell_type == "markdown":  # a picture is embedded from below `path`
            cell.source = re.sub(r"(\.\./)+data/", "data/", cell.source)
        else:
            cell.outputs = [
                o for o in cell.outputs if not HIDDEN.search(str(o.get("data")))
            ]
    notebook.cells = cells
    exporter: Any = HTMLExporter(template_name="basic", embed_images=True)  # type: ignore[no-untyped-call]
    body = exporter.from_notebook_node(notebook, {"metadata": {"path": str(ROOT)}})[0]
    body = re.sub(r'href="(?:labs/|\.\./)?(\w+)\.ipynb', r'href="\1.html', body)
    parts = re.split(r'(?=<div [^>]*class="cell border-box-sizing)', body)[1:]
    return [*zip(cells, parts, strict=True)]
