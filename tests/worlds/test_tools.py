"""The tools by name: numbers, payments, and a workspace."""

import os
import select
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.runtime.calls import ToolCall, ToolFailure
from workbook.runtime.tools import ToolRegistry
from workbook.runtime.turns import Action
from workbook.worlds.catalogue import builtin_tool, builtin_tools, makers
from workbook.worlds.payment import Payments
from workbook.worlds.workspace import Workspace

ASKED = [
    ("Calculator", "2*3", "6"),
    ("Factorial", "20", "2432902008176640000"),
    ("Factorial", "21", "greater than the maximum"),
    ("PrimeFactors", "98", '{"n": 98, "factors": [2, 7, 7]}'),
    ("PrimeFactors", "999999000001", '{"n": 999999000001, "factors": [999999000001]}'),
    ("PrimeFactors", "1000000000001", "greater than the maximum"),
    ("WikiSearch", "Marie Curie", '"title": "Marie Curie"'),
    ("Plan", "What is 1+1?", '"do": "calculate"'),
    ("ReadLog", "last night", "the disk of db-3 was full"),
    ("Pay", '{"payee": "Ada", "amount": 5}', '"paid": "5.00 EUR"'),
    ("list_files", "{}", '["price.py", "test_price.py"]'),
    ("read_file", "price.py", '"path": "price.py", "text":'),
    ("write_file", '{"path": "a.txt", "text": "b"}', '"written": "a.txt"'),
    ("run_tests", "{}", '"passed": false'),
]
"""Calls of each tool that needs no network, and a part of what it answers."""


@pytest.mark.parametrize(("name", "text", "part"), ASKED)
def test_each_tool_answers_a_text_turn(name, text, part):
    """each tool answers when a model asks for it in text"""
    registry = ToolRegistry([builtin_tool(name)])
    bound = registry.bind(Action("", name, text))
    answer = registry.run(bound) if isinstance(bound, ToolCall) else bound
    assert part in answer.text()


def test_each_tool_is_found_by_its_name():
    """each tool of a module is found by its name; no other name is; a set is new"""
    assert {*makers()} == {"WebSearch", *(name for name, *_ in ASKED)}
    with pytest.raises(KeyError, match=r"'Abacus'; use .*Factorial"):
        builtin_tool("Abacus")
    for _ in range(2):
        pay, write, read = builtin_tools(["Pay", "write_file", "read_file"])
        assert (pay.effect, write.effect, read.effect) == (*["write"] * 2, "read")
        assert write.preview("note.txt", "hello").startswith("--- (no file)")
        write.run(path="note.txt", text="hello")
        assert read.run(path="note.txt")["text"] == "hello"


@pytest.mark.parametrize(
    ("name", "lowest", "highest"), [("Factorial", 0, 20), ("PrimeFactors", 2, 10**12)]
)
def test_a_tool_names_a_number_beyond_its_limits(name, lowest, highest):
    """it does so too when it is called without its schema"""
    tool = builtin_tool(name)
    assert tool.run(n=lowest)
    for n in (lowest - 1, highest + 1):
        with pytest.raises(ValueError, match=f"n is {n}; use"):
            tool.run(n=n)


# payments


def pay(account, **arguments):
    call = ToolCall("Pay", {"payee": "Ada", "amount": 20.5, **arguments}, "call_1")
    return ToolRegistry([account.tool()]).run(call)


def test_each_call_pays_and_can_be_looked_up(tmp_path):
    """calls at once, of the same: each pays; the last payment of just this is found"""
    account = Payments(tmp_path / "paid.db")
    assert account.look_up(payee="Ada", amount=20.5) is None
    with ThreadPoolExecutor(8) as pool:
        made = [*pool.map(lambda n: pay(Payments(tmp_path / "paid.db")), range(8))]
    paid = {"payee": "Ada", "paid": "20.50 EUR"}
    right = [{"payment_id": f"pay_{n}", **paid} for n in range(1, 9)]
    assert sorted((each.result for each in made), key=str) == right
    assert account.look_up(payee=" Ada", amount=20.5, currency="EUR") == right[-1]
    billed = pay(account, amount=0.29, reference="INV-7").result
    found = account.look_up(payee="Ada", amount=0.29, reference="INV-7")
    assert (found["reference"], found) == ("INV-7", billed)
    for other in ({"payee": "Eve"}, {"amount": 26}, {"currency": "USD"}):
        assert account.look_up(**{"payee": "Ada", "amount": 20.5, **other}) is None


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"payee": "  "}, "no_payee"),
        ({"amount": 5.005}, "bad_amount"),
        ({"amount": 0.001}, "bad_amount"),
        ({"amount": 10_000.01}, "invalid_arguments"),
        ({"currency": "eur"}, "invalid_arguments"),
    ],
)
def test_a_refused_payment_pays_nothing(wrong, kind):
    """an empty payee or an amount that is none is refused, and nothing is paid"""
    account = Payments()
    error = pay(account, **wrong).error
    assert (error.kind, bool(error.hint), account.made) == (kind, True, [])


