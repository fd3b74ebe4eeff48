"""A cap for one call, a text told while it is written, and tokens counted before."""

import itertools

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser

from workbook.models import Completion, Script, ToolRequest, Usage
from workbook.models.base import Prefilled, WithoutStop, takes
from workbook.models.hosted import hosted_model, local_model
from workbook.models.langchain import LangChainModel, ScriptedModel, from_message
from workbook.models.local import LocalModelError, LocalTextModel, local_server
from workbook.models.prompts import count_tokens, estimate

CALL = ToolRequest("add", {"a": 1}, "call_1")  # three tokens
STOP = "\nObservation:"


class Listener:
    """An `on_text` that keeps what it is told, and says stop after so many pieces."""

    def __init__(self, stop_after=None):
        self.pieces, self.stop_after = [], stop_after

    def __call__(self, text):
        self.pieces.append(text)
        return len(self.pieces) == self.stop_after

    @property
    def text(self):
        return "".join(self.pieces)


def user(text):
    return {"role": "user", "content": text}


def over_http():
    """The local server, spoken to as any endpoint is."""
    url = local_server().url
    return LangChainModel(hosted_model("SmolLM2", base_url=url, api_key="none"))


# the script


@pytest.mark.parametrize(
    ("cap", "text", "reason"),
    [
        (0, "", "length"),
        (2, "abcdefgh", "length"),
        (3, "abcdefghij", "stop"),
        (9, "abcdefghij", "stop"),
    ],
)
def test_a_script_keeps_to_the_cap(cap, text, reason):
    """a turn is cut after so many tokens, and one that is exactly so long is whole"""
    answer = Script(["abcdefghij"]).complete("p", max_tokens=cap)

    assert (answer.text, answer.finish_reason) == (text, reason)
    assert answer.usage.output == count_tokens(text)


def test_a_stop_sequence_comes_before_the_cap():
    """a turn that stops by itself within the cap was not cut"""
    answer = Script([f"abcd{STOP} 2"]).complete("p", stop=[STOP], max_tokens=1)

    assert (answer.text, answer.finish_reason) == ("abcd", "stop")


@pytest.mark.parametrize(("cap", "calls"), [(6, 2), (5, 1), (3, 1), (2, 0)])
def test_a_call_that_does_not_fit_is_no_call(cap, calls):
    """half a call is never made: what is left of it is dropped"""
    assert count_tokens(f"add{CALL.arguments}") == 3

    answer = Script([[CALL, CALL]]).chat([user("p")], max_tokens=cap)

    assert answer.tool_requests == (CALL,) * calls
    assert answer.finish_reason == ("tool_calls" if calls == 2 else "length")


def test_a_turn_with_a_usage_of_its_own_keeps_to_the_cap():
    """what a scripted turn says that it cost is capped too"""
    turn = Completion("Final Answer: 6", Usage(100, 900))

    answer = Script([turn]).complete("p", max_tokens=50)

    assert (answer.usage, answer.finish_reason) == (Usage(100, 50), "length")


def test_a_script_says_its_text_in_pieces():
    """what is told while it is written is the text, to the letter"""
    listener = Listener()

    answer = Script(["Thought: easy\n"]).complete("p", on_text=listener)

    assert len(listener.pieces) > 2
    assert listener.text == answer.text == "Thought: easy\n"
    assert answer == Script(["Thought: easy\n"]).complete("p")


def test_a_script_stops_when_it_is_told_to():
    """what was said up to then is the answer, and its tokens are counted"""
    turn = Completion("abcdefghijkl", tool_requests=(CALL,))

    answer = Script([turn]).chat([user("p")], on_text=Listener(stop_after=2))

    assert (answer.text, answer.finish_reason) == ("abcdefgh", "cancelled")
    assert (answer.usage.output, answer.tool_requests) == (2, ())


def test_what_is_beyond_the_cap_is_not_told():
    """nobody hears what the cap has cut"""
    listener = Listener()

    Script(["abcdefghij"]).complete("p", max_tokens=1, on_text=listener)

    assert listener.text == "abcd"


