"""The loop that everybody writes first: what it does, and what it does wrong."""

import pytest

from tests.doubles import named
from tests.loop.asked import Asked
from workbook.loop import naive
from workbook.loop.naive import CallLimit, CallLimitReached, reading_loop, traced
from workbook.runtime.journal import Journal
from workbook.runtime.script import Script
from workbook.runtime.turns import Final

CALL = "Thought: I add.\nAction: Sum\nAction Input: 1+1"
TOOLS = {"Sum": named("a tool that answers 2", lambda text: "2")}


def run(model, loop=naive.naive_loop, tools=TOOLS, **options):
    journal = Journal(secrets=())
    answer = traced(loop, journal.emit)(model, tools, "1+1?", **options)
    return answer, journal.trace()


# the exercise

RUNS = "Action: Sum\nAction Input: 1+1"


def ask(loop, *turns, tools=TOOLS, **options):
    """Run the loop on a model that says these turns; return answer and model."""
    model = Asked(turns)
    return loop(model, tools, "1+1?", **options), model


def assert_sent(model, *expected):
    sent = model.prompts
    pairs = zip(sent, expected, strict=False)
    for number, (prompt, right) in enumerate(pairs, start=1):
        assert prompt == right, f"prompt {number} is {prompt!r}, expected is {right!r}"
    calls, right = len(sent), len(expected)
    assert calls == right, f"calls of the model: {calls}, expected: {right}"


def test_it_answers_with_what_follows_final_answer(naive_loop):
    """it returns the text after the first "Final Answer:", without spaces around it"""
    assert naive_loop(Script(["I know.\nFinal Answer: 2 "]), TOOLS, "1+1?") == "2"
    answer, _ = ask(naive_loop, "Final Answer: 2\nQuestion: 3+3?\nFinal Answer: 6")
    assert answer.startswith("2\n"), (
        f"it returned {answer!r}, expected is the text after the first Final Answer"
    )


def test_the_first_prompt_is_instructions_and_question(naive_loop):
    """the first prompt is `instructions`, then `Question: …` and a line break"""
    assert_sent(ask(naive_loop, "Final Answer: 2")[1], "Question: 1+1?\n")
    _, model = ask(naive_loop, "Final Answer: 2", instructions="Add.\n")
    assert_sent(model, "Add.\nQuestion: 1+1?\n")


def test_the_tool_gets_the_input(naive_loop):
    """the tool named after `Action: ` gets the text after `Action Input: `"""
    asked = []

    def note(text):
        asked.append(text)
        return "4"

    look = named("a tool that notes what it is asked", note)
    search = "Action: Search\nAction Input: two + two"
    ask(naive_loop, RUNS, search, "Final Answer: 2", tools={**TOOLS, "Search": look})
    assert asked == ["two + two"], (
        f"Search was called with {asked}, expected is ['two + two']"
    )


def test_the_next_prompt_holds_everything(naive_loop):
    """each new prompt is the previous one, the reply and a line `Observation: …`"""
    _, model = ask(naive_loop, f" I add.\n{RUNS}", RUNS, "Final Answer: 2")
    first = "Question: 1+1?\n"
    second = f"{first} I add.\n{RUNS}\nObservation: 2\n"
    assert_sent(model, first, second, f"{second}{RUNS}\nObservation: 2\n")


def test_the_two_words_end_it_wherever_they_stand(naive_loop):
    """a reply that contains "Final Answer:" ends the loop, and no tool is run"""
    asked = []
    tools = {"Sum": named("a tool that notes what it is asked", asked.append)}
    reply = f"{RUNS}\nObservation: 3\nFinal Answer: 3"
    assert naive_loop(Script([reply]), tools, "1+1?") == "3"
    assert asked == [], f"Sum was called with {asked}, expected is no call"
    example = "Question: 0+0?\nFinal Answer: 0\n\n"
    answer, _ = ask(naive_loop, RUNS, "Final Answer: 2", instructions=example)
    assert answer == "2", "an answer counts only in a reply, not in the instructions"
    words = f"This is no Final Answer, and no final answer: wait.\n{RUNS}"
    answer, _ = ask(naive_loop, words, "Final Answer: 2")
    assert answer == "2", f"{words!r} does not contain 'Final Answer:'"


def test_a_result_may_be_a_number(naive_loop):
    """a tool may return a number, such as 2: the prompt then has `Observation: 2`"""
    tools = {"Sum": named("a tool that answers the number 2", lambda text: 2)}
    _, model = ask(naive_loop, RUNS, "Final Answer: 2", tools=tools)
    last = model.prompts[-1]
    assert last.endswith("Observation: 2\n"), f"the second prompt is {last!r}"


