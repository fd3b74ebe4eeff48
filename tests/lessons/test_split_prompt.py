"""The six sections of the classic prompt."""

import pytest

from workbook.lessons.langchain_debug_trace import SECTIONS

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
    """everything between the question and the last "Thought:" is the scratchpad"""
    _, prompt = sections(scratchpad=scratchpad)
    found = section(split_prompt(prompt), "scratchpad")
    assert found == scratchpad, f"the scratchpad is {found!r}, not {scratchpad!r}"


def test_a_question_may_have_several_lines(split_prompt):
    """the question goes on until the next line that begins with "Thought:\""""
    question = "Question: What is\n\na Thought: of it?\n\nBegin!\n"
    found = section(split_prompt(sections(question)[1]), "question")
    assert found == question, f"the question is {found!r}, not {question!r}"


def test_words_of_the_format_in_a_question_open_no_section(split_prompt):
    """find each mark after the one before it; ignore marks inside the question"""
    question = "Question: What does\nBegin!\nQuestion: mean?\n"
    found = section(split_prompt(sections(question)[1]), "question")
    assert found == question, f"the question is {found!r}, not {question!r}"


EXAMPLE = sections()[1]


@pytest.mark.parametrize("text", ["", "Question: 1+1?\nThought:", EXAMPLE[:-9]])
def test_another_prompt_is_refused(split_prompt, text):
    """a text in which one of the marks is missing raises ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        split_prompt(text)
