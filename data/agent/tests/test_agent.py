"""The agent as a process, on an endpoint that says what it is told."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fake_endpoint import call, endpoint, refusal

HOME = Path(__file__).resolve().parents[1]
SUM = "What is 17% of 2350, plus 12?"
FIRST = [call("calculator", {"expression": "2350 * 17 / 100"}, "a")]
BOTH = [*FIRST, call("calculator", {"expression": "12 + 0"}, "b")]
BUG = "def double(n):\n    return n + n + 1\n"
TEST = (
    "import unittest\nfrom double import double\n\n\nclass Test(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual(double(2), 4)\n"
)


@pytest.fixture
def agent(tmp_path):
    """Return a function that runs a copy of the agent and returns its process.

    Its config.toml is empty, and its tools are example_tools.py.
    """
    home = tmp_path / "agent"
    left_out = shutil.ignore_patterns("state", ".*", "venv", "notes.txt")
    shutil.copytree(HOME, home, ignore=left_out)
    shutil.copy(HOME / "tests" / "example_tools.py", home / "tools.py")
    (home / "config.toml").write_text("")

    def run(*arguments, url="", typed="", **more):
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT")}
        known = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-never-shown"}
        return subprocess.run(
            [sys.executable, "agent.py", *map(str, arguments)],
            cwd=home,
            env={**kept, **known, **more},
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
        )

    run.home = home
    return run


def test_your_own_tools_can_be_listed(agent):
    """tools.py can be read, whatever is in it"""
    shutil.copy(HOME / "tools.py", agent.home)
    done = agent("--tools")
    assert done.returncode == 0, done.stderr


def test_it_answers_with_function_calls(agent):
    """two calls in one turn are both made, and the answer is printed alone"""
    with endpoint(BOTH, "It is 411.5.") as server:
        done = agent("--model", "openai:fake", SUM, url=server.url)
    assert (done.returncode, done.stdout) == (0, "It is 411.5.\n"), done.stderr
    told = [m for m in server.asked[1]["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in told] == ["399.5", "12"]
    assert "sk-never-shown" not in done.stderr


def test_it_goes_on_with_text_turns(agent):
    """an endpoint that refuses tools is asked again, in text"""
    turn = "Thought: a sum\nAction: calculator\nAction Input: 399.5 + 12"
    turns = refusal(400, "tools are not supported"), turn, "Final Answer: 411.5"
    with endpoint(*turns) as server:
        done = agent("--model", "fake", SUM, url=server.url)
    assert (done.returncode, done.stdout) == (0, "411.5\n"), done.stderr
    assert "text turns" in done.stderr
    assert ["tools" in body for body in server.asked] == [True, False, False]


def test_without_a_model_it_says_how_to_set_one(agent):
    """no model is no answer: a paragraph, and exit code 2"""
    done = agent(SUM)
    assert (done.returncode, done.stdout) == (2, "")
    assert "OPENAI_API_KEY" in done.stderr


def test_a_conversation_keeps_what_was_said(agent):
    """a later question is asked with the earlier ones; commands are not questions"""
    typed = "What is 2 + 2?\nAnd twice that?\n/cost\n/mode plan\n/trace\n/quit\n"
    with endpoint("It is 4.", "It is 8.") as server:
        done = agent("--model", "fake", url=server.url, typed=typed)
    assert (done.returncode, done.stdout) == (0, "It is 4.\nIt is 8.\n")
    assert "It is 4." in server.asked[1]["messages"][-1]["content"]
    assert len(server.asked) == 2
    assert "2 questions" in done.stderr


def test_a_write_waits_for_a_yes_and_can_be_answered_later(agent):
    """nobody at the terminal: it waits; resumed with a yes, it is done, and once"""
    turns = [call("add_note", {"text": "buy milk"})], "Noted."
    notes, trace = agent.home / "notes.txt", agent.home / "run.jsonl"
    with endpoint(*turns) as server:
        ask = ["--model", "fake"]
        waits = agent(*ask, "--trace", trace, "Note: milk", url=server.url)
        assert (waits.returncode, notes.exists()) == (4, False), waits.stderr
        done = agent(*ask, "--resume", trace, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "Noted.\n"), done.stderr
    assert notes.read_text() == "buy milk\n"
    assert len(server.asked) == 2


def test_a_no_is_told_to_the_model(agent):
    """a person's no is an observation, and nothing is written"""
    with endpoint([call("add_note", {"text": "x"})], "Then not.") as server:
        done = agent("--model", "fake", "Note x", url=server.url, typed="no, never\n")
    assert (done.returncode, done.stdout) == (0, "Then not.\n")
    assert "never" in server.asked[1]["messages"][-1]["content"]
    assert not (agent.home / "notes.txt").exists()


