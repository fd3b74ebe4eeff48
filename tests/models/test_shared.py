"""One model for all learners of a machine, in place of one in each kernel."""

import os
import socket
import subprocess
import sys

import pytest

from workbook.models import get_model, get_text_model
from workbook.models.choice import model_health
from workbook.models.local import (
    SHARED,
    LocalModelError,
    close_local_server,
    local_server,
    serve_model,
    shared_server,
)


@pytest.fixture(scope="module")
def address(real_weights):
    """Where a server answers that another process has started."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workbook", "serve-model", f"--port={port}"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        variable, _, found = server.stdout.readline().strip().partition("=")
        assert variable == SHARED
        yield found
    finally:
        server.kill()
        server.communicate()


@pytest.fixture
def shared(monkeypatch):
    """Return a function that names an address as the class's; undone afterwards."""
    close_local_server()
    yield lambda address: monkeypatch.setenv(SHARED, address)
    close_local_server()


def test_all_ask_the_one_server(address, shared):
    """Text model and chat client ask the named server, and load no weights."""
    shared(f"{address}/v1/")
    model = get_text_model("local", max_tokens=4)
    assert model.complete("One, two,").usage.output == 4
    assert model.count("One, two,") > 2
    assert get_model("local", max_tokens=4).invoke("Hello").content
    assert local_server().url == f"{address}/v1"
    assert not hasattr(local_server(), "_server")
    assert address in model_health("local")[1]


@pytest.mark.parametrize(
    "wrong", ["http://127.0.0.1:9", "127.0.0.1:9", "ftp://x", "http://[", "nonsense"]
)
def test_a_server_that_is_not_there_is_named(shared, wrong):
    """An address where no model answers is an error that names it and what to do."""
    shared(wrong)
    with pytest.raises(LocalModelError, match="serve-model") as error:
        local_server()
    assert wrong in str(error.value)
    well, _, fix = model_health("local")
    assert (well, SHARED in fix) == (False, True)


def test_another_service_is_not_taken_for_the_model(shared, tmp_path):
    """A port where something else answers is not the model."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    other = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        port = other.stdout.readline().split()[5].decode()
        shared(f"http://127.0.0.1:{port}")
        with pytest.raises(LocalModelError, match="does not answer there"):
            shared_server()
    finally:
        other.kill()
        other.communicate()


@pytest.mark.parametrize("port", [None, 70_000])
def test_a_port_that_cannot_be_had_is_said(port, monkeypatch):
    """A port that is taken, or is none, ends in words before the weights are read."""
    monkeypatch.setitem(os.environ, "WORKBOOK_CACHE", "/nowhere")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(LocalModelError, match="Choose another"):
            serve_model(port or taken.getsockname()[1])
