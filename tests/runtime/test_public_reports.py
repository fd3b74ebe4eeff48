"""Failures that others reported in public, tried on this runtime.

Each case is named after its report. Inputs are our own; nothing is copied from one.
Those of endpoints are in `test_hosted`; that what came with a call goes back (openhuman
3548) and that half an answer is none (claudexor 144), in `test_conversation`.
"""

import pytest

from tests.runtime.playing import call, noted, play, texts
from workbook.runtime.guards import all_guards
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.model import ToolRequest
from workbook.runtime.permission import yes
from workbook.runtime.replay import resume
from workbook.runtime.tools import Tool, ToolRegistry, tool
from workbook.runtime.turns import Action, Final, parse_turn


@tool(timeout_s=None)
def look(path: str) -> str:
    """Lists the files of a folder."""
    return f"files of {path}"


@tool(timeout_s=None)
def weather(city: str, days: int = 1) -> str:
    """Says the weather in a city."""
    return f"sun in {city}"


@tool(timeout_s=None)
def clock() -> str:
    """Says the time."""
    return "noon"


TOOLS = ToolRegistry([look, weather, clock])
STEP = "Action: look\nAction Input: a"
LOOKS = Action("", "look", "a")
TURNS = {
    # https://github.com/eosphoros-ai/DB-GPT/pull/2996 (issue 2995)
    "db_gpt_2996_action": (f"<think>\n{STEP}\nNo.\n</think>\nFinal: 4", Final("", "4")),
    "db_gpt_2996_answer": (f"<think>\nFinal Answer: 3\nNo.\n</think>\n{STEP}", LOOKS),
    "db_gpt_2996_line": (f"<think>short</think>{STEP}", LOOKS),
    # https://github.com/eosphoros-ai/DB-GPT/pull/3074
    "db_gpt_3074": (
        "It is\n```\nAction: b\n```\nFinal: 4",
        Final("It is\n```\nAction: b\n```", "4"),
    ),
    # https://github.com/run-llama/llama_index/issues/14736
    "llama_index_14736_action": (f"```\n{STEP}\n```", LOOKS),
    "llama_index_14736_answer": ("```\nFinal Answer: 42\n```", Final("", "42")),
    # https://github.com/langgenius/dify-official-plugins/issues/2621
    "dify_plugins_2621": ("FinalAnswer: 42", Final("", "42")),
    "dify_plugins_2621_line": ("Thought: x\nFinal_Answer: 42", Final("x", "42")),
    # https://github.com/datawhalechina/hello-agents/issues/170
    "hello_agents_170": ('Thought: done\nAction: finish(answer="x")', None),
    "hello_agents_170_name": ("Thought: done\nAction: Finish[x]", None),
}


@pytest.mark.parametrize("report", TURNS)
def test_a_turn_in_words(report):
    """the first step outside of thinking, and of a fence around an example, is read"""
    text, turn = TURNS[report]
    found = parse_turn(text)
    assert found == turn or (turn is None and not isinstance(found, Action | Final))


LOOK = '{"name": "look", "arguments": {"path": "a"}}'
CALLS = {
    # https://github.com/AstrBotDevs/AstrBot/issues/8546, open-webui/open-webui#29690
    "astrbot_8546": ([ToolRequest(None, {"path": "a"}, "c1")], "unknown_tool"),
    # https://github.com/langchain-ai/langchain/pull/34242
    "langchain_34242": ([ToolRequest("clock", "", "c1")], "noon"),
    "langchain_34242_null": ([ToolRequest("clock", None, "c1")], "noon"),
    # https://github.com/denn-gubsky/loomcycle/pull/1049, nugget/thane-ai-agent#21,
    # aaif-goose/goose#3748: the run does not end with the call as its answer
    "loomcycle_1049": (f"I look.\n<tool_call>\n{LOOK}\n</tool_call>", "as a function"),
    "thane_21": (f"<tool_call>{LOOK}</tool_call>" * 2, "as a function"),
    "goose_3748": (f'{{"type": "function", "function": {LOOK}}}', "as a function"),
    "goose_3748_list": (f"[{LOOK}]", "as a function"),
}


@pytest.mark.parametrize("report", CALLS)
def test_a_function_call(report):
    """an odd call is made, or the model reads what was wrong with it"""
    turn, words = CALLS[report]
    end = play([turn, "done"], TOOLS, chat=True)
    assert (end.answer, words in texts(end)[0]) == ("done", True)


def test_fireconnect_16_call_ids_that_begin_anew_each_turn():
    """https://github.com/fw-ai/fireconnect/issues/16, QwenLM/qwen-code#5107: the first
    call was answered long ago, and this one has other arguments"""
    turns = [[call("look", {"path": path}, "look:0")] for path in "./"]
    assert texts(play([*turns, "done"], TOOLS, chat=True)) == [
        "files of .",
        "files of /",
    ]


def test_qwen_code_4966_a_number_as_text():
    """https://github.com/QwenLM/qwen-code/issues/4966, openclaw/openclaw#112577: the
    repair does not depend on how the type is written"""
    integer, null = {"type": "integer"}, {"type": "null"}
    ways = {"a": {"anyOf": [integer, null]}, "b": {"oneOf": [null, integer]}}
    ways |= {"c": {"$ref": "#/$defs/N"}, "d": {"allOf": [integer]}}
    schema = {"properties": ways, "$defs": {"N": integer}}
    echo = ToolRegistry([Tool("echo", "Echoes numbers.", schema, dict)])
    found = echo.bind(ToolRequest("echo", dict.fromkeys(ways, "5")))
    assert found.arguments == dict.fromkeys(ways, 5)


def paying(folder, paid, turn, person=None):
    """Return a machine that pays once, as its ledger knows."""

    @tool(effect="write", timeout_s=None)
    def pay(to: str, amount: int) -> str:
        """Pays somebody."""
        paid.append((to, amount))
        return "paid"

    make, guards = Once(Ledger(folder / "ledger.db")), all_guards(person=person)
    return noted([turn, "done"], [pay], guards, chat=True, make=make)


ADA, BOB = (call("pay", {"to": to, "amount": n}) for to, n in (("Ada", 1), ("Bob", 2)))


def test_langgraph_6533_answers_to_two_calls_that_wait(tmp_path):
    """https://github.com/langchain-ai/langgraph/issues/6533 and
    https://github.com/langchain-ai/langgraph/pull/3126: each call is asked about by
    itself, and what was done is not done again"""
    paid, asked, path = [], [], tmp_path / "run.jsonl"

    def first_only(request):
        asked.append(request.call.arguments["to"])
        return yes(request) if asked == ["Ada"] else None

    both = [ADA, BOB]
    assert paying(tmp_path, paid, both).run("Pay.", path).state == "SUSPENDED"
    again = paying(tmp_path, paid, both, first_only)
    assert resume(path, again).state == "SUSPENDED"
    assert (asked, paid) == (["Ada", "Bob"], [("Ada", 1)])
    assert resume(path, paying(tmp_path, paid, both, yes)).state == "DONE"
    assert paid == [("Ada", 1), ("Bob", 2)]
