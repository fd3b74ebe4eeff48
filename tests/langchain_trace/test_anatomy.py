"""The sections of the classic prompt, counted and coloured; texts beside each other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.langchain_trace.anatomy import (
    SECTIONS,
    ColoredPrompt,
    SideBySide,
)
from workbook.langchain_trace.anatomy import (
    split_prompt as ours,
)
from workbook.runtime.script import count_tokens

INSTRUCTION = "Answer as best you can. You have these tools:\n\n"
TOOLS = "Calculator - for sums\nSearch - for facts\n\n"
FORMAT = (
    "Use the following format:\n\n"
    "Question: the input question\nThought: what to do\nAction: one of [Calculator]\n"
    "... (this can repeat)\nThought: I now know\nFinal Answer: the answer\n\n"
    "Begin!\n\n"
)
QUESTION = "Question: What is 80+8?\n"
SCRATCHPAD = (
    "Thought: I add.\nAction: Calculator\nAction Input: 80+8\nObservation: 88\n"
)
OPEN = "Thought:"

MORE = SCRATCHPAD + "Thought: Now what?\nObservation: none\n"


def sections(question=QUESTION, scratchpad="", tools=TOOLS):
    """Return the six sections and the prompt that they make."""
    texts = [INSTRUCTION, tools, FORMAT, question, scratchpad, OPEN]
    return list(zip(SECTIONS, texts, strict=True)), "".join(texts)


def section(found, name):
    """Return the text of one section."""
    return dict(found).get(name, "missing")


def test_all_sections_are_named(split_prompt):
    """all six sections are named; before the first step the scratchpad is empty"""
    expected, prompt = sections()
    assert split_prompt(prompt) == expected


@pytest.mark.parametrize(
    "scratchpad",
    [SCRATCHPAD, MORE, SCRATCHPAD + "Question: Who?\nBegin!\n"],
    ids=["one", "two", "words of the format"],
)
def test_what_has_happened_is_the_scratchpad(split_prompt, scratchpad):
    """all between question and last "Thought:" is the scratchpad, whatever it says"""
    _, prompt = sections(scratchpad=scratchpad)
    found = section(split_prompt(prompt), "scratchpad")
    assert found == scratchpad, f"the scratchpad is {found!r}, not {scratchpad!r}"


def test_a_question_may_have_several_lines(split_prompt):
    """the question goes on until the next line that begins with "Thought:\""""
    question = "Question: What is\n\na Thought: of it?\n\nBegin!\n"
    found = section(split_prompt(sections(question)[1]), "question")
    assert found == question, f"the question is {found!r}, not {question!r}"


def test_words_of_the_format_in_a_question_open_no_section(split_prompt):
    """each mark counts where it first comes after the mark before, not in a question"""
    question = "Question: What does\nBegin!\nQuestion: mean?\n"
    found = section(split_prompt(sections(question)[1]), "question")
    assert found == question, f"the question is {found!r}, not {question!r}"


EXAMPLE = sections()[1]


@pytest.mark.parametrize("text", ["", "Question: 1+1?\nThought:", EXAMPLE[:-9]])
def test_another_prompt_is_refused(split_prompt, text):
    """a text in which one of the marks is missing raises ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        split_prompt(text)


WORDS = st.text("TQh:\n o1", max_size=20)


@settings(max_examples=200, deadline=None)
@given(WORDS, WORDS)
def test_no_character_is_lost(question, observation):
    """put together, the sections are the prompt again, whatever stands in it"""
    _, prompt = sections(f"Question: {question}\n", f"Thought: a\n{observation}\n")
    assert "".join(text for _, text in ours(prompt)) == prompt


def test_the_coloured_prompt_has_a_legend_with_counts():
    """the legend names each section and says how many tokens it has"""
    page = ColoredPrompt(EXAMPLE)._repr_html_()
    counts = [count_tokens(text) for _, text in ours(EXAMPLE)]
    assert f"open thought: {counts[-1]}" in page
    assert f"{sum(counts)} tokens" in page
    assert "color:inherit" in page  # readable on dark and on light


def test_nothing_in_a_prompt_becomes_html():
    """a prompt that holds HTML is shown, not run"""
    _, prompt = sections("Question: <script>alert('&')</script>\n")
    page = ColoredPrompt(prompt)._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#39;&amp;&#39;)" in page


# texts beside each other

TEXTS = {"with": "a", "without": "a\n Observation: <b>3</b>\nb"}


def test_the_lines_in_question_are_marked():
    """only lines that begin with the words are marked, in the text form too"""
    shown = repr(SideBySide(TEXTS, "Observation:"))
    assert [line for line in shown.splitlines() if line.startswith(">")] == [
        ">  Observation: <b>3</b>"
    ]


def test_texts_are_escaped():
    """titles and texts are shown to the letter, whatever they hold"""
    shown = SideBySide({"<i>": "<b>x</b>", **TEXTS}, "Observation:")._repr_html_()
    assert "<b>x</b>" not in shown
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert "<b>&lt;i&gt;</b>" in shown
    assert "> Observation: &lt;b&gt;3&lt;/b&gt;</span>" in shown