@pytest.mark.parametrize("turns", [1, 200])
def test_it_goes_on_as_long_as_the_model_does(naive_loop, turns):
    """there is no limit: it asks until a reply contains an answer"""
    model = Script([RUNS] * turns + ["Final Answer: 2"])
    assert naive_loop(model, TOOLS, "1+1?") == "2"


def test_nothing_is_caught(naive_loop):
    """no exception is caught: what the model or a tool raises leaves the loop"""
    with pytest.raises(ConnectionError):
        ask(naive_loop, RUNS, ConnectionError("the model is gone"), "Final Answer: 2")
    broken = named("a tool that divides by zero", lambda text: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ask(naive_loop, RUNS, "Final Answer: 2", tools={"Sum": broken})


# what else the package's own does


def test_the_trace_has_the_run_in_order():
    """Every call, tool and answer is there, in order."""
    _, trace = run(Script([CALL, "Final Answer: 2"]))
    assert [event["kind"] for event in trace] == [
        "run_started",
        *("model_request", "model_turn", "tool_call", "observation"),
        *("model_request", "model_turn"),
        "run_finished",
    ]
    assert trace.end["answer"] == "2"
    assert trace.of("tool_call")[0]["arguments"] == {"input": "1+1"}
    turn = {"kind": "action", "thought": "I add.", "tool": "Sum", "input": "1+1"}
    first = trace.of("model_turn")[0]
    assert (first["text"], first["turn"]) == (CALL, turn)


def test_a_loop_may_ask_which_tools_there_are():
    """Traced tools are those that are there; a call of another is traced, and fails."""

    def loop(model, tools, question):
        assert list(tools) == ["Sum"]
        assert "None" not in tools
        assert tools.get("None") is None
        return tools["None"]("-")

    journal = Journal(secrets=())
    with pytest.raises(KeyError):
        traced(loop, journal.emit)(Script([]), TOOLS, "1+1?")
    assert [call["tool"] for call in journal.trace().of("tool_call")] == ["None"]


class Refusal(str):
    """What a tool wrapper hands a loop of texts for a call that failed."""

    ok = False


def test_a_tool_that_says_no_has_failed():
    """A failure that comes back as text is no result in the trace; the loop goes on."""
    tools = {"Sum": lambda text: Refusal("no sums today")}
    _, trace = run(Script([CALL, "Final Answer: ?"]), tools=tools)
    (observation,) = trace.of("observation")
    assert (observation["ok"], observation["text"]) == (False, "no sums today")


# with a parser


def test_a_parser_reads_what_the_model_wrote():
    """An answer that rests on a made-up Observation is dropped: the step is done."""
    model = Asked([f"{CALL}\nObservation: 3\nFinal Answer: 3", "Final: two"])
    answer, _ = run(model, reading_loop)
    assert answer == "two"
    assert model.prompts[1] == f"Question: 1+1?\n{CALL}\nObservation: 2\n"


@pytest.mark.parametrize("text", ["", "I think.", "Action: Sum"])
def test_an_unreadable_turn_is_an_observation(text):
    """With a parser, a turn that cannot be read is an Observation and no exception."""
    model = Asked([text, "Final Answer: 2"])
    answer, trace = run(model, reading_loop)
    assert (answer, trace.of("tool_call")) == ("2", [])
    assert "\nObservation: Error: " in model.prompts[1]


def test_parser_and_history_are_arguments():
    """Somebody else's parser and history are used in place of ours."""
    model = Asked(["88"])
    answer = reading_loop(
        model,
        {},
        "1+1?",
        parse=lambda text: Final("", f"<{text}>"),
        history=lambda question, steps, instructions: (
            f"{instructions}{question}{steps}"
        ),
        instructions="Q",
    )
    assert (answer, model.prompts[0]) == ("<88>", "Q1+1?[]")


@pytest.mark.parametrize("loop", [naive.naive_loop, reading_loop])
def test_nothing_else_is_mended(loop):
    """A tool that is not there, and one that raises, end the run of either loop."""
    with pytest.raises(KeyError):
        run(Script(["Action: None\nAction Input: -"]), loop)
    with pytest.raises(ZeroDivisionError):
        run(Script([CALL]), loop, {"Sum": lambda text: 1 / 0})


@pytest.mark.parametrize("calls", [1, 3])
def test_a_call_limit_is_reached_after_its_calls(calls):
    """A limit of n hands n calls on as they are and raises at the next one."""
    model = Asked([CALL] * (calls + 1))
    with pytest.raises(CallLimitReached, match=f"the limit is {calls}"):
        run(CallLimit(model, calls))
    assert model.asked == calls
    assert {request.stop for request in model.requests} == {()}
    assert CallLimit(Script(["a\nO b"])).complete("p", stop=["\nO"]).text == "a"
