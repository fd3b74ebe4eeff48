"""The tools by name: numbers, payments, a workspace; and the endpoint on loopback."""

import math
import os
import select
import shutil
import threading
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.runtime.calls import Effect, ToolCall, ToolFailure
from workbook.runtime.model import ToolRequest
from workbook.runtime.tools import ToolRegistry
from workbook.runtime.turns import Action
from workbook.worlds.catalogue import builtin_tool, builtin_tools, makers
from workbook.worlds.endpoint import endpoint
from workbook.worlds.payment import Payments
from workbook.worlds.workspace import Workspace

ASKED = {
    "Calculator": ("2*3", "6"),
    "Factorial": ("5", "120"),
    "PrimeFactors": ("91", '{"n": 91, "factors": [7, 13]}'),
    "WikiSearch": ("Marie Curie", '"title": "Marie Curie"'),
    "Plan": ("What is 1+1?", '"do": "calculate"'),
    "ReadLog": ("last night", "the disk of db-3 was full"),
    "Pay": ('{"payee": "Ada", "amount": 5}', '"paid": "5.00 EUR"'),
    "list_files": ("{}", '["price.py", "test_price.py"]'),
    "read_file": ("price.py", '"path": "price.py", "text":'),
    "write_file": ('{"path": "a.txt", "text": "b"}', '"written": "a.txt"'),
    "run_tests": ("{}", '"passed": false'),
}
"""One call of each tool that needs no network, and a part of what it answers."""


def test_each_tool_is_found_by_its_name():
    """each tool of a module is found by its name; no other name is; a set is new"""
    assert [builtin_tool(name).name for name in makers()] == list(makers())
    assert set(makers()) == {*ASKED, "WebSearch"}, "add a call of the new tool to ASKED"
    with pytest.raises(KeyError, match=r"'Abacus'; use .*Factorial"):
        builtin_tool("Abacus")
    for before in range(2):
        write, read = builtin_tools(["write_file", "read_file"])
        assert write.preview("note.txt", "hello").startswith("--- (no file)"), before
        write.run(path="note.txt", text="hello")
        assert read.run(path="note.txt")["text"] == "hello"


@pytest.mark.parametrize("name", ASKED)
def test_each_tool_answers_a_text_turn(name):
    """each tool answers when a model asks for it in text; two of them write"""
    registry, (text, part) = ToolRegistry([builtin_tool(name)]), ASKED[name]
    assert part in registry.run(registry.bind(Action("", name, text))).text()
    writes = registry[name].effect is Effect.WRITE
    assert writes == (name in ("Pay", "write_file"))


# numbers


@given(st.integers(-3, 10**9) | st.sampled_from([20, 21, 10**12, 10**12 + 1]))
@settings(max_examples=60, deadline=None)
def test_numbers_are_answered_exactly_within_their_limits(n):
    """n! up to 20, primes whose product is n up to 10**12; beyond, a refusal names n"""
    for name, fits in (("Factorial", 0 <= n <= 20), ("PrimeFactors", 2 <= n <= 10**12)):
        tool = builtin_tool(name)
        assert tool.validator.is_valid({"n": n}) == fits
        if not fits:
            with pytest.raises(ValueError, match=f"n is {n}; use"):
                tool.run(n=n)
        elif name == "Factorial":
            assert tool.run(n=n) == {"result": math.factorial(n)}
        else:
            factors = tool.run(n=n)["factors"]
            assert (math.prod(factors), factors) == (n, sorted(factors))
            assert all(f % d for f in {*factors} for d in range(2, math.isqrt(f) + 1))


# payments


@pytest.fixture(params=["memory", "file"])
def account(request, tmp_path):
    return Payments(tmp_path / "paid.db") if request.param == "file" else Payments()


def pay(account, **arguments):
    registry = ToolRegistry([account.tool()])
    return registry.run(ToolCall("Pay", arguments, "call_1"))


def test_each_call_pays_and_can_be_looked_up(account):
    """the same call pays twice; the last payment of just this is found, no other"""
    assert account.look_up(payee="Ada", amount=20.5) is None
    made = [pay(account, payee="Ada", amount=20.5).result for _ in range(2)]
    paid = {"payee": "Ada", "paid": "20.50 EUR"}
    assert made == [{"payment_id": f"pay_{n}", **paid} for n in (1, 2)]
    assert account.look_up(payee=" Ada", amount=20.5, currency="EUR") == made[1]
    billed = pay(account, payee="Ada", amount=0.29, reference="INV-7").result
    found = account.look_up(payee="Ada", amount=0.29, reference="INV-7")
    assert (found["reference"], found) == ("INV-7", billed)
    for other in ({"payee": "Eve"}, {"amount": 26}, {"currency": "USD"}):
        assert account.look_up(**{"payee": "Ada", "amount": 20.5, **other}) is None


def test_a_refused_payment_pays_nothing(account):
    """an empty payee or an amount that is none is refused, and nothing is paid"""
    for wrong, kind in [
        ({"payee": "  "}, "no_payee"),
        ({"amount": 5.005}, "bad_amount"),
        ({"amount": 0.001}, "bad_amount"),
        ({"amount": 10_000.01}, "invalid_arguments"),
        ({"currency": "eur"}, "invalid_arguments"),
    ]:
        error = pay(account, **{"payee": "Ada", "amount": 5, **wrong}).error
        assert (error.kind, bool(error.hint), account.made) == (kind, True, [])


