"""The suite stays on this machine, and leaves nothing of the learner's touched.

Sockets beyond loopback are blocked by pytest-socket (see `addopts` in pyproject.toml).
"""

import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
# Each takes as long as all other files that share a browser.
LONG_WITH_A_BROWSER = "tests/browser/test_labs.py", "tests/browser/test_lessons.py"
# What takes longest, first; to measure, last.
PLACES = {"browser": 0, "checks": 2, "test_exercises.py": 2, "benchmarks": 4}

# With it jsonschema builds 38 grammars for addresses that no notebook has: two seconds
# of each process that reads one.
sys.modules.setdefault("rfc3987_syntax", None)

settings.register_profile("suite", deadline=None)  # a loaded core is not slow code
settings.load_profile("suite")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a suite in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests of Ctrl-C need it


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Two more than there are cores: tests wait for browsers, kernels and processes."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep a file on one core, for its fixtures, and what shares a browser.

    The lessons are shared out one by one: each runs in a process of its own.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            if file.startswith("tests/browser/") and file not in LONG_WITH_A_BROWSER:
                return "a browser"
            if file.startswith(("tests/notebooks/", "tests/test_exercises")):
                return nodeid.partition("[")[0] if "exercises" in file else nodeid
            return file

    config.option.loadscopereorder = False  # what takes longest comes first
    return Scheduling(config, log)


def place(item):
    """Return when a test's turn is: the smaller, the sooner."""
    if item.get_closest_marker("prepared"):
        return 1
    inside = TESTS in item.path.parents
    return PLACES.get(item.path.relative_to(TESTS).parts[0], 3) if inside else 3


def pytest_collection_modifyitems(config, items):
    """Leave out what takes long, unless CI is set or a file or folder was named."""
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    if not named and not os.environ.get("CI"):
        left_out = [item for item in items if item.get_closest_marker("in_ci")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
    items.sort(key=place)


@pytest.fixture(autouse=True, scope="session")
def own_data_folder(tmp_path_factory):
    """Keep progress in a folder of the suite, and use no model and no key of yours."""
    before = dict(os.environ)
    os.environ["WORKBOOK_DATA"] = str(tmp_path_factory.mktemp("workbook_data"))
    names = "OPENAI_API_KEY OPENAI_BASE_URL WORKBOOK_MODEL WORKBOOK_LOCAL_SERVER"
    for name in names.split():
        os.environ.pop(name, None)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """Keep progress in a folder of this test alone, and return it."""
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def kernel():
    """Return a function that runs a cell in a real kernel and returns what it shows."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")

    def run(source, form="text/plain"):
        shown = []

        def keep(message):
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    shown.append(content["text"])
                case "display_data" | "execute_result":
                    shown.append(
                        content["data"].get(form, content["data"]["text/plain"])
                    )
                case "error":
                    shown.append(f"{content['ename']}: {content['evalue']}")

        client.execute_interactive(
            textwrap.dedent(source), output_hook=keep, timeout=60, allow_stdin=False
        )
        return "\n".join(shown)

    assert run("from workbook import check, hint, progress, solution") == ""
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)
