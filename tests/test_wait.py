"""A cell's wait is shown in one line, and the line is gone afterwards."""

import io
import re
import threading

import pytest

from workbook import wait as home
from workbook.runtime.model import Model
from workbook.stage.recordings import Waited
from workbook.wait import Waiting, waiting


class Screen(io.StringIO):
    """A stream that counts what is written to it."""

    def __init__(self):
        super().__init__()
        self.written = threading.Semaphore(0)

    def write(self, text):
        super().write(text)
        self.written.release()


@pytest.mark.parametrize(
    ("total", "done", "tokens", "expected"),
    [
        (20, 0, 0, "asking: 0 of 20, 10 s so far"),
        (20, 5, 0, "asking: 5 of 20, about 30 s left"),
        (None, 0, 2, "asking, 10 s so far, 2 tokens written"),
    ],
)
def test_the_time_left_is_the_mean_of_what_is_done(
    monkeypatch, total, done, tokens, expected
):
    """how many of how many, seconds that are gone, and about how many are left"""
    now = 0
    monkeypatch.setattr(home.time, "perf_counter", lambda: now)
    tick, now = Waiting("asking", total), 10
    for _ in range(done):
        tick()
    for _ in range(tokens):
        tick.wrote("token")
    assert str(tick) == expected


def test_a_quick_block_shows_nothing(capsys, monkeypatch):
    """what takes less than a second has no line"""
    monkeypatch.setattr(home, "AFTER_S", 600)
    with waiting("nothing"):
        pass
    assert capsys.readouterr() == ("", "")


def test_outside_of_jupyter_it_is_a_line_of_text(monkeypatch):
    """elsewhere the line goes to stderr, the inner wait after the outer one

    What raises in the block is raised, and then nothing is waited for any more.
    """
    monkeypatch.setattr(home, "AFTER_S", 0)
    monkeypatch.setattr(home, "PLAIN_EVERY_S", 0.01)
    monkeypatch.setattr("sys.stderr", screen := Screen())
    with pytest.raises(ZeroDivisionError):
        read_lines(screen)
    line = r"outer: 0 of 2, \d+ s so far; inner, \d+ s so far  \(Ctrl-C stops it\)\n"
    assert re.search(line, screen.getvalue())
    assert not home._open
    assert all(thread.name != "waiting" for thread in threading.enumerate())


def read_lines(screen):
    with waiting("outer", 2), waiting("inner"):
        screen.written = threading.Semaphore(0)
        for _ in range(4):  # a line is written in two pieces, and one is under way
            screen.written.acquire(timeout=60)
        names = [thread.name for thread in threading.enumerate()]
        assert names.count("waiting") == 1  # one line for both
        raise ZeroDivisionError


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
