"""How a notebook is run: in a kernel of its own, as a learner's JupyterLab does."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import IPython  # noqa: F401 - two threads that import it at once trip over each other
import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
POOL, RUNS = pytest.StashKey(), pytest.StashKey()
CELL_TIMEOUT_S = 300


def execute(prepare, parameters, folder):
    """Run a notebook from top to bottom, as a learner without a key, and return it."""
    notebook, environment = prepare(**parameters)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    own = {"WORKBOOK_DATA": folder, "OPENAI_API_KEY": "", "WORKBOOK_MODEL": ""}
    client.execute(env={**os.environ, **own, **environment})
    return notebook


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put those that wait for a lesson behind the tests that run meanwhile."""
    items.sort(key=lambda item: item.get_closest_marker("prepared") is not None)


def pytest_collection_finish(session):
    """Begin to run the lessons: one core runs them while the other runs the tests.

    A test asks for one by its `prepared` mark: a function that returns the notebook
    and its environment.
    """
    pool = session.stash[POOL] = ThreadPoolExecutor(max_workers=1)
    runs = session.stash[RUNS] = {}
    for item in session.items:
        if mark := item.get_closest_marker("prepared"):
            prepare, parameters = mark.kwargs["by"], item.callspec.params
            run = partial(execute, prepare, parameters, tempfile.mkdtemp())
            runs[item.nodeid] = pool.submit(run)


def pytest_sessionfinish(session):
    """Run no lesson that nobody waits for."""
    if pool := session.stash.get(POOL, None):
        pool.shutdown(cancel_futures=True)


@pytest.fixture
def executed(request):
    """The notebook that a test asked for, after its run."""
    return request.session.stash[RUNS][request.node.nodeid].result()


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
