"""One budget for several runs, in threads and in processes."""

import subprocess
import sys
import threading

import pytest

from workbook.fsm.table import Event
from workbook.guardrails.budget import OUT_OF_TOKENS, Budget, NextCall
from workbook.guardrails.purse import Purse, PurseError
from workbook.models.base import Usage

CALL = NextCall("model", 60, 40)


@pytest.fixture(params=["in memory", "in a file"])
def purse(request, tmp_path):
    path = tmp_path / "purse.json" if request.param == "in a file" else None
    return Purse(Budget(tokens=250, steps=5, tool_calls=1), path)


def test_what_is_reserved_counts_as_spent(purse):
    """a third call of a hundred tokens is not promised while two are under way"""
    assert [purse.reserve(CALL) for _ in range(3)] == [None, None, OUT_OF_TOKENS]
    assert purse.spent().usage == Usage(120, 80)
    assert purse.room(input_tokens=20) == 30


def test_what_was_not_needed_is_given_back(purse):
    """once a call is settled, only what it did cost is spent"""
    purse.reserve(CALL)
    purse.settle(CALL, Usage(60, 5, 50))
    assert purse.spent().usage == Usage(60, 5, 50)
    assert (purse.spent().steps, purse.reserve(CALL)) == (1, None)


def test_a_call_that_was_not_made_costs_no_tokens(purse):
    """a reserved call that failed gives all its tokens back; it was a step"""
    purse.reserve(CALL)
    purse.settle(CALL)
    assert (purse.spent().usage, purse.spent().steps) == (Usage(), 1)


def test_tool_calls_are_shared_too(purse):
    """the second tool call of all runs together is one too many"""
    tool = NextCall("tool")
    words = [purse.reserve(tool) for _ in range(2)]
    assert words == [None, Event.OUT_OF_TOOL_CALLS]
    assert purse.spent().tool_calls == 1


def test_threads_share_it(purse):
    """of twenty threads that ask at once, two get a promise"""
    words = []
    threads = [
        threading.Thread(target=lambda: words.append(purse.reserve(CALL)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(words, key=str).count(None) == 2


def test_another_process_finds_what_was_spent(tmp_path):
    """two processes that ask at once get no more than there is, and it stays spent"""
    path = tmp_path / "purse.json"
    code = (
        "import sys\n"
        "from workbook.guardrails.budget import Budget, NextCall\n"
        "from workbook.guardrails.purse import Purse\n"
        "purse, call = Purse(Budget(tokens=1000, steps=99), sys.argv[1]),"
        " NextCall('model', 6, 4)\n"
        "print(sum(purse.reserve(call) is None for _ in range(90)))"
    )
    command = [sys.executable, "-c", code, str(path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    granted = [int(process.communicate(timeout=60)[0]) for process in both]
    after = Purse(Budget(tokens=1000, steps=200), path)
    assert sum(granted) == after.spent().steps == 99
    assert after.spent().usage == Usage(594, 396)
    assert after.reserve(NextCall("model", 10, 1)) == OUT_OF_TOKENS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"spent": {"usage": {}, "steps": -1}, "reserved": {}}',
        '{"spent": {"usage": {}, "steps": "1"}, "reserved": {}}',
        '{"spent": {"usage": {"input": true}}, "reserved": {}}',
        '{"spent": {"usage": {}, "days": 1}, "reserved": {}}',
        '{"spent": {"usage": {}}, "reserved": {"input": NaN}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_said_and_spends_nothing(text, tmp_path):
    """what is not as it was written ends in a sentence with the file and what to do"""
    path = tmp_path / "purse.json"
    path.write_text(text)
    purse = Purse(Budget(tokens=250), path)
    with pytest.raises(PurseError, match=r"purse\.json cannot be read .* Mend it"):
        purse.reserve(CALL)
    assert path.read_text() == text
