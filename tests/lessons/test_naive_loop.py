"""Lesson 01: the loop, what it sends, and what is seen of it from outside."""

import pytest

from tests.doubles import named
from tests.lessons.asked import Asked
from workbook.lessons.naive_loop import build_history as ours
from workbook.lessons.naive_loop import naive_loop as our_loop
from workbook.lessons.naive_loop import run_loop, text_tools
from workbook.runtime.script import Script
from workbook.runtime.tools import Tool

TOOLS = {"Sum": named("a tool that answers 2", lambda text: "2")}
RUNS = "Action: Sum\nAction Input: 1+1"


def ask(loop, *turns, tools=TOOLS, **options):
    """Run the loop on a model with these turns; return answer and model."""
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
    why = f"it returned {answer!r}, expected is the text after the first Final Answer"
    assert answer.startswith("2\n"), why


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
    why = f"Search was called with {asked}, expected is ['two + two']"
    assert asked == ["two + two"], why


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


# build_history


def test_the_first_prompt_is_the_question(build_history):
    """without steps, the prompt is `Question: …` and a line break"""
    assert build_history("1+1?", []) == "Question: 1+1?\n"


ONE = ("Action: Sum\nAction Input: 1+1", "2")
TWO = ("Action: Sum\nAction Input: 2+2", "4")


@pytest.mark.parametrize("steps", [[], [ONE]], ids=["no step", "a step"])
def test_the_instructions_come_first(build_history, steps):
    """`instructions` come first, and nothing is added between them and the question"""
    expected = "Be brief.\n\n" + build_history("1+1?", steps)
    assert build_history("1+1?", steps, instructions="Be brief.\n\n") == expected


def test_a_step_adds_its_turn_and_its_observation(build_history):
    """each step adds the model's text, a line break and a line `Observation: …`"""
    start = build_history("1+1?", [])
    expected = f"{start}Action: Sum\nAction Input: 1+1\nObservation: 2\n"
    assert build_history("1+1?", [ONE]) == expected


def test_the_steps_follow_each_other(build_history):
    """all steps are in the prompt, in their order"""
    second = build_history("1+1?", [TWO]).removeprefix(build_history("1+1?", []))
    expected = build_history("1+1?", [ONE]) + second
    assert build_history("1+1?", [ONE, TWO]) == expected


def test_the_models_words_stay_as_they_are(build_history):
    """spaces in the question, the model's text and the observation are kept"""
    prompt = build_history("1+1? ", [(" Action: Sum \n", " 2 \n")])
    for part in ("1+1? ", " Action: Sum \n", " 2 \n"):
        assert part in prompt, f"{part!r} is not in {prompt!r}"


# count_tokens_sent


@pytest.mark.parametrize(
    ("first", "growth", "turns", "total"),
    [(9, 5, 0, 0), (200, 50, 1, 200), (200, 50, 2, 450), (200, 50, 4, 1_100)],
)
def test_small_sums_by_hand(count_tokens_sent, first, growth, turns, total):
    """it is the sum of `turns` terms: first, first + growth, first + 2 · growth, …"""
    assert count_tokens_sent(first, growth, turns) == total


def test_large_numbers_are_exact(count_tokens_sent):
    """it is an exact whole number (an int), also when it is very large"""
    expected = 10**24 * 10**6 + 10**6 * (10**6 - 1) // 2
    assert count_tokens_sent(10**24, 1, 10**6) == expected


@pytest.mark.parametrize("numbers", [(-1, 5, 2), (5, -1, 2), (5, 1, -2)])
def test_negative_numbers_are_refused(count_tokens_sent, numbers):
    """a negative argument raises a `ValueError`"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        count_tokens_sent(*numbers)


# what else the package's own does


CALL = f"Thought: I add.\n{RUNS}"


def test_the_history_is_what_the_naive_loop_sends():
    """After some steps the prompt is exactly the one that the loop sends"""
    turns = [f"Thought: part {n}\n{RUNS}" for n in range(4)]
    _, model = ask(our_loop, *turns, "Final Answer: 2", instructions="Use Sum.\n")
    steps = [(turn, "2") for turn in turns]
    sent = [ours("1+1?", steps[:n], instructions="Use Sum.\n") for n in range(5)]
    assert model.prompts == sent


def test_the_trace_has_the_run_in_order():
    """Every call, tool and answer is there, in order; `ends.naive` says how runs end"""

    def loop(model, tools, question, **options):
        assert [*tools] == [*TOOLS]
        return our_loop(model, tools, question, **options)

    script = Script([CALL, "Final Answer: 2"])
    trace = run_loop(loop, script, TOOLS, "1+1?", instructions="Add.\n")
    step = "model_request model_turn tool_call observation"
    end = "model_request model_turn run_finished"
    assert [e["kind"] for e in trace] == f"run_started {step} {end}".split()
    assert [trace.end[n] for n in ("state", "answer")] == ["DONE", "2"]
    assert trace.prompt(5) == f"Add.\nQuestion: 1+1?\n{CALL}\nObservation: 2\n"
    turn, called, seen = trace.events[2:5]
    assert called["arguments"] == {"input": "1+1"}
    assert (seen["call_id"], seen["ok"]) == (called["call_id"], True)
    assert (turn["text"], turn["turn"]["thought"]) == (CALL, "I add.")


def test_the_text_goes_to_the_first_parameter():
    """Text is read as the first parameter wants it, JSON is taken as it is"""

    def given(kind, text):
        schema = {"properties": {"n": {"type": kind, "maximum": 6}}, "required": ["n"]}
        tool = Tool("Echo", "Gives it back.", schema, lambda **given: {"got": given})
        return text_tools([tool])["Echo"](text)

    assert given("integer", "7") == '{"got": {"n": 7}}'
    assert given("number", "7.5") == '{"got": {"n": 7.5}}'
    assert given("string", "7") == '{"got": {"n": "7"}}'
    assert given("integer", '{"n": "seven"}') == '{"got": {"n": "seven"}}'
