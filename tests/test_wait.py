"""What a cell waits for is said in one line, and the line is gone afterwards."""

import io
import threading

import nbformat
import pytest
from nbclient import NotebookClient

from workbook import wait as home
from workbook.runtime.model import Model
from workbook.stage.recordings import Waited
from workbook.wait import Waiting, waiting

CELL = """
import threading
from workbook import waiting as house
import workbook.wait as home
home.AFTER_S, home.EVERY_S = 0, 0.01
print("before")
with house("asking the model", total=4) as tick:
    tick(), tick(), tick()
    {wait}
print("after")
"""


class Watching(NotebookClient):
    """Runs a notebook and keeps each text that was shown in place."""

    seen = ()

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.seen = (*self.seen, msg["content"]["data"].get("text/plain"))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture
def at_once(monkeypatch):
    """Show the line at once, and anew every few milliseconds."""
    monkeypatch.setattr(home, "AFTER_S", 0)
    monkeypatch.setattr(home, "PLAIN_EVERY_S", 0.01)


class Screen(io.StringIO):
    """A stream that says when something was written to it."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        self.written.set()
        return super().write(text)


@pytest.mark.parametrize(
    ("done", "seconds", "said"),
    [
        (0, 5, "asking: 0 of 20, 5 s so far"),
        (5, 10, "asking: 5 of 20, about 30 s left"),
        (20, 40, "asking: 20 of 20, about 0 s left"),
    ],
)
def test_the_time_left_is_the_mean_of_what_is_done(done, seconds, said):
    """how many of how many, seconds that are gone, and about how many are left"""
    tick = Waiting("asking", 20)
    tick.done, tick.since = done, tick.since - seconds
    assert str(tick) == said


def test_the_tokens_of_a_long_call_are_counted():
    """one call says how many tokens were written"""
    tick = Waiting("asking")
    tick.wrote("to"), tick.wrote("ken")
    assert str(tick) == "asking, 0 s so far, 2 tokens written"


def test_a_quick_block_shows_nothing(capsys):
    """what takes less than a second has no line"""
    with waiting("nothing"):
        pass
    assert capsys.readouterr() == ("", "")


def test_outside_of_jupyter_it_is_a_line_of_text(at_once, monkeypatch):
    """elsewhere the line goes to stderr, with the inner wait behind it"""
    monkeypatch.setattr("sys.stderr", screen := Screen())
    with waiting("outer", total=2), waiting("inner"):
        screen.written.clear()
        assert screen.written.wait(5)
    said = "outer: 0 of 2, 0 s so far; inner, 0 s so far  (Ctrl-C stops it)"
    assert said in screen.getvalue().splitlines()
    assert not home._open


def test_an_exception_ends_the_line(at_once):
    """what raises in the block is raised, and nothing is waited for any more"""
    with pytest.raises(ZeroDivisionError), waiting("outer"):
        raise ZeroDivisionError
    assert not home._open
    assert all(thread.name != "waiting" for thread in threading.enumerate())


def test_in_jupyter_the_line_clears_itself():
    """a saved notebook holds no word of it"""
    wait = "threading.Event().wait(0.2)"
    cell = nbformat.v4.new_code_cell(CELL.format(wait=wait))
    client = Watching(nbformat.v4.new_notebook(cells=[cell]), kernel_name="python3")
    client.execute()
    assert client.seen[1].startswith("asking the model: 3 of 4, about 0 s left")
    assert client.seen[1].endswith("(■ stops it)")
    assert client.seen[-1] is None
    shown = [output.get("text", output.get("data")) for output in cell.outputs]
    assert shown == ["before\n", {}, "after\n"]


class Spoken(Model):
    """A model that writes three tokens, and returns who gets them."""

    name, streams = "spoken", True

    def respond(self, request):
        for piece in ("a", "b", "c"):
            request.on_text(piece)
        return request.on_text


def test_a_model_counts_its_tokens_aloud_unless_somebody_gets_them():
    """the counter stands in where nobody else gets the text"""
    received = []
    assert Waited(Spoken()).complete("").__self__.tokens == 3
    Waited(Spoken()).complete("", on_text=received.append)
    assert received == ["a", "b", "c"]
