"""The suite stays on this machine, and leaves nothing of the learner's touched.

Sockets beyond loopback are blocked by pytest-socket (see `addopts` in pyproject.toml).
"""

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_data_folder(tmp_path_factory):
    """Keep progress in a folder of the suite, and use no model and no key of yours."""
    before = dict(os.environ)
    os.environ["WORKBOOK_DATA"] = str(tmp_path_factory.mktemp("workbook_data"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "WORKBOOK_MODEL"):
        os.environ.pop(name, None)
    yield
    os.environ.clear()
    os.environ.update(before)
