"""The lessons to read, as a small site that opens without a network.

Nothing is run: a page has the text and the code of its lesson, with the stubs as they
ship or with our functions in their place, and no outputs.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import Lesson, exercises, lessons
from workbook.exercises.check import source_with_helpers
from workbook.exercises.export import whole_folder
from workbook.pages import template
from workbook.paths import DATA

PAGE = "classroom/handout.html"
LIGHT, DARK = "default", "github-dark"  # Pygments' names of its colours


def handout(target: Path, *, solved: bool = False) -> str:
    """Write all lessons as pages into a new or empty folder, and say where.

    CourseError: the folder holds something or cannot be written; then it is as before.
    """
    from pygments.formatters import HtmlFormatter

    known: dict[str, Any] = {"lessons": list(lessons().values()), "solved": solved}
    for name, style in (("light", LIGHT), ("dark", DARK)):
        known[name] = HtmlFormatter(style=style).get_style_defs(".highlight pre")
    page = template(PAGE, **known)
    with whole_folder(target) as whole:
        for here, lesson in enumerate(known["lessons"]):
            body = lesson_body(lesson, solved=solved)
            text = page.render(here=here, title=lesson.title, body=body)
            (whole / f"{lesson.slug}.html").write_text(text, encoding="utf-8")
        text = page.render(here=None, title="The ReAct workbook", body="")
        (whole / "index.html").write_text(text, encoding="utf-8")
        size = sum(path.stat().st_size for path in whole.iterdir()) / 1_000_000
    return f"{target}: open index.html. {len(lessons())} notebooks, {size:.1f} MB."


def lesson_body(lesson: Lesson, *, solved: bool) -> str:
    """Return the cells of a lesson as HTML; links to other lessons lead to pages."""
    import nbformat

    notebook: Any = nbformat.read(lesson.notebook, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        if cell.cell_type == "code" and solved:
            cell.source = with_answers(cell.source, lesson)
        elif cell.cell_type == "markdown":  # a picture is embedded from below `path`
            cell.source = cell.source.replace("](../data/", "](data/")
    home = {"metadata": {"path": str(DATA.parent)}}
    body: str = _exporter().from_notebook_node(notebook, resources=home)[0]
    for other in lessons():  # a lab is in a folder of its own, its page is not
        for place in ("", "labs/", "../"):
            body = body.replace(f'href="{place}{other}.ipynb', f'href="{other}.html')
    return body


@cache
def _exporter() -> Any:
    from nbconvert import HTMLExporter

    options = {
        "template_name": "basic",
        "exclude_input_prompt": True,
        "embed_images": True,
    }
    return HTMLExporter(**options, exclude_anchor_links=True)  # type: ignore[no-untyped-call]


def with_answers(source: str, lesson: Lesson) -> str:
    """Return a cell with the package's function in place of each stub of the lesson."""
    lines = source.splitlines()
    for node in reversed(ast.parse(source).body):
        name = getattr(node, "name", "")
        if name in exercises() and exercises()[name].lesson == lesson.slug:
            answer = source_with_helpers(exercises()[name].function())
            lines[node.lineno - 1 : node.end_lineno] = answer.splitlines()
    return "\n".join(lines)
