"""A transcript shows who wrote what, a table compares, and a page escapes text."""

import difflib
import re
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbook.runtime.calls import Effect
from workbook.runtime.journal import Journal
from workbook.runtime.model import Response
from workbook.runtime.trace import Trace
from workbook.stage.engines import play
from workbook.stage.shown import (
    Diff,
    Shown,
    beside,
    comparison,
    ended,
    parts_of,
    prompt_parts,
    show,
    show_traces_as_tables,
    to_html,
    transcript_html,
)

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> $x$\nObservation: 1"
STEP = "Thought: I add.\nAction: Calculator\nAction Input: 2+2\n"
TALK = f"Answer.\n\nQuestion: 2+2?\n{STEP}Observation: 4\nFinal Answer: 4"
FORGED = "The model wrote this line; only the runtime may."
TAGS = {"style", "div", "span", "b", "i", "u", "small", "details", "summary", "pre"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}


def hostile_trace():
    journal = Journal()
    journal.emit("run_started", engine=HOSTILE, question=HOSTILE)
    journal.emit("model_request", prompt=HOSTILE)
    journal.emit("model_request", prompt=[{"role": "user", "content": HOSTILE}])
    journal.emit("model_turn", text=HOSTILE, usage=None)
    journal.emit("tool_call", call_id="1", tool=HOSTILE, arguments={HOSTILE: HOSTILE})
    journal.emit("observation", call_id="1", tool="t", ok=False, text=HOSTILE)
    journal.emit("run_finished", state="DONE", reason=HOSTILE, answer=HOSTILE)
    return journal.trace()


@pytest.mark.parametrize(
    "page",
    [
        transcript_html(parts_of(HOSTILE)),
        to_html(hostile_trace()),
        beside(hostile_trace(), Trace(hostile_trace().events[1:]), [HOSTILE] * 2).page,
        comparison([{HOSTILE: HOSTILE, "end": hostile_trace()}], note=HOSTILE).page,
        comparison([{"end": {"state": HOSTILE, "reason": HOSTILE}}]).page,
        Diff(f"@@\n+{HOSTILE}")._repr_html_(),
    ],
)
def test_what_anybody_wrote_is_text(page):
    """no tag of a model, a tool or a user gets into a page, and no formula"""
    assert set(re.findall(r"<(\w+)", page)) <= TAGS
    assert not re.search(r"<[^>]*onerror", re.sub(r'"[^"]*"', "", page))
    assert "$" not in page


def test_a_label_says_who_wrote_a_line():
    """the user a Question, the runtime an Observation or a prefill, the model others"""
    writers = [who for who, _ in parts_of(TALK)]
    assert writers == ["runtime", "user", "model", "runtime", "model"]
    assert parts_of("Question: 2+2?\nThought:")[-1] == ("runtime", "Thought:")


@pytest.mark.parametrize(
    ("parts", "is_forged"),
    [
        (parts_of(Response(TALK)), True),
        (parts_of(TALK), False),
        ([("model", "**Observation:** 1")], True),
        ([("model", "OBſERVATION: 1")], False),  # no label, and no crash
    ],
)
def test_an_observation_of_the_model_is_marked(parts, is_forged):
    """with a sentence that says whose line it is; the runtime's own is not"""
    assert (FORGED in transcript_html(parts)) == is_forged


def test_a_trace_knows_who_wrote_an_observation():
    """what a model made up and a loop kept is the model's, and the loop's is not"""
    turn = "Action: a\nAction Input: b\nObservation: 5"
    first = "Question: q\n"
    journal = Journal()
    journal.emit("run_started", engine="naive", question="q")
    journal.emit("model_request", prompt=first)
    journal.emit("model_turn", text=turn, usage=None)
    journal.emit("model_request", prompt=f"{first}{turn}\nObservation: 4\n")
    parts, new_from = prompt_parts(journal.trace())
    assert [who for who, _ in parts[new_from:]] == ["runtime", "model", "runtime"]
    assert transcript_html(parts).count(FORGED) == 1


@pytest.mark.parametrize("engine", ["naive", "langchain", "fsm"])
@pytest.mark.parametrize("slug", ["price_question", "drift"])
def test_the_parts_of_a_prompt_are_the_prompt(engine, slug):
    """nothing that was sent is left out, and what is new is at the end"""
    trace = play(slug, engine)
    requests = [e for e in trace.of("model_request") if "parent" not in e]
    parts, new_from = prompt_parts(trace)
    texts = [text for _, text in parts]
    assert "".join(texts) == trace.prompt(requests[-1]["seq"])
    assert len("".join(texts[:new_from])) == requests[-1]["kept"]


