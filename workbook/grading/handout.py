"""The lessons as a class saw them: pages to read and slides, with outputs.

Each notebook is run once, in a kernel of its own. The local model's cells play their
recordings, and nobody's progress is touched. Nothing of it is loaded from afar.
"""

import ast
import importlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import CourseError, Lesson, exercises, lessons
from workbook.exercises.check import source_with_helpers
from workbook.exercises.export import whole_folder
from workbook.pages import template
from workbook.paths import DATA
from workbook.wait import waiting

DEMOS = Lesson("demos", "The demos of the guide", 0)
REVEAL = DATA / "pages" / "reveal"
LIGHT, DARK = "default", "github-dark"  # Pygments' names of its colours
CELL_TIMEOUT_S = 300
WIDGET = "application/vnd.jupyter.widget-view+json"
SHOWN = ["text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain"]
"""What is taken of an output that comes in several kinds: the first that is there."""


def handout(target: Path, *, solved: bool = False, only: Iterable[str] = ()) -> str:
    """Run the lessons and the demos, write them into a new or empty folder; say where.

    Args:
        solved: our functions stand in the exercises.
        only: the beginnings of names, where it is not to be all of them.

    CourseError: the folder holds something or cannot be written; then it is as before.
    """
    from pygments.formatters import HtmlFormatter

    begins = tuple(only) or ("",)
    chosen = [
        each for each in [*lessons().values(), DEMOS] if each.slug.startswith(begins)
    ]
    if not chosen:
        raise CourseError(f"no notebook begins with {' or '.join(begins)}")
    known: dict[str, Any] = {"lessons": chosen, "solved": solved}
    for name, style in (("light", LIGHT), ("dark", DARK)):
        known[name] = HtmlFormatter(style=style).get_style_defs(".highlight pre")
    page = template("classroom/handout.html", **known)
    deck = template("classroom/deck.html", **known)
    with whole_folder(target) as whole:
        shutil.copytree(REVEAL, whole / "reveal")
        notebooks = []
        with (
            waiting("running the notebooks", len(chosen)) as tick,
            ThreadPoolExecutor(os.cpu_count()) as pool,
        ):
            for notebook in pool.map(partial(run, solved=solved), chosen):
                notebooks.append(notebook)
                tick()
        for here, (lesson, notebook) in enumerate(zip(chosen, notebooks, strict=True)):
            cells = as_html(notebook)
            text = page.render(here=here, title=lesson.title, cells=cells)
            (whole / f"{lesson.slug}.html").write_text(text, encoding="utf-8")
            text = deck.render(here=here, title=lesson.title, columns=columns(cells))
            (whole / f"{lesson.slug}.slides.html").write_text(text, encoding="utf-8")
        text = page.render(here=None, title="The ReAct workbook", cells=[])
        (whole / "index.html").write_text(text, encoding="utf-8")
        size = sum(path.stat().st_size for path in whole.rglob("*")) / 1_000_000
    raised = [
        lesson.slug for lesson, n in zip(chosen, notebooks, strict=True) if _raised(n)
    ]
    told = f" A cell raised an error in {', '.join(raised)}." if raised else ""
    return f"{target}: open index.html. {len(chosen)} notebooks, {size:.1f} MB.{told}"