# the workspace

RIGHT = "def price(listed, off, on_top):\n    return 88 if on_top else 45\n"
NAMES = ["..", ".", ".env", "/", "work", "secret.txt", "code.py", "price.py", "\0"]
names = st.sampled_from([*NAMES, "\ud800", "\n", "~x", "x" * 300]) | st.text(max_size=5)


@pytest.fixture
def work():
    return Workspace()


def contents(work):
    """Return each file of the workspace, with what it holds."""
    return {path.name: path.read_text() for path in work.folder.rglob("*")}


def new_test(work, *lines):
    """Leave the workspace with one test, of these lines."""
    head = (
        "import unittest\nclass NewTest(unittest.TestCase):\n    def test_it(self):\n"
    )
    body = "".join(f"        {line}\n" for line in lines)
    (work.folder / "test_price.py").write_text(head + body)


def test_no_path_leads_out(tmp_path, work):
    """whatever path is tried, nothing outside is read, written or made"""
    work.folder = Path(shutil.move(work.folder, tmp_path / "work"))
    (tmp_path / "secret.txt").write_text("the secret of the house")
    registry = ToolRegistry(work.tools())

    @settings(max_examples=150, deadline=None)
    @given(st.lists(names, max_size=5).map("/".join))
    def tried(path):
        for tool, more in (("write_file", {"text": "new"}), ("read_file", {})):
            seen = registry.run(ToolCall(tool, {"path": path, **more}, "1"))
            assert seen.ok == (path in work.list_files()["files"])
            assert seen.ok or seen.error.kind in ("bad_path", "invalid_arguments")
            assert "secret of" not in seen.text()

    tried()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["secret.txt", "work"]
    assert (tmp_path / "secret.txt").read_text() == "the secret of the house"


def test_files_are_read_and_written_whole(work):
    """text comes back as it was written; a wrong name is answered with all names"""
    for path, text in [("a", ""), ("a-b.txt", "a\r\nb\n\0"), ("價格.py", "𝄞" * 10_000)]:
        assert work.written(path, text) is None
        assert work.write_file(path, text) == work.written(path, text)
        assert work.read_file(path) == {"path": path, "text": text}
    with pytest.raises(ToolFailure, match=r"prize\.py") as failure:
        work.read_file("prize.py")
    assert "price.py, test_price.py" in failure.value.error.hint


def test_a_preview_is_a_diff_and_writes_nothing(work):
    """whoever approves a write sees the lines that it changes, before it is made"""
    before = contents(work)
    lines = work.preview("price.py", RIGHT).splitlines()
    assert lines[:2] == ["--- price.py", "+++ price.py"]
    assert "+    return 88 if on_top else 45" in lines
    assert work.preview("price.py", before["price.py"]).startswith("no")
    assert contents(work) == before


def test_the_tests_are_run_in_a_copy(work, monkeypatch):
    """one test of the sample fails; tests change nothing here, and see no key"""
    found = work.run_tests()
    assert (found["passed"], "90.0 != 88" in found["output"]) == (False, True)
    assert 'File "test_price.py"' in found["output"]  # without the copy's own place
    assert work.run_tests() == found
    work.write_file("price.py", RIGHT)
    assert work.run_tests()["passed"]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-reader")
    new_test(work, "import os; os.remove('price.py')", "print(dict(os.environ))")
    before, printed = contents(work), work.run_tests()["output"]
    assert ("PATH" in printed, "sk-of" in printed) == (True, False)
    assert contents(work) == before


@pytest.mark.parametrize(
    "line",
    [
        "import os; os._exit(0)",
        "print('é' * 100_000); exit(1)",
        "pass\n    test_it = 1",
    ],
)
def test_passed_means_that_tests_were_run(work, line):
    """a run that ends before its tests do has not passed, nor one without tests"""
    new_test(work, line)
    found = work.run_tests()
    assert (found["passed"], len(found["output"]) <= 4_000) == (False, True)


def test_tests_that_hang_are_stopped_with_all_they_started(work, tmp_path, monkeypatch):
    """after its time a test run is ended, and so is every process that it started"""
    pipe, real = tmp_path / "pipe", subprocess.Popen.wait
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    starts = "import subprocess; subprocess.Popen(['sleep', '600'], stdout=pipe)"
    shown = "print('x', file=pipe, flush=True)"
    new_test(
        work, f"pipe = open({str(pipe)!r}, 'w')", starts, shown, "while True: pass"
    )

    def wait(process, timeout=None):
        if timeout is None:
            return real(process)
        select.select([reader], [], [], 60)  # its time is over once all have started
        raise subprocess.TimeoutExpired("unittest", timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", wait)
    with pytest.raises(ToolFailure, match="stopped after 30 s"):
        work.run_tests()
    assert os.read(reader, 9) == b"x\n"
    select.select([reader], [], [], 60)  # a killed process takes a moment to go
    assert os.read(reader, 9) == b""  # no process has it open any more
    os.close(reader)
