"""How a notebook is run: in a kernel of its own, as a learner's JupyterLab does."""

import os
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from workbook.checks import catalogue

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
START_S, CELL_S = 120, 600


def execute(prepare, parameters, folder):
    """Run a notebook from top to bottom, as a learner without a key, and return it."""
    notebook, environment = prepare(**parameters)
    client = NotebookClient(
        notebook,
        timeout=CELL_S,
        startup_timeout=START_S,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )

    own = {"WORKBOOK_DATA": folder, "OPENAI_API_KEY": "", "WORKBOOK_MODEL": ""}
    client.execute(env={**os.environ, **own, **environment})
    return notebook


@pytest.fixture
def executed(request):
    """The notebook that a test asked for by its `prepared` mark, after its run."""
    mark = request.node.get_closest_marker("prepared")
    parameters = request.node.callspec.params
    return execute(mark.kwargs["by"], parameters, tempfile.mkdtemp())


def lessons():
    """Return the paths of all lessons and labs, in order."""
    return [lesson.notebook for lesson in catalogue.lessons().values()]


def read(path):
    """Return a notebook as nbformat's object."""
    return nbformat.read(path, as_version=4)


def text_outputs(cell):
    """Return everything that a cell showed, as one text."""
    parts = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            parts.append(output["text"])
        for kind in ("text/plain", "text/html"):
            parts.append(output.get("data", {}).get(kind, ""))
    return "\n".join(parts)