def test_a_script_counts_a_prompt_as_its_usage_does():
    """the tokens counted before a call are those of the usage after it"""
    script, messages = Script(["a"], repeat_last=True), [user("one")]
    for _ in range(3):
        assert script.count("a prompt") == script.complete("a prompt").usage.input
        counted = script.count(messages)
        assert counted == script.chat(messages).usage.input
        assert script.count(messages) == counted
        messages.append(user("and another"))


def test_a_script_reads_no_more_than_its_window():
    """of a longer prompt it counts what it sees"""
    script = Script(["a"], window_tokens=5)

    assert script.count("a" * 400) == script.complete("a" * 400).usage.input == 5


# wrappers, and models of others


class Plain:
    """A model as a learner may write one."""

    name = "plain"

    def complete(self, prompt, *, stop=()):
        return Completion("Final Answer: 6")


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (Script([]).complete, True),
        (Script([]).chat, True),
        (LangChainModel(ScriptedModel([])).complete, True),
        (LangChainModel(ScriptedModel([])).chat, True),
        (Prefilled(Script([]), "Thought:").complete, True),
        (Plain().complete, False),
        (Prefilled(Plain(), "Thought:").complete, False),
        (WithoutStop(Prefilled(Plain(), "Thought:")).complete, False),
    ],
)
def test_a_model_that_cannot_be_capped_is_known(ask, answer):
    """a model without the argument works, and so does one that wraps it"""
    assert takes(ask, "max_tokens") is takes(ask, "on_text") is answer


def test_wrappers_hand_on_the_cap_and_the_listener():
    """the cue is told first, so that what was told is the turn"""
    listener = Listener()
    model = Prefilled(WithoutStop(Script(["Thought: I add. I add."])), "Thought:")

    answer = model.complete("1+1?\n", max_tokens=2, on_text=listener)

    assert listener.text == answer.text == "Thought: I add. "
    assert answer.finish_reason == "length"


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 2), ("日本語", 3), ("\ud800", 1)]
)
def test_an_estimate_is_three_bytes_a_token(text, tokens):
    """of a text in any script there is an estimate, rounded up"""
    assert estimate(text, text) == Usage(tokens, tokens)


# LangChain's


def test_a_langchain_model_keeps_to_the_cap():
    """the cap of one call reaches the model"""
    answer = LangChainModel(ScriptedModel(["abcdefghij"])).complete("p", max_tokens=2)

    assert (answer.text, answer.usage.output) == ("abcdefgh", 2)


def test_a_langchain_model_streams():
    """pieces are told, and added up they are the answer"""
    listener = Listener()
    model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))

    answer = LangChainModel(model).complete("p", on_text=listener)

    assert len(listener.pieces) > 2
    assert listener.text == answer.text == "one two three"


def test_a_langchain_model_stops_when_it_is_told_to():
    """the rest is not waited for; what nobody counted has no usage"""
    model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))

    answer = LangChainModel(model).complete("p", on_text=Listener(stop_after=2))

    assert answer == Completion("one ", finish_reason="cancelled")


def test_a_chain_that_answers_with_a_text_streams():
    """a chain whose end is a text tells it in pieces too"""
    listener = Listener(stop_after=3)
    model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))

    answer = LangChainModel(model | StrOutputParser()).complete("p", on_text=listener)

    assert listener.text == answer.text == "one two"


class Endless:
    """A model of LangChain's kind whose text has no end."""

    name = "endless"

    def stream(self, asked, config):
        self.chunks = (piece for piece in itertools.repeat("a"))
        return self.chunks


