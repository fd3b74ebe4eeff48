"""The agent in a program: its answers, its project, its conversation, its people."""

import asyncio
import contextlib
import io
import itertools
import math
import threading
from datetime import date

import pytest
from my_agent import Agent, Reject, UsageError, cli, models, runs, tool, yes
from my_agent.parts import PartError, _checked
from my_agent.project import Project
from my_agent.runtime.model import Model, Response, ToolRequest

numbers = itertools.count(1)


class Turns(Model):
    """A model that plays turns, one a request, and keeps what it was asked."""

    name, streams = "turns", True

    def __init__(self, turns):
        self.turns, self.asked = list(turns), []

    def respond(self, request):
        self.asked.append(list(request.parts))
        turn = self.turns.pop(0)
        turn = turn() if callable(turn) else turn
        if isinstance(turn, ToolRequest):
            return Response(calls=[turn])
        return Response(turn)


def calls(name, **arguments):
    """Return a turn that calls a tool."""
    return ToolRequest(name, arguments, f"call_{next(numbers)}")


@pytest.fixture
def agent(tmp_path):
    """Return what makes an agent on turns; its state is in a folder of its own."""

    def make(*turns, tools=(), config=None, **more):
        tables = {"files": {"state": str(tmp_path / "state")}, **(config or {})}
        return Agent(Turns(turns), list(tools), config=tables, **more)

    return make


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@pytest.fixture
def pay():
    """Return a tool that writes, and what it has paid."""

    @tool(effect="write")
    def pay(amount: int) -> str:
        """Pays an amount."""
        made.append(amount)
        return "paid"

    made = []
    return pay, made


def test_a_function_is_a_tool(agent):
    """typed functions as they are; the answer, the end and the trace are data"""
    ended = agent(calls("add", a=1, b=2), "It is 3.", tools=[add]).ask("1 + 2?")
    assert (ended.answer, ended.state) == ("It is 3.", "DONE")
    assert ended.spent.tool_calls == 1
    assert ended.trace.of("observation")[0]["result"] == {"result": 3}


def test_an_async_tool_runs_in_the_loop_that_asks(agent):
    """`ask_async` leaves the loop free, and async tools run in it"""
    loops = []

    async def later(n: int) -> int:
        """Answers after a turn of the loop."""
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        return n + 1

    async def main():
        mine = [agent(calls("later", n=n), f"{n}", tools=[later]) for n in (1, 2)]
        ends = await asyncio.gather(*(each.ask_async("?") for each in mine))
        return [end.answer for end in ends], asyncio.get_running_loop()

    answers, loop = asyncio.run(main())
    assert (answers, loops) == (["1", "2"], [loop, loop])


def test_a_cancelled_task_ends_the_run(agent):
    """what a call did stays in the conversation, and the next question is asked"""
    begun, over = threading.Event(), threading.Event()

    def hangs():
        begun.set()
        over.wait(300)

    mine = agent(calls("add", a=1, b=2), hangs, "Then not.", tools=[add])

    async def main():
        task = asyncio.create_task(mine.ask_async("1 + 2?"))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    try:
        asyncio.run(main())
        assert runs.read_trace(mine.trace).end["state"] == "CANCELLED"
        assert mine.ask("Rather say no.").answer == "Then not."
    finally:
        over.set()
    roles = [part["role"] for part in mine.model.asked[-1]]
    assert roles == ["system", "question", "model", "result", "note", "question"]


def test_an_approver_is_a_function(agent, pay):
    """it gets what would be called, and its no is read by the model"""
    tool, made = pay
    asked = []

    def no(request):
        asked.append((request.tool.name, request.call.arguments))
        return Reject("too much")

    mine = agent(calls("pay", amount=5), "Not paid.", tools=[tool], approver=no)
    assert mine.ask("Pay 5").answer == "Not paid."
    assert (asked, made) == ([("pay", {"amount": 5})], [])
    assert "too much" in mine.model.asked[-1][-1]["text"]


def test_an_approver_may_be_async_and_is_not_waited_for_when_it_ends(agent, pay):
    """it runs in the loop that asks; a cancelled question ends, whoever thinks"""
    tool, made = pay
    thinks = asyncio.Event

    async def says_yes(request):
        await asyncio.sleep(0)
        return yes(request)

    async def main():
        mine = agent(calls("pay", amount=5), "Paid.", tools=[tool], approver=says_yes)
        assert (await mine.ask_async("Pay 5")).answer == "Paid."
        mine = agent(calls("pay", amount=6), tools=[tool])
        mine.approver = lambda request: thinks().wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(mine.ask_async("Pay 6"), 0.5)

    asyncio.run(asyncio.wait_for(main(), 60))
    assert made == [5]


def test_an_agent_is_asked_one_thing_at_a_time(agent):
    """a second question would lose the first one's conversation"""

    async def main():
        mine = agent("Yes.", "No.")
        asked = [mine.ask_async("?") for _ in range(2)]
        return await asyncio.gather(*asked, return_exceptions=True)

    ends = asyncio.run(main())
    assert [type(end).__name__ for end in ends].count("UsageError") == 1


