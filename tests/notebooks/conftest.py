"""How a notebook is run: in a kernel of its own, as a learner's JupyterLab does."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture
def execute():
    """Return a function that runs a notebook from top to bottom, in place."""

    def run(notebook, timeout_s=180):
        client = NotebookClient(
            notebook,
            timeout=timeout_s,
            kernel_name="python3",
            resources={"metadata": {"path": str(NOTEBOOKS)}},
        )
        client.execute()
        return notebook

    return run


def lessons():
    """Return the paths of all lessons, in order."""
    return sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


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