def test_a_trace_is_written_replayed_and_never_overwritten(agent):
    """--replay asks nobody and comes to the same answer; another question is refused"""
    trace = agent.home / "run.jsonl"
    with endpoint(FIRST, "399.5") as server:
        ask = ["--model", "fake", "--trace", trace]
        assert agent(*ask, SUM, url=server.url).returncode == 0
        assert agent(*ask, SUM, url=server.url).returncode == 2
    again = agent("--replay", trace)
    assert (again.returncode, again.stdout) == (0, "399.5\n"), again.stderr
    assert "nothing is called" in again.stderr
    assert agent("--replay", trace, "Another question?").returncode == 2


def test_it_mends_a_folder_after_a_yes(agent, tmp_path):
    """a failing test is found, the change is shown as a diff, and the test passes"""
    place = tmp_path / "project"
    place.mkdir()
    (place / "double.py").write_text(BUG)
    (place / "test_double.py").write_text(TEST)
    edit = {"path": "double.py", "old": "n + n + 1", "new": "n + n"}
    turns = (
        [call("list_files", {}, "a"), call("run_tests", {}, "b")],
        [call("read_file", {"path": "double.py"}, "c")],
        [call("edit_file", edit, "d")],
        [call("run_tests", {}, "e")],
        "It is mended.",
    )
    with endpoint(*turns) as server:
        ask = ["--model", "fake", "--folder", place, "Mend the failing test."]
        done = agent(*ask, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "It is mended.\n"), done.stderr
    assert "-    return n + n + 1\n+    return n + n\n" in done.stderr
    assert (place / "double.py").read_text() == BUG.replace(" + 1", "")
    passed = [json.loads(server.asked[n]["messages"][-1]["content"]) for n in (1, 4)]
    assert [each["passed"] for each in passed] == [False, True]
    assert sorted(p.name for p in place.iterdir()) == ["double.py", "test_double.py"]