def test_many_threads_pay_into_one_file(tmp_path):
    """payments made at once are all kept, each with a number of its own"""
    path = tmp_path / "payments.db"
    work = [
        threading.Thread(target=Payments(path).pay, kwargs={"payee": "A", "amount": 5})
        for _ in range(8)
    ]
    [thread.start() for thread in work]
    [thread.join() for thread in work]
    assert [paid.number for paid in Payments(path).made] == [*range(1, 9)]


# the workspace

NEW = "import unittest\n\n\nclass NewTest(unittest.TestCase):\n    def test_it(self):\n"
RIGHT = "def price(listed, off, on_top):\n    return 88 if on_top else 45\n"
SECRET = "the secret of the house"
NAMES = ["..", ".", ".env", "/", "link", "linked", "src", "code.py", "price.py", "\0"]
names = st.sampled_from([*NAMES, "\ud800", "\n", "~x", "x" * 300]) | st.text(max_size=5)


@pytest.fixture(scope="module")
def enclosed(tmp_path_factory):
    """Return a workspace with a secret beside its folder; links lead there."""
    house, work = tmp_path_factory.mktemp("house"), Workspace()
    work.folder = Path(shutil.move(work.folder, house / "work"))
    (house / "secret.txt").write_text(SECRET)
    (work.folder / ".env").write_text(SECRET)
    (work.folder / "src").mkdir()
    (work.folder / "link").symlink_to(house / "secret.txt")
    (work.folder / "linked").symlink_to(house)
    return work


@pytest.fixture
def work():
    return Workspace()


def contents(folder):
    """Return each file below a folder, with what it holds; links as what they are."""
    found = [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    return {each: each.is_symlink() or each.read_text() for each in found}


def observations(work, path):
    """Return what each tool that takes a path answers."""
    registry = ToolRegistry(work.tools())
    calls = [("write_file", {"text": "new"}), ("read_file", {})]
    return [registry.run(ToolCall(t, {"path": path, **more}, "1")) for t, more in calls]


def new_test(work, *lines):
    """Leave the workspace with one test, of these lines."""
    body = "".join(f"        {line}\n" for line in lines)
    (work.folder / "test_price.py").write_text(NEW + body)


@settings(max_examples=200, deadline=None)
@given(st.lists(names, max_size=5).map("/".join))
def test_no_path_leads_out(enclosed, path):
    """whatever path is tried, nothing outside is read, written or made"""
    inside, house = enclosed.folder, enclosed.folder.parent
    around = {k: v for k, v in contents(house).items() if inside not in k.parents}
    seen = observations(enclosed, path)
    assert seen[0].ok == (path in enclosed.list_files()["files"])
    assert {each.error.kind for each in seen if each.error} <= {
        "bad_path",
        "invalid_arguments",
    }
    assert SECRET not in "".join(each.text() for each in seen)
    after = {k: v for k, v in contents(house).items() if inside not in k.parents}
    assert (after, (inside / ".env").read_text()) == (around, SECRET)


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
    before = contents(work.folder)
    lines = work.preview("price.py", RIGHT).splitlines()
    assert lines[:2] == ["--- price.py", "+++ price.py"]
    assert "+    return 88 if on_top else 45" in lines
    new = work.preview("new.py", "x = 1\n")
    assert new == "--- (no file)\n+++ new.py\n@@ -0,0 +1 @@\n+x = 1\n"
    assert work.preview("price.py", before[work.folder / "price.py"]).startswith("no")
    assert contents(work.folder) == before


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
    before, printed = contents(work.folder), work.run_tests()["output"]
    assert ("PATH" in printed, "sk-of" in printed) == (True, False)
    assert contents(work.folder) == before


def test_passed_means_that_tests_were_run(work):
    """a run that ends before its tests do has not passed, nor one without tests"""
    for line in ("import os; os._exit(0)", "print('é' * 100_000); exit(1)"):
        new_test(work, line)
        found = work.run_tests()
        assert (found["passed"], len(found["output"]) <= 4_000) == (False, True)
    (work.folder / "test_price.py").unlink()
    assert not work.run_tests()["passed"]


def test_tests_that_hang_are_stopped_with_all_they_began(work, tmp_path):
    """after its time a test run is ended, and so is every process that it began"""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    new_test(
        work,
        "import subprocess",
        f"pipe = open({str(pipe)!r}, 'w')",
        "subprocess.Popen(['sleep', '60'], stdout=pipe)",
        "print('x', file=pipe, flush=True)",
        "while True: pass",
    )
    work.tests_s = 0.7
    with pytest.raises(ToolFailure, match=r"stopped after 0\.7 s"):
        work.run_tests()
    assert os.read(reader, 9) == b"x\n"
    select.select([reader], [], [], 5)  # a killed process takes a moment to go
    assert os.read(reader, 9) == b""  # nobody has it open to write any more
    os.close(reader)


# the endpoint


def test_the_endpoint_answers_as_openai_does():
    """a script's turns as completions: whole, and as a stream"""
    body = {"messages": [{"role": "user", "content": "hello"}], "stop": ["\n"]}
    with endpoint("one\ntwo", ToolRequest("Lift", {"up": 2}), "hello") as server:
        url = f"{server.url}/chat/completions"
        said, asked = (httpx.post(url, json=body).json() for _ in range(2))
        reply = httpx.post(url, json=body | {"stream": True})
    assert said["choices"][0]["message"]["content"] == "one"
    [call] = asked["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "Lift", "arguments": '{"up": 2}'}
    assert server.asked == [body, body, body | {"stream": True}]
    assert '"delta": {"role": "assistant", "content": "hello"}' in reply.text
    assert reply.text.endswith("data: [DONE]\n\n")