def test_messages_are_shown_with_their_calls():
    """a function call is the model's, its result and the instructions are not"""
    call = {"function": {"name": "Sum", "arguments": '{"n": 1}'}}
    talk = {"system": "Answer.", "user": "2+2?", "assistant": None, "tool": "4"}
    messages = [{"role": role, "content": text} for role, text in talk.items()]
    messages[2]["tool_calls"] = [call]
    parts = parts_of(messages)
    assert [who for who, _ in parts] == ["runtime", "user", "model", "runtime"]
    assert parts[2][1] == 'calls Sum({"n": 1})'


def test_elsewhere_a_transcript_is_printed(capsys):
    """with the glyph and the name of each voice"""
    show("Question: 2+2?\nThought: easy", "Two lines")
    printed = "Two lines\n▷ user\nQuestion: 2+2?\n● model\nThought: easy\n"
    assert capsys.readouterr().out == printed


def test_a_notebook_shows_a_trace_as_its_table(monkeypatch):
    """once a lesson's first cell has run; elsewhere a trace is one line"""
    shell = InteractiveShell()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    trace = hostile_trace()
    show_traces_as_tables()
    assert shell.display_formatter.format(trace)[0]["text/html"] == to_html(trace)


def test_an_event_begins_and_ends_with_a_word():
    """the new part of a prompt may begin, and a line may end, within a word"""
    journal = Journal()
    journal.emit("model_request", prompt="Say one word")
    journal.emit("model_request", prompt="Say one wording " + "lengthy " * 40)
    row = repr(Shown(to_html(journal.trace()))).splitlines()[-1]
    assert re.fullmatch(r".* wording( lengthy)+\s…", row)


def test_the_first_difference_is_marked():
    """in both traces, below what is alike; the fields, where the words are the same"""
    one, other = play("polling", "fsm"), play("polling", "fsm")
    other.events[4]["tool"] = "Weather"
    lines = repr(beside(one, other, "ab")).splitlines()
    marked = [line for line in lines if "first difference" in line]
    assert [line.split(":")[0] for line in marked] == ["4 ▲ tool call"] * 2
    other.events[4].update(one.events[4], effect="write")
    assert repr(beside(one, other, "ab")).count("the first difference: effect") == 2


@pytest.mark.parametrize(
    ("end", "right", "words"),
    [
        ({"state": "DONE", "answer": "88"}, True, "✓ right 88"),
        ({"state": "DONE", "answer": "90"}, False, "✗ wrong 90"),
        ({"state": "STUCK", "reason": "repeated"}, True, "✓ right stuck: repeated"),
        ({"state": "EXHAUSTED", "reason": "out_of_steps"}, False, "⇥ exhausted out of"),
        ({"state": "ESCALATED", "reason": "asked"}, None, "□ escalated asked"),
    ],
)
def test_an_ending_has_a_glyph_and_a_word(end, right, words):
    """no state and no reason is shown as a program writes it"""
    assert words in repr(comparison([{"end": end | {"right": right}}]))


def test_a_comparison_shows_each_kind_of_cell():
    """numbers, intervals on one scale, bools and enums in words, a run with events"""
    trace, number = play("ping_pong", "guarded"), 'class="wb-number"'
    rows = [{"run": "a", "n": 1.5, "share": (0.1, 0.2, 0.5), "end": ended(trace)}]
    rows.append({"run": "b", "n": 0.25, "share": (-0.5, 0.1, 0.5), "ok": True})
    shown = comparison(rows)
    assert "1.50" in repr(shown)
    assert "+10 % (−50 % to +50 %)" in repr(shown)
    assert "✓ yes" in repr(shown).splitlines()[-1]
    assert shown.page.count("<pre>") == 1
    assert "run" not in repr(comparison(rows, ["n", "ok"]))
    assert number in comparison(rows, ["n"]).page
    assert number not in comparison([{"effect": Effect.READ}]).page


def test_a_diff_marks_lines_and_not_its_head():
    """a removed line that begins with two signs is removed, and the head is neither"""
    lines = difflib.unified_diff(["-- old", "same"], ["same", "new"], "old", "new")
    page = Diff("\n".join(line.strip() for line in lines))._repr_html_()
    lines = re.findall(r"<span([^>]*)>([^<]*)</span>", page)
    marked = [words for style, words in lines if "background" in style]
    assert marked == ["--- old", "+new"]
    assert [words for _, words in lines[:2]] == ["--- old", "+++ new"]