def test_many_agents_run_at_once_and_one_that_is_cancelled_early_ends(agent):
    """no agent waits for another one's thread, and none goes on after its cancel"""
    all_there, over = threading.Barrier(20), threading.Event()

    def waits():
        all_there.wait(60)
        return "Yes."

    def hangs():
        over.wait(300)

    async def main():
        asked = [agent(waits).ask_async("?") for _ in range(20)]
        assert {end.answer for end in await asyncio.gather(*asked)} == {"Yes."}
        early = asyncio.create_task(agent(hangs).ask_async("?"))
        await asyncio.sleep(0)
        early.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(early, 60)

    try:
        asyncio.run(main())
    finally:
        over.set()


@pytest.mark.parametrize("wrong", [{"mode": "paln"}, {"folder": "/no/such/folder"}])
def test_a_wrong_argument_is_a_usage_error(agent, wrong):
    """at once, and not in the first run"""
    with pytest.raises(UsageError):
        agent(**wrong)


def test_nobody_is_asked_about_an_edit_that_cannot_be_made(agent, tmp_path):
    """the model reads why, and a person does not"""
    (tmp_path / "a.py").write_text("one = 1\n")
    edit = calls("edit_file", path="a.py", old="two", new="three")
    mine = agent(edit, "I cannot.", folder=tmp_path, approver=lambda request: 1 / 0)
    assert mine.ask("Edit").answer == "I cannot."
    assert "the passage is in a.py 0 times" in mine.model.asked[-1][-1]["text"]


def test_always_is_for_one_tool_in_one_run(agent, pay):
    """the second call asks nobody; the next run asks again"""
    tool, made = pay
    asked = []

    def always(request):
        asked.append(request.call.arguments)
        mine.always.add("pay")
        return yes(request)

    turns = [calls("pay", amount=1), calls("pay", amount=2), "Paid."]
    mine = agent(*turns, calls("pay", amount=3), "Paid.", tools=[tool], approver=always)
    mine.ask("Pay 1 and 2")
    mine.ask("Pay 3")
    assert (made, asked) == ([1, 2, 3], [{"amount": 1}, {"amount": 3}])


def test_what_waits_is_resumed_with_one_more_tool_and_another_policy(agent, pay):
    """in another agent, which is allowed more"""
    tool, made = pay
    waits = agent(calls("pay", amount=5), tools=[tool])
    assert waits.ask("Pay 5").state == "SUSPENDED"
    config = {"approval": {"allow": ["pay"]}}
    turns = calls("add", a=1, b=2), "Paid."
    mine = agent(*turns, tools=[tool, add], config=config, approver=yes)
    ended = mine.resume(waits.trace)
    assert (ended.answer, made) == ("Paid.", [5])
    assert mine.history[-1]["text"] == "Paid."


def test_an_unknown_effect_is_settled_by_a_person(agent, pay):
    """it is listed, and what was found out is kept"""
    tool, _ = pay
    mine = agent(calls("pay", amount=5), "Paid.", tools=[tool], approver=yes)
    mine.ask("Pay 5")
    with runs.Ledger(mine.state / "ledger.db").connection() as db:
        db.execute("UPDATE claims SET result = NULL")
    [key] = runs.unknown(mine.state)
    assert runs.operation(key) == 'pay {"amount": 5}'
    runs.settle(mine.state, "1", was_done=True)
    assert runs.unknown(mine.state) == []


def test_instructions_are_of_the_config_and_of_the_project(agent, tmp_path):
    """AGENTS.md is read, with its byte order mark"""
    (tmp_path / "AGENTS.md").write_text("\ufeffWrite tests first.", "utf-8")
    config = {"model": {"instructions": "Be short."}}
    mine = agent("Yes.", config=config, folder=tmp_path)
    mine.ask("?")
    system = mine.model.asked[0][0]["text"]
    assert system.startswith("Be short.\n\nWrite tests first.\n\n")


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"limit": {}}, "Did you mean limits?"),
        ({"limits": {"steps": 2.5}}, "use a whole number"),
        ({"prices": {"input": 1}}, "currency"),
        ({"limits": {"money": 1}}, "needs a table [prices]"),
        ({"approval": {"mode": "paln"}}, "build, plan"),
        ({"approval": {"allow": ["ad"]}}, "Did you mean add?"),
        ({"approval": {"deny": [3]}}, "use texts"),
        ({"prices": {"currency": "E", "input": math.inf}}, "[prices]"),
        ({"folder": {"tests": []}}, "words of a command"),
        ({"model": {"options": {"max_tokens": 5}}}, "set turn_tokens"),
        ({"model": {"options": {"retries": "x"}}}, "retries"),
        ({"model": {"options": {"t": math.nan}}}, "be sent"),
        ({"model": {"options": {"d": date(2026, 1, 1)}}}, "be sent"),
        ({"mcp": {"servers": {"x": {"command": ["no-such-command"]}}}}, "servers.x]: "),
        ({"mcp": {"servers": {"x": {"command": ["x"], "seconds": -1}}}}, "than 0"),
    ],
)
def test_a_wrong_config_says_what_was_meant(agent, tables, words):
    """whoever writes it reads what is wrong, and where"""
    with pytest.raises(UsageError) as found:
        agent(tools=[add], config=tables).ask("?")
    assert words in str(found.value)