def run(lesson: Lesson, *, solved: bool) -> Any:
    """Return a lesson after Run All, by a learner without a model of their own."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(lesson.notebook, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [with_answers(c.source, lesson) if solved else c.source for c in code]
    for cell, source in zip(code, shown, strict=True):
        if source != cell.source:  # what an answer takes from its module, it imports
            cell.source = "\n".join([*_borrowed(cell.source, lesson), source])
    with tempfile.TemporaryDirectory() as own:
        known = {"WORKBOOK_DATA": own, "WORKBOOK_RECORD": "0", "WORKBOOK_MODEL": ""}
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT_S,
            allow_errors=True,
            kernel_name="python3",
            store_widget_state=False,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(lesson.notebook.parent)}},
        )
        client.execute(env={**os.environ, **known})
    for cell, source in zip(code, shown, strict=True):
        cell.source = source
        cell.outputs = [output for output in cell.outputs if _shown(output)]
    return notebook


def _shown(output: Any) -> bool:
    """Leave one kind in an output. None: a line that is over, or a widget alone.

    A widget comes with an output of its own, which is a page's.
    """
    if "data" in output:
        kinds = () if WIDGET in output.data else SHOWN
        first = next((kind for kind in kinds if kind in output.data), "")
        output.data = {first: output.data[first]} if first else {}
    return bool(output.get("data", True))


def _raised(notebook: Any) -> bool:
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    return any(output.output_type == "error" for output in outputs)


def with_answers(source: str, lesson: Lesson) -> str:
    """Return a cell with the package's function in place of each stub of the lesson."""
    lines = source.splitlines()
    for node in reversed(_stubs(source, lesson)):
        answer = source_with_helpers(exercises()[node.name].function())
        lines[node.lineno - 1 : node.end_lineno] = answer.splitlines()
    return "\n".join(lines)


def _stubs(source: str, lesson: Lesson) -> list[Any]:
    slugs = {each.slug for each in exercises().values() if each.lesson == lesson.slug}
    body = ast.parse(source).body
    return [node for node in body if getattr(node, "name", "") in slugs]


def _borrowed(source: str, lesson: Lesson) -> Iterator[str]:
    """Import all that the modules of the answers know, private names as well."""
    for node in _stubs(source, lesson):
        module = importlib.import_module(exercises()[node.name].function().__module__)
        names = [n for n in vars(module) if n.isidentifier() and n[:2] != "__"]
        names = [n for n in names if n not in ("annotations", node.name)]
        yield f"from {module.__name__} import {', '.join(names)}"


def as_html(notebook: Any) -> list[tuple[str, str]]:
    """Return each cell: where it stands in the deck, and with its outputs as HTML.

    Links to lessons lead to their pages. On paper nothing can be opened, so a card's
    rules are open, and so is what stands in a widget's place.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":  # a picture is embedded from below `path`
            cell.source = cell.source.replace("../data/", "data/")
    home = {"metadata": {"path": str(DATA.parent)}}
    body: str = _exporter().from_notebook_node(notebook, resources=home)[0]
    for other in lessons():  # a lab is in a folder of its own, its page is not
        for place in ("", "labs/", "../"):
            body = body.replace(f'href="{place}{other}.ipynb', f'href="{other}.html')
    body = body.replace("<details class='instead'>", "<details class='instead' open>")
    shown = []
    parts = re.split(r'(?=<div [^>]*class="cell border-box-sizing)', body)[1:]
    for cell, part in zip(notebook.cells, parts, strict=True):
        text = cell.cell_type == "markdown"
        opened = part.replace("<details>", "<details open>") if text else part
        shown.append((slide_type(cell), opened))
    return shown


@cache
def _exporter() -> Any:
    from nbconvert import HTMLExporter

    left_out = ("input_prompt", "output_prompt", "anchor_links")
    options: Any = {f"exclude_{name}": True for name in left_out}
    options["embed_images"] = True
    return HTMLExporter(template_name="basic", **options)  # type: ignore[no-untyped-call]


def slide_type(cell: Any) -> str:
    """Say where a cell stands in the deck: slide, subslide, "-" or skip."""
    return str(cell.metadata.get("slideshow", {}).get("slide_type", "-"))


def columns(cells: list[tuple[str, str]]) -> list[list[list[str]]]:
    """Return the deck: columns, the slides in each, the cells on each."""
    deck: list[list[list[str]]] = []
    for kind, cell in cells:
        if kind == "slide":
            deck.append([[]])
        elif kind == "subslide":
            deck[-1].append([])
        if kind != "skip":
            deck[-1][-1].append(cell)
    return deck
