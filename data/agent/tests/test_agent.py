"""The agent as a process, on an endpoint with a script."""

import importlib
import json
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from my_agent.project import Project
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

# A process that has imported what the agent needs, and forks; on Windows a new one.
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
READY = multiprocessing.get_context("forkserver" if FORKS else "spawn")
if FORKS:
    READY.set_forkserver_preload(["pytest", __name__, "my_agent.guards.untrusted"])


def be_the_command(home, words, known, streams):
    """Run the agent of a folder in this process, with files in place of a terminal."""
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR), number)
    opened = map(partial(open, encoding="utf-8"), range(3), "rww")
    sys.stdin, sys.stdout, sys.stderr = opened
    sys.stderr.reconfigure(errors="backslashreplace", line_buffering=True)
    for name in [name for name in sys.modules if name.startswith("my_agent")]:
        del sys.modules[name]
    os.chdir(home)
    os.environ.clear()
    os.environ |= known
    sys.argv, sys.path[:0] = words, [str(home)]
    sys.exit(importlib.import_module("my_agent.cli").main())


@pytest.fixture
def agent(tmp_path):
    """Return a function that runs a copy of the agent and returns its process.

    Its config.toml is empty, and its tools are example_tools.py.
    """
    home = tmp_path / "agent"
    left_out = shutil.ignore_patterns("state", ".*", "notes.txt")
    shutil.copytree(HOME / "my_agent", home / "my_agent", ignore=left_out)
    shutil.copy(HOME / "tests" / "example_tools.py", home / "my_agent" / "tools.py")
    (home / "my_agent" / "config.toml").write_text("files.state = '../state'")

    def run(*arguments, url="", typed="", **more):
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT")}
        known = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-never-shown"}
        streams = [tmp_path / name for name in ("stdin", "stdout", "stderr")]
        for path, text in zip(streams, (typed, "", ""), strict=True):
            path.write_text(text, "utf-8")
        words = ["my-agent", *map(str, arguments)]
        given = home, words, {**kept, **known, **more}, streams
        process = READY.Process(target=be_the_command, args=given, daemon=True)
        process.start()
        process.join(60)
        if process.is_alive():
            process.kill()
            pytest.fail(f"{words} has not ended after 60 s")
        printed = [path.read_text("utf-8") for path in streams[1:]]
        return subprocess.CompletedProcess(words, process.exitcode, *printed)

    run.home = home
    return run


def test_your_own_tools_can_be_listed(agent):
    """tools.py can be read, whatever is in it"""
    shutil.copy(HOME / "my_agent" / "tools.py", agent.home / "my_agent")
    done = agent("--tools")
    assert done.returncode == 0, done.stderr