def test_a_stream_that_was_stopped_is_closed():
    """what writes on for ever is told that nobody listens"""
    model = Endless()

    assert LangChainModel(model).complete("p", on_text=Listener(3)).text == "aaa"
    assert next(model.chunks, "closed") == "closed"


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"to": "Ada", "yen": 100}', {"to": "Ada", "yen": 100}),
        ('{"to": "Ada", "yen": 10', {"unreadable": '{"to": "Ada", "yen": 10'}),
        ("", {}),
    ],
)
def test_half_a_streamed_call_is_not_taken_for_a_whole_one(written, arguments):
    """LangChain reads half a JSON object as if it were a whole one; here it is none"""
    pieces = [{"name": "pay", "args": "", "id": "c1", "index": 0}]
    pieces += [
        {"name": None, "args": letter, "id": None, "index": 0} for letter in written
    ]
    message = AIMessageChunk("")
    for piece in pieces:
        message += AIMessageChunk("", tool_call_chunks=[piece])

    assert from_message(message).tool_requests == (ToolRequest("pay", arguments, "c1"),)


# the real model


def test_the_local_model_keeps_to_the_smaller_cap(local):
    """a call has its own cap, and the model's own where that is smaller"""
    answer = local.complete("One, two,", max_tokens=3)

    assert (answer.usage.output, answer.finish_reason) == (3, "length")
    assert LocalTextModel(max_tokens=2).complete("One", max_tokens=9).usage.output == 2


@pytest.mark.parametrize(
    "prompt", ["", "One, two,", " x\n", "日本語 12345678", "<|im_start|>user\nHi"]
)
def test_the_local_model_counts_as_it_reads(local, prompt):
    """the tokens counted before a call are those of the usage after it"""
    assert local.count(prompt) == local.complete(prompt, max_tokens=1).usage.input


def test_the_local_model_streams(local):
    """told in pieces, the text, its tokens and its end are those of a whole answer"""
    listener = Listener()

    whole = local.complete("One, two,", stop=["seven"])
    answer = local.complete("One, two,", stop=["seven"], on_text=listener)

    assert len(listener.pieces) > 2
    assert listener.text == answer.text == whole.text
    assert answer.finish_reason == whole.finish_reason == "stop"
    assert answer.usage.output == whole.usage.output
    assert answer.usage.input == whole.usage.input
    assert answer.timings.keys() == whole.timings.keys()


def test_the_local_model_stops_when_it_is_told_to(real_weights):
    """it stops writing, says what it cost, and has time for the next at once"""
    endless = LocalTextModel(grammar='root ::= "a" root', max_tokens=4000)

    answer = endless.complete("One, two,", on_text=Listener(stop_after=3))
    after = LocalTextModel().complete("One", max_tokens=1)

    assert answer.finish_reason == "cancelled"
    assert set(answer.text) == {"a"}
    assert 3 <= answer.usage.output < 100
    assert answer.usage.input == endless.count("One, two,")
    assert after.usage.output == 1


def test_a_streamed_request_that_is_refused_says_why(local):
    """an error of the server comes out as it does without a stream"""
    with pytest.raises(LocalModelError, match=r"\d+ tokens.*8192"):
        local.complete("a " * 9000, on_text=Listener())


def test_the_client_streams(local):
    """ChatOpenAI tells pieces as well, and brings the usage with the last"""
    listener = Listener()

    answer = over_http().complete("Count.", max_tokens=6, on_text=listener)

    assert len(listener.pieces) > 2
    assert listener.text == answer.text
    assert (answer.usage.output, answer.finish_reason) == (6, "length")
    assert answer.usage.input > 0


def test_the_client_stops_when_it_is_told_to(local):
    """the connection is closed, and the server has time for the next at once"""
    endless = LangChainModel(
        local_model(extra_body={"grammar": 'root ::= "a" root'}, max_tokens=4000)
    )

    answer = endless.chat([user("Go.")], on_text=Listener(stop_after=3))

    assert (answer.finish_reason, answer.usage) == ("cancelled", Usage())
    assert set(answer.text) == {"a"}
    assert local.complete("One", max_tokens=1).usage.output == 1


def test_the_client_keeps_to_the_smaller_cap(local):
    """a cap for one call does not lift the model's own"""
    model = LangChainModel(local_model(max_tokens=4))

    assert model.complete("Count.", max_tokens=100).usage.output == 4