def test_a_project_is_searched_read_by_lines_and_not_left(tmp_path):
    """subfolders, regular expressions, numbers of lines; no path leads outside"""
    (tmp_path / "p/src/web").mkdir(parents=True)
    project = Project(tmp_path / "p", ["python"], 5)
    (tmp_path / "p/src/web/a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    (tmp_path / "p/.env").write_text("KEY = 1\n")
    assert project.list_files()["files"] == ["src/web/a.py"]
    assert project.search(r"t\w+ = \d")["found"] == [
        "src/web/a.py:2: two = 2", "src/web/a.py:3: three = 3",
    ]  # fmt: skip
    assert project.read_file("src/web/a.py", 2, 2) == "2\ttwo = 2"
    assert project.read_file("src/web/a.py", 9) == "No lines: src/web/a.py has 3."
    with pytest.raises(Exception, match="there is no 'src/wbe'"):
        project.search("two", "src/wbe")
    for name in ("env/a.py", "own/pyvenv.cfg", "own/lib/b.py"):
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text("")
    assert project.list_files()["files"] == ["env/a.py", "src/web/a.py"]
    for path in ("../x", ".env", "/etc/passwd", "src/../../x"):
        with pytest.raises(Exception, match="no path in this project"):
            project.read_file(path)


def test_a_command_runs_without_your_keys(tmp_path, monkeypatch):
    """and is stopped when its time is over"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    project = Project(tmp_path, ["python"], 0.5)
    ended = project.run_command("env; exit 3")
    assert ended["exit_code"] == 3
    assert "sk-secret" not in ended["output"]
    with pytest.raises(Exception, match="stopped after"):
        project.run_command("sleep 9")


@pytest.mark.parametrize(
    ("command", "is_allowed"),
    [("git diff --stat", True), ("git push", False), ("git diff; rm -r .", False)],
)
def test_a_command_that_the_policy_allows_asks_nobody(
    agent, tmp_path, command, is_allowed
):
    """a pattern allows a command, and nothing that is joined to it"""
    config = {"approval": {"commands": ["git diff*"]}}
    mine = agent(folder=tmp_path, config=config)
    assert mine.config.allows("run_command", {"command": command}) is is_allowed


def test_a_long_output_is_shortened_for_the_model_alone(agent, tmp_path):
    """the model reads both ends of it"""
    long = "print(*range(9_000)); print('the end')"
    config = {"approval": {"allow": ["run_command"]}}
    command = f'python3 -c "{long}"'
    mine = agent(calls("run_command", command=command), "Fine.", folder=tmp_path,
                 config=config)  # fmt: skip
    ended = mine.ask("Count")
    read = mine.model.asked[-1][-1]["text"]
    assert "characters left out" in read
    assert "the end" in read
    assert "4567" in ended.trace.of("observation")[0]["result"]["output"]


def test_a_part_that_returns_nonsense_is_named():
    """the sentence has the name of the part and what it owes"""

    def ours(text: str) -> list[str]: ...

    with pytest.raises(PartError, match=r"parts/split\.py returned 3: split owes"):
        _checked("split", ours, 3)
    _checked("split", ours, ["fine"])


@pytest.mark.parametrize("name", ["local", models.LOCAL])
def test_the_local_model_is_also_what_a_trace_calls_it(monkeypatch, name):
    """so that its run goes on; where it is not installed, a sentence says how"""

    def not_there(**options):
        raise ImportError("no llama")

    monkeypatch.setattr("my_agent.runtime.local.LocalTextModel", not_there)
    with pytest.raises(UsageError, match="no llama"):
        Agent(name, [], config={})


def test_what_an_update_left_beside_is_named(monkeypatch, tmp_path, capfd):
    """an old agent.py above a new runtime is not silent"""
    (tmp_path / "config.toml").write_text("files.state = 'state'")
    (tmp_path / "agent.py.new").write_text("")
    monkeypatch.setattr(cli, "HOME", tmp_path)
    cli.Command(cli.read_options(["--list"]), io.StringIO()).run()
    assert "agent.py.new is there" in capfd.readouterr().err


def test_an_unsupported_answer_is_held_back(agent):
    """with the guard on, what no document says does not go out"""
    config = {"guards": {"grounding": "on", "untrusted": "on"}}
    mine = agent(*["The tower is 300 m high [d1]."] * 9, tools=[add], config=config)
    assert mine.ask("How high is the tower?").state == "REFUSED"