def test_a_model_of_600_tokens_a_turn_changes_a_long_file(agent, tmp_path):
    """a call that was cut is not made; the model is told, and edits a passage"""
    place, config = tmp_path / "project", agent.home / "config.toml"
    place.mkdir()
    config.write_text("[model]\nturn_tokens = 600\n")
    long = "".join(f"LINE_{n} = {n}\n" for n in range(400)) + BUG
    (place / "double.py").write_text(long)
    (place / "test_double.py").write_text(TEST)
    whole = {"path": "double.py", "text": long.replace(" + 1", "")}
    edit = {"path": "double.py", "old": "n + n + 1", "new": "n + n"}
    turns = [call("write_file", whole, "a")], [call("edit_file", edit, "b")], "Done."
    with endpoint(*turns) as server:
        ask = ["--model", "fake", "--folder", place, "Mend the failing test."]
        done = agent(*ask, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert "cut" in server.asked[1]["messages"][-1]["content"]
    assert (place / "double.py").read_text() == whole["text"]


@pytest.mark.parametrize(
    ("file", "text", "word"),
    [
        ("config.toml", "[limits]\nstep = 3\n", "Did you mean steps?"),
        ("config.toml", "[limits\n", "no TOML"),
        ("config.toml", "[model]\noptions = { max_tokens = 5 }\n", "turn_tokens"),
        ("config.toml", "[model]\noptions = { base_url = 'x' }\n", "by url"),
        ("config.toml", "[model]\noptions = { retries = 'x' }\n", "from 0"),
        ("config.toml", "[model]\noptions = { d = 2026-01-01 }\n", "be sent"),
        ("config.toml", "[approval]\ndeny = [3]\n", "use texts"),
        ("config.toml", "[approval]\ndeny = ['add_notes']\n", "add_note?"),
        ("config.toml", "[folder]\ntests = []\n", "tests is empty"),
        ("config.toml", "limits.money = 1\nprices.currency = 'USD'\n", "[prices]"),
        (
            "tools.py",
            "from workbook.runtime.tools import tool\n\n\n@tool\ndef a(b):\n"
            "    return b\n",
            "tools.py, line 4: a: b has no type hint",
        ),
        ("parts/saef_eval.py", "def saef_eval():\n    pass\n", "safe_eval.py"),
        ("parts/decide.py", "decide = 3\n", "parts/decide.py is broken"),
        ("tools.py", "def broken(:\n", "tools.py"),
        ("parts/parse_turn.py", "def parse_turn(:\n", "parts/parse_turn.py, line 1"),
    ],
)
def test_a_broken_file_is_named(agent, file, text, word):
    """what is wrong with a file is said with its place, and the exit code is 2"""
    (agent.home / file).write_text(text)
    done = agent("--model", "fake", SUM, url="http://127.0.0.1:9/v1")
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_what_waits_goes_on_with_the_command_that_is_printed(agent, tmp_path):
    """model and folder are in the trace; a yes is asked for whatever `writes` says"""
    place, other = tmp_path / "project", tmp_path / "other"
    place.mkdir()
    other.mkdir()
    (agent.home / "config.toml").write_text('[approval]\nwrites = "later"\n')
    turns = [call("write_file", {"path": "v.py", "text": "V = 1\n"})], "Written."
    with endpoint(*turns) as server:
        ask = ["--model", "openai:fake", "--folder", place, "--trace", "later.jsonl"]
        waits = agent(*ask, "Write V.", url=server.url)
        assert waits.returncode == 4, waits.stderr
        command = waits.stderr.rpartition("python agent.py ")[2].split()
        for wrong in (["--folder", other], ["--model", "b"], ["--mode", "plan"]):
            done = agent(*wrong, *command, url=server.url, typed="yes\n")
            assert (done.returncode, "later.jsonl: its" in done.stderr) == (2, True)
        done = agent(*command, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "Written.\n"), done.stderr
    assert (place / "v.py").read_text() == "V = 1\n"
    assert not list(other.iterdir())
    assert agent("--replay", "later.jsonl").stdout == "Written.\n"


def test_a_later_run_may_do_it_again_unless_there_is_a_business_key(agent):
    """twice in one run is once; in another run it is done after its yes"""
    notes, again = agent.home / "notes.txt", [call("add_note", {"text": "S"}, "again")]
    tools = agent.home / "tools.py"
    key = 'effect="write", business_key=("text",)'
    for wanted in ("S\n", "S\nS\n", "S\nS\nS\n", "S\nS\nS\n"):
        with endpoint([call("add_note", {"text": "S"})], again, "Noted.") as server:
            done = agent("--model", "f", "Note S", url=server.url, typed="yes\nyes\n")
        assert (done.returncode, notes.read_text()) == (0, wanted), done.stderr
        if wanted.count("S") == 2:
            tools.write_text(tools.read_text().replace('effect="write"', key))
    assert "done before" in done.stderr


def test_a_run_that_was_killed_in_a_write_is_shown_as_it_goes_on(agent):
    """what the resumed run does is shown, and that nobody knows of the write"""
    trace, notes = agent.home / "run.jsonl", agent.home / "notes.txt"
    with endpoint([call("add_note", {"text": "S"})], "Fine.") as server:
        ask = ["--model", "f", "--trace", trace, "Note S"]
        assert agent(*ask, url=server.url, typed="yes\n").returncode == 0
        lines = trace.read_text().splitlines(keepends=True)
        begun = next(n for n, line in enumerate(lines) if '"tool_call"' in line)
        trace.write_text("".join(lines[: begun + 1]))
        ledger = agent.home / "state" / "ledger.db"
        with sqlite3.connect(ledger) as db:
            db.execute("UPDATE claims SET result = NULL")
        done = agent("--resume", trace, url=server.url)
    assert (done.returncode, done.stdout) == (0, "Fine.\n"), done.stderr
    assert "nobody knows whether add_note was done" in done.stderr
    assert "  <- " in done.stderr
    assert notes.read_text() == "S\n"


def test_only_a_no_is_a_no(agent):
    """'not now' and 'nope' are asked about again; the reason of a no is told whole"""
    typed = "not now\nnope\nno, because it is late\n"
    with endpoint([call("add_note", {"text": "x"})], "Then not.") as server:
        done = agent("--model", "f", "Note x", url=server.url, typed=typed)
    assert done.stderr.count("Answer yes, no, later, or a JSON object.") == 2
    told = server.asked[1]["messages"][-1]["content"]
    assert "no to add_note: it is late." in told


def test_a_diff_shows_where_a_file_has_no_last_newline(tmp_path):
    """lines are lines, also the last one, and the ends of lines are no noise"""
    from workspace import Folder

    folder = Folder(tmp_path, ["python"], 1)
    (tmp_path / "one").write_bytes(b"PORT = 80")
    said = folder.diff_of_write("one", "PORT = 8080\n")
    assert "-PORT = 80\n\\ No newline at end of file\n+PORT = 8080\n" in said
    (tmp_path / "two").write_bytes(b"a\r\nb\r\n")
    assert "\r" not in folder.diff_of_write("two", "a\r\nc\r\n")
    assert "-b\n+c\n" in folder.diff_of_write("two", "a\r\nc\r\n")
    assert "-b\\r\n+a\n" in folder.diff_of_write("two", "a\nb\n")
    assert folder.diff_of_write("two", "a\r\nb\r\n") == "nothing changes"


def test_an_endpoint_that_hangs_is_named_with_its_time(agent):
    """it is not the run's time that is over; the setting is named"""
    (agent.home / "config.toml").write_text("[model]\nseconds = 1\n")
    with endpoint(30) as server:
        done = agent("--model", "f", SUM, url=server.url)
    assert done.returncode == 1
    assert "127.0.0.1 has not answered within 1 s" in done.stderr
    assert "[model] seconds" in done.stderr


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ("steps = 1", "it is the last step"),
        ("tool_calls = 1", "no tool call is left"),
        ("tokens = 1500", "of the tokens"),
    ],
)
def test_the_limit_that_ended_a_run_is_named(agent, limits, why):
    """exit code 3, and which limit it was, also for programs"""
    (agent.home / "config.toml").write_text(f"[limits]\n{limits}\n")
    with endpoint(FIRST) as server:
        done = agent("--model", "f", "--json", SUM, url=server.url)
    assert done.returncode == 3, done.stderr
    assert why in json.loads(done.stdout)["message"]


def test_a_run_that_ended_at_a_limit_goes_on(agent):
    """with more to spend, --resume asks the model again"""
    trace, config = agent.home / "run.jsonl", agent.home / "config.toml"
    config.write_text("[limits]\nsteps = 1\n")
    with endpoint(FIRST, "It is 411.5.") as server:
        ask = ["--model", "f", "--trace", trace, SUM]
        assert agent(*ask, url=server.url).returncode == 3
        config.write_text("")
        done = agent("--resume", trace, url=server.url)
    assert (done.returncode, done.stdout) == (0, "It is 411.5.\n"), done.stderr


def test_what_cannot_be_done_is_said_at_once(agent):
    """an ended run is not resumed, and --json is not for a conversation"""
    trace = agent.home / "run.jsonl"
    with endpoint("It is 1\x1b[2J.") as server:
        done = agent("--model", "f", "--trace", trace, SUM, url=server.url)
    assert done.stdout == "It is 1?[2J.\n"
    for options, word in [(["--resume", trace], "has ended"), (["--json"], "--json")]:
        done = agent(*options, AGENT_MODEL="f", url="http://127.0.0.1:9/v1")
        assert (done.returncode, word in done.stderr) == (2, True), done.stderr
