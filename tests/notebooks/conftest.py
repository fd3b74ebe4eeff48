"""How a notebook is run: in a kernel of its own, as a learner's JupyterLab does."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
AT_ONCE = 2
"""Lessons that run side by side: each keeps one core busy."""

CELL_TIMEOUT_S = 300


def execute(prepare, parameters, progress):
    """Run a notebook from top to bottom and return it."""
    notebook, environment = prepare(**parameters)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    client.execute(env={**os.environ, "WORKBOOK_DATA": progress, **environment})
    return notebook


@pytest.fixture(scope="session")
def executed(request, tmp_path_factory):
    """Return a function that gives the notebook a test asked for, after its run.

    A test asks by its `prepared` mark: a function that returns the notebook and its
    environment. With the first of them all begin to run, two at a time.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {}
        for item in request.session.items:
            if mark := item.get_closest_marker("prepared"):
                prepare, parameters = mark.kwargs["by"], item.callspec.params
                progress = str(tmp_path_factory.mktemp("learner"))
                run = partial(execute, prepare, parameters, progress)
                runs[item.nodeid] = pool.submit(run)
        yield lambda item: runs[item.nodeid].result()
        pool.shutdown(cancel_futures=True)


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
