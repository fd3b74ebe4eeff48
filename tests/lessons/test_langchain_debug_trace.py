"""What lesson 03 says LangChain sends, beside LangChain's own functions."""

import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_classic.agents.format_scratchpad.log import format_log_to_str
from langchain_classic.chains.llm_math.base import LLMMathChain
from langchain_core.agents import AgentAction
from langchain_core.callbacks import CallbackManagerForChainRun

from workbook.lessons import langchain_debug_trace as lesson
from workbook.lessons.old_and_new_agents import langchain_model, math_script


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_the_scratchpad_is_langchains(steps):
    """`render_scratchpad` returns what `format_log_to_str` returns"""
    theirs = [(AgentAction("tool", "", log), observed) for log, observed in steps]
    expected = format_log_to_str(theirs, llm_prefix="Thought:")
    assert lesson.render_scratchpad(steps) == expected


# llm-math


MATH = LLMMathChain.from_llm(langchain_model(math_script()))
PARTS = ["```text", "```", "\n", " ", "1+1", "2*pi", "Answer:", "88", "2 apples", "[3]"]


def outcome(answer, reply):
    try:
        return answer(reply).split()
    except ValueError:
        return "refused"


def langchains(reply):
    manager = CallbackManagerForChainRun.get_noop_manager()
    return MATH._process_llm_result(reply, manager)["answer"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_the_calculator_answers_as_langchains_does(reply):
    """The same replies are evaluated, passed on and refused, but for spaces"""
    assert outcome(lesson.evaluate_math_block, reply) == outcome(langchains, reply)


def test_no_expression_takes_for_ever():
    """What numexpr would work on for hours is refused; what fits a float stays whole"""
    assert lesson.evaluate_math_block("```text 2**62 ```") == f"Answer: {2**62}"
    for expression in "9**9**9**9", "0x9**9**9**9", "1<<9**12":
        with pytest.raises(ValueError, match="cannot evaluate"):
            lesson.evaluate_math_block(f"```text\n{expression}\n```")


# The diagram


@example("a:b; #35; <b>&amp;</b> {x} \\n 100% %%{init} $$x$$ ```t 88ドル。")
@example("one\r\ntwo\x1b")
@example(" \n ")
@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_the_diagram(text):
    """A label is one statement on one line, and shows what was written, shortened"""
    event = {"kind": "observation", "seq": 0, "tool": text, "ok": True, "text": text}
    *_, head, line = lesson.sequence_diagram([event]).split("\n")
    assert head.startswith("    participant T1 as ")
    label = line.removeprefix("    T1-->>Agent: ")
    bare = re.sub(r"#\d+;", "x", label)
    assert not re.search(r"[;:#<>&\"`\\{}\n\r\x85\u2028\u2029]|%%|\$\$", bare)
    drawn = html.unescape(re.sub(r"#(\d+);", r"&#\1;", label))
    assert len(drawn) <= 40
    if len(text) <= 40 and text.isprintable():
        assert drawn == (" ".join(text.split()) or "(empty)")