def test_it_answers_with_function_calls(agent):
    """two calls in one turn are both made, and the answer is printed alone"""
    with endpoint(BOTH, "It is 411.5.") as server:
        done = agent("--model", "openai:fake", SUM, url=server.url)
    assert (done.returncode, done.stdout) == (0, "It is 411.5.\n"), done.stderr
    read = [m for m in server.asked[1]["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in read] == ["399.5", "12"]
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


def test_a_conversation_keeps_what_was_said_and_done(agent):
    """a later question is asked with earlier messages, calls and results"""
    typed = "What is 2 + 2?\nAnd twice that?\n/cost\n/mode plan\n/quit\n"
    with endpoint([call("calculator", {"expression": "2 + 2"})], "It is 4.", "8") as on:
        done = agent("--model", "fake", url=on.url, typed=typed)
        assert (done.returncode, done.stdout) == (0, "It is 4.\n8\n"), done.stderr
        roles = [message["role"] for message in on.asked[2]["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
        assert len(on.asked) == 3
        assert "3 steps, 1 calls" in done.stderr
        later = agent("--continue", "And again?", url=on.url)
    assert (later.returncode, later.stdout) == (0, "8\n"), later.stderr
    words = [message["content"] for message in on.asked[3]["messages"]]
    assert [*words[1:2], *words[4:]] == [
        "What is 2 + 2?", "It is 4.", "And twice that?", "8", "And again?",
    ]  # fmt: skip


def test_runs_are_listed_with_their_ends(agent):
    """a line a run, the last one at the end"""
    with endpoint([call("add_note", {"text": "x"})]) as server:
        agent("--model", "fake", "Note x", url=server.url)
    assert "waits" in agent("--list").stdout
    assert agent("--list").stdout.endswith("Note x\n")


def test_what_a_tool_prints_is_not_an_answer(agent):
    """standard output is one JSON object, whatever happens"""
    with endpoint(FIRST, "It is 399.5.") as server:
        done = agent("--model", "fake", "--json", "-", url=server.url, typed=SUM)
        assert json.loads(done.stdout)["answer"] == "It is 399.5."
        assert "a line of a tool" in done.stderr
    wrong = agent("--json", SUM)
    assert (wrong.returncode, json.loads(wrong.stdout)["state"]) == (2, "USAGE")


def test_a_write_waits_for_a_yes_and_can_be_answered_later(agent):
    """nobody at the terminal: it waits; resumed with a yes, it is done, and once"""
    turns = [call("add_note", {"text": "buy milk"})], "Noted."
    notes, trace = agent.home / "my_agent/notes.txt", agent.home / "run.jsonl"
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
    assert not (agent.home / "my_agent/notes.txt").exists()


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
        "It is fixed.",
    )
    with endpoint(*turns) as server:
        ask = ["--model", "fake", "--folder", place, "Fix the failing test."]
        done = agent(*ask, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "It is fixed.\n"), done.stderr
    assert "-    return n + n + 1\n+    return n + n\n" in done.stderr
    assert (place / "double.py").read_text() == BUG.replace(" + 1", "")
    passed = [json.loads(server.asked[n]["messages"][-1]["content"]) for n in (1, 4)]
    assert [each["passed"] for each in passed] == [False, True]
    assert sorted(p.name for p in place.iterdir()) == ["double.py", "test_double.py"]


def test_a_model_of_600_tokens_a_turn_changes_a_long_file(agent, tmp_path):
    """a call that was cut is not made; the model reads so, and edits a passage"""
    place, config = tmp_path / "project", agent.home / "my_agent/config.toml"
    place.mkdir()
    config.write_text("[model]\nturn_tokens = 600\n")
    long = "".join(f"LINE_{n} = {n}\n" for n in range(400)) + BUG
    (place / "double.py").write_text(long)
    (place / "test_double.py").write_text(TEST)
    whole = {"path": "double.py", "text": long.replace(" + 1", "")}
    edit = {"path": "double.py", "old": "n + n + 1", "new": "n + n"}
    turns = [call("write_file", whole, "a")], [call("edit_file", edit, "b")], "Done."
    with endpoint(*turns) as server:
        ask = ["--model", "fake", "--folder", place, "Fix the failing test."]
        done = agent(*ask, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert "cut" in server.asked[1]["messages"][-1]["content"]
    assert (place / "double.py").read_text() == whole["text"]


@pytest.mark.parametrize(
    ("file", "text", "word"),
    [
        ("config.toml", "[limits]\nstep = 3\n", "Did you mean steps?"),
        ("config.toml", "[limits\n", "no TOML"),
        ("config.toml", "[model]\nurl = 'http://'\n", "no URL"),
        (
            "tools.py",
            "from workbook.runtime.tools import tool\n\n\n@tool\ndef a(b):\n"
            "    return b\n",
            "tools.py, line 4: a: b has no type hint",
        ),
        ("tools.py", "def broken(:\n", "tools.py"),
        ("parts/saef_eval.py", "def saef_eval():\n    pass\n", "safe_eval.py"),
        ("parts/decide.py", "decide = 3\n", "parts/decide.py is broken"),
        ("parts/my_tool.py", "def my_tool():\n    return 3\n", "it owes a Tool"),
        ("parts/my_tool.py", "def my_tool():\n    return 1 / 0\n", "it owes a Tool"),
        ("parts/parse_turn.py", "def parse_turn(:\n", "parts/parse_turn.py, line 1"),
    ],
)
def test_a_broken_file_is_named(agent, file, text, word):
    """what is wrong with a file is named with its place, and the exit code is 2"""
    (agent.home / "my_agent" / file).write_text(text)
    done = agent("--model", "fake", SUM, url="http://127.0.0.1:9/v1")
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_what_waits_goes_on_with_the_command_that_is_printed(agent, tmp_path):
    """model and folder are in the trace; a yes is asked for whatever `writes` says"""
    place, other = tmp_path / "project", tmp_path / "other"
    place.mkdir()
    other.mkdir()
    (agent.home / "my_agent/config.toml").write_text('[approval]\nwrites = "later"\n')
    turns = [call("write_file", {"path": "v.py", "text": "V = 1\n"})], "Written."
    with endpoint(*turns) as server:
        ask = ["--model", "openai:fake", "--folder", place, "--trace", "later.jsonl"]
        waits = agent(*ask, "Write V.", url=server.url)
        assert waits.returncode == 4, waits.stderr
        command = waits.stderr.rpartition("my-agent ")[2].splitlines()[0].split()
        done = agent("--folder", other, *command, url=server.url, typed="yes\n")
        assert (done.returncode, "its folder was" in done.stderr) == (2, True)
        done = agent(*command, url=server.url, typed="yes\n")
    assert (done.returncode, done.stdout) == (0, "Written.\n"), done.stderr
    assert (place / "v.py").read_text() == "V = 1\n"
    assert not list(other.iterdir())
    assert agent("--replay", "later.jsonl").stdout == "Written.\n"


def test_a_later_run_may_do_it_again_unless_there_is_a_business_key(agent):
    """twice in one run is once; in another run it is done after its yes"""
    notes = agent.home / "my_agent/notes.txt"
    again = [call("add_note", {"text": "S"}, "again")]
    tools = agent.home / "my_agent/tools.py"
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
    trace, notes = agent.home / "run.jsonl", agent.home / "my_agent/notes.txt"
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
    assert agent("--settle").stdout.startswith('1  add_note {"text": "S"}\n')
    assert "  <- " in done.stderr
    assert notes.read_text() == "S\n"


def test_only_a_no_is_a_no(agent):
    """'not now' and 'nope' are asked about again; a no has its whole reason"""
    typed = "not now\nnope\nno, because it is late\n"
    with endpoint([call("add_note", {"text": "x"})], "Then not.") as server:
        done = agent("--model", "f", "Note x", url=server.url, typed=typed)
    assert done.stderr.count("Answer yes, always, no, later, or a JSON object.") == 2
    read = server.asked[1]["messages"][-1]["content"]
    assert "no to add_note: it is late." in read


def test_a_diff_shows_where_a_file_has_no_last_newline(tmp_path):
    """lines are lines, also the last one, and the ends of lines are no noise"""
    folder = Project(tmp_path, ["python"], 1)
    (tmp_path / "one").write_bytes(b"PORT = 80")
    diff = folder.diff_of_write("one", "PORT = 8080\n")
    assert "-PORT = 80\n\\ No newline at end of file\n+PORT = 8080\n" in diff
    (tmp_path / "two").write_bytes(b"a\r\nb\r\n")
    assert "\r" not in folder.diff_of_write("two", "a\r\nc\r\n")
    assert "-b\n+c\n" in folder.diff_of_write("two", "a\r\nc\r\n")
    assert "-b\\r\n+a\n" in folder.diff_of_write("two", "a\nb\n")
    assert folder.diff_of_write("two", "a\r\nb\r\n") == "nothing changes"


def test_an_endpoint_that_hangs_is_named_with_its_time(agent):
    """it is not the run's time that is over; the setting is named"""
    (agent.home / "my_agent/config.toml").write_text("[model]\nseconds = 1\n")
    with endpoint(30) as server:
        done = agent("--model", "f", SUM, url=server.url)
    assert done.returncode == 1
    assert "\nERROR: HostedModelError: 127.0.0.1 has not answered within 1 s" in (
        f"\n{done.stderr}"
    )
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
    (agent.home / "my_agent/config.toml").write_text(f"[limits]\n{limits}\n")
    with endpoint(FIRST) as server:
        done = agent("--model", "f", "--json", SUM, url=server.url)
    assert done.returncode == 3, done.stderr
    assert why in json.loads(done.stdout)["message"]


def test_a_run_that_ended_at_a_limit_goes_on(agent):
    """with more to spend, --resume asks the model again"""
    trace, config = agent.home / "run.jsonl", agent.home / "my_agent/config.toml"
    config.write_text("[limits]\nsteps = 1\n")
    with endpoint(FIRST, "It is 411.5.") as server:
        ask = ["--model", "f", "--trace", trace, SUM]
        assert agent(*ask, url=server.url).returncode == 3
        config.write_text("")
        done = agent("--resume", trace, url=server.url)
    assert (done.returncode, done.stdout) == (0, "It is 411.5.\n"), done.stderr


@pytest.mark.parametrize("question", ["-", None])
def test_a_closed_input_is_an_empty_one(agent, question):
    """no question, or an empty conversation: neither is a traceback"""
    command = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "my_agent"]
    command += ["--model", "f", *filter(None, [question])]
    more = {"env": os.environ | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}}
    more |= {"cwd": agent.home, "capture_output": True, "text": True}
    done = subprocess.run(command, **more)
    assert done.returncode == (2 if question else 0)
    assert "Traceback" not in done.stderr


def test_a_run_goes_on_whatever_the_rules_name(agent):
    """its tools are there when the rules are held against them; --list needs none"""
    trace, config = agent.home / "run.jsonl", agent.home / "my_agent/config.toml"
    with endpoint([call("add_note", {"text": "S"})], "Noted.") as server:
        ask = ["--model", "f", "--trace", trace, "Note S"]
        assert agent(*ask, url=server.url).returncode == 4
        config.write_text("approval.allow = ['add_note']")
        done = agent("--resume", trace, url=server.url, typed="yes\n")
        assert (done.returncode, done.stdout) == (0, "Noted.\n"), done.stderr
    assert agent("--list").returncode == 0


@pytest.mark.parametrize(
    "options", [["--nonsense"], ["--list"], ["--resume", "x", "Why?"], []]
)
def test_wrong_options_are_a_sentence_and_json(agent, options):
    """whatever is asked wrongly, --json prints one object"""
    done = agent("--json", *options, AGENT_MODEL="f", url="http://127.0.0.1:9/v1")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (2, "USAGE")


def test_what_cannot_be_done_is_said_at_once(agent):
    """an ended run is not resumed, and --json is not for a conversation"""
    trace = agent.home / "run.jsonl"
    with endpoint("It is 1\x1b[2J.") as server:
        done = agent("--model", "f", "--trace", trace, SUM, url=server.url)
    assert done.stdout == "It is 1?[2J.\n"
    for options, word in [(["--resume", trace], "has ended"), (["--json"], "--json")]:
        done = agent(*options, AGENT_MODEL="f", url="http://127.0.0.1:9/v1")
        assert (done.returncode, word in done.stderr) == (2, True), done.stderr
