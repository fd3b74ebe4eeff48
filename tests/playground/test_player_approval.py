"""The player before a guarded run, without a browser: who is asked, what is shown."""

import json
import re
import threading

import pytest

from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import LATER, Approve, Edit, Reject, Request
from workbook.models.script import Script
from workbook.playground.engines import in_words, play
from workbook.playground.form import ApprovalForm
from workbook.playground.machines import ByScript
from workbook.playground.person import You, answered, shown_arguments
from workbook.playground.playback import Playback
from workbook.playground.player_view import macros, static_html
from workbook.playground.scenarios import outcome
from workbook.playground.watch import Watched, player
from workbook.tools.calls import ToolCall
from workbook.tools.tool import Tool
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

MENDED = '"passed": true'


class Desk(You):
    """Somebody who presses, as soon as there is a request, what is next in a list."""

    def __init__(self, *presses, mode=None):
        super().__init__(mode, on_request=self.press)
        self.presses, self.requests = list(presses), []

    def press(self):
        if self.request is not None:
            self.requests.append(self.request)
            press = self.presses.pop(0)
            press(self)


def says(said, text=None, why=""):
    """Return a press of a button in the form, with this text in it."""

    def press(desk):
        request = desk.request
        shown = shown_arguments(request) if text is None else text
        desk.say(answered(request, said, shown, why))

    return press


def asked(tool="write_file", **arguments):
    return Request(ToolCall(tool, arguments, "call_1"), None, "", "")


def test_you_are_asked_and_what_you_approve_is_done():
    """A run in the player asks you; what you approve is made, and the trace says who"""
    trace = play("mend_the_test", "guarded", person=Desk(says("approve", why="good")))
    (decision,) = [e for e in trace.of("decision") if "answer" in e]
    assert (decision["who"], decision["what"]) == ("you", "approve")
    assert decision["why"] == "good"
    assert MENDED in trace.of("observation")[-1]["text"]
    assert trace.end["state"] == "DONE"


def test_an_edit_that_breaks_the_schema_comes_back_with_the_problem():
    """After an edit that breaks a rule you are asked again, and told what was wrong"""
    desk = Desk(says("edit", '{"path": 3}'), says("reject", why="no"))
    trace = play("mend_the_test", "guarded", person=desk)
    assert '3 is not of type "string"' in desk.requests[1].problem
    said = [e["what"] for e in trace.of("decision") if e["who"] == "you"]
    assert said == ["edit", "reject"]
    assert MENDED not in trace.of("observation")[-1]["text"]


def test_not_now_suspends_the_run():
    """Not now leaves a trace without an end, which is told as PENDING"""
    trace = play("mend_the_test", "guarded", person=Desk(says("later")))
    assert trace.end is None
    end = outcome(trace)
    assert (end["state"], end["reason"]) == ("PENDING", "suspended")
    assert in_words(trace) == "PENDING (suspended) after 4 turns"


def test_a_saved_run_that_waits_is_shown_as_waiting():
    """The page without widgets says which call waits for a person"""
    trace = play("mend_the_test", "guarded", person=ByScript(["later"]))
    shown = Playback.of(trace)
    shown.seek(len(shown.events))
    assert shown.phase.startswith("waits in its trace")
    page = static_html(shown, "A run")
    assert "This run waits" in page
    assert re.search(r"may it call write_file\(.*price.py", page)
    assert "policy: ask write_file" in page


def test_of_the_guarded_states_the_usual_ways_are_drawn():
    """The odd ends are drawn only where a run has come to them"""
    ended, waits = (
        Playback.of(play("mend_the_test", "guarded", person=ByScript([said])))
        for said in ("approve", "later")
    )
    for shown in (ended, waits):
        shown.seek(len(shown.events))
        assert "POLICY --> PENDING_APPROVAL : ask" in shown.diagram()
        assert "OBSERVE --> POLICY : more_calls" in shown.diagram()
        assert "STUCK" not in shown.diagram()
    assert "PENDING_APPROVAL --> PENDING : suspended" in waits.diagram()
    assert "suspended" not in ended.diagram()


def test_a_run_that_has_ended_does_not_wait():
    """A run that was approved says nothing of waiting"""
    shown = Playback.of(play("mend_the_test", "guarded"))
    shown.seek(len(shown.events))
    assert "This run waits" not in static_html(shown, "A run")


def test_a_stop_while_a_call_waits_ends_the_run():
    """Cancel while you are asked ends the run at once, and the call is not made"""
    trace = play("mend_the_test", "guarded", person=Desk(You.stop))
    assert trace.end["state"] == "CANCELLED"
    assert "not made" in trace.of("observation")[-1]["text"]


def test_a_stop_before_you_are_asked_is_not_lost():
    """Who stops before a question has come is not asked it"""
    you = You()
    you.stop()
    assert you.ask(asked()) is LATER


def test_two_presses_answer_one_question():
    """A second press does not answer the question after it"""
    you = You()
    questions = iter([lambda: you.say("first"), lambda: you.say("third")])

    def press():
        if you.request is not None:
            next(questions)()
            you.say("second")

    you.on_request = press
    assert [you.ask(asked()), you.ask(asked())] == ["first", "third"]


def test_the_mode_that_you_choose_is_the_one_that_holds():
    """In plan mode nothing is asked and nothing is written"""
    trace = play("mend_the_test", "guarded", person=Desk(mode="plan"))
    assert trace.events[0]["mode"] == "plan"
    assert [e["what"] for e in trace.of("decision")] == ["deny"]


def test_a_switch_of_the_mode_is_in_the_trace_and_holds():
    """Who switches to plan while a call waits has it refused, also when approving it"""

    def switch_and_approve(desk):
        desk.switch("plan")
        says("approve")(desk)

    trace = play("mend_the_test", "guarded", person=Desk(switch_and_approve))
    switches = [e for e in trace.of("decision") if e["what"] == "mode"]
    assert [(e["who"], e["mode"]) for e in switches] == [("you", "plan")]
    assert MENDED not in trace.of("observation")[-1]["text"]


def test_what_is_pressed_becomes_an_answer():
    """Approve is for the call as shown; an edit holds the text; reject says why"""
    request = asked(path="a")
    same = shown_arguments(request)
    approval = answered(request, "approve", same, "w")
    assert isinstance(approval, Approve)
    assert (approval.call_id, approval.who, approval.why) == ("call_1", "you", "w")
    edit = answered(request, "edit", '{"path": "b"}', "")
    assert edit == Edit({"path": "b"}, "call_1", who="you")
    assert answered(request, "reject", "{", "bad") == Reject("bad", who="you")
    assert answered(request, "later", "{", "") is None


@pytest.mark.parametrize(
    ("said", "text", "words"),
    [
        ("edit", "{", "not JSON"),
        ("edit", "[" * 100_000, "not JSON"),
        ("edit", "[1]", "are an object"),
        ("approve", '{"path": "b"}', "press Approve the edit"),
    ],
)
def test_what_cannot_be_taken_as_an_answer_is_told_in_words(said, text, words):
    """A text that is no JSON, or approving a text that was changed, is no answer"""
    assert words in answered(asked(path="a"), said, text, "")


@pytest.fixture
def opened():
    """Return a function that plays in a player until a call waits."""
    waits, players = threading.Event(), []

    def opened(*arguments, **options):
        shown = player(*arguments, **options)
        show = shown.view.form.show

        def seen(request):
            show(request)
            if request is not None:
                waits.set()

        shown.view.form.show = seen
        players.append(shown)
        shown.play()
        assert waits.wait(20)
        return shown

    yield opened
    for shown in players:
        shown.cancel()
        shown._thread.join(20)


def finish(shown):
    for thread in threading.enumerate():
        if thread.name.endswith(("(work)", "(_keep_up)")):
            thread.join(20)


def told(shown):
    return re.sub(r"<[^>]+>", "", shown.view.status.value)


def test_the_form_is_there_while_a_call_waits(opened):
    """The form shows the change and the arguments; answered, it goes"""
    shown = opened("mend_the_test", "guarded")
    form = shown.view.form
    assert told(shown).endswith("the run waits for you: write_file.")
    assert form.widget.layout.display == "flex"
    assert "-    return listed" in form.about.value
    assert json.loads(form.arguments.value)["path"] == "price.py"
    form.buttons["approve"].click()
    finish(shown)
    assert told(shown).endswith(": DONE.")
    assert form.widget.layout.display == "none"


def test_a_text_that_was_refused_stays(opened):
    """What was typed is not lost when it is refused"""
    shown = opened("mend_the_test", "guarded")
    form = shown.view.form
    form.arguments.value = '{"path": '
    form.buttons["edit"].click()
    assert "not JSON" in form.about.value
    assert form.arguments.value == '{"path": '


def test_a_text_stays_as_long_as_the_call_is_the_same():
    """An edit that comes back refused stands there as it was; another call is new"""
    form = ApprovalForm(print, lambda request, problem: problem)
    form.show(asked(path="a"))
    form.arguments.value = '{"path": 3}'
    form.show(None)
    form.show(asked(path="a")._replace(problem="3 is no string"))
    assert form.arguments.value == '{"path": 3}'
    assert form.about.value == "3 is no string"
    form.show(asked(path="b"))
    assert json.loads(form.arguments.value) == {"path": "b"}


def test_a_run_that_was_suspended_is_in_its_file(opened, tmp_path):
    """With a path, Not now leaves a file that another process can go on with"""
    path = tmp_path / "run.jsonl"
    shown = opened("mend_the_test", "guarded", path=path)
    shown.view.form.buttons["later"].click()
    finish(shown)
    assert "PENDING (waits in its trace" in told(shown)
    assert outcome(Trace.read(path))["state"] == "PENDING"


def test_only_an_engine_with_modes_has_the_switch():
    """The switch of the mode is there for the guarded engines, and for no other"""
    shown = player("mend_the_test", "guarded", mode="plan")
    assert (shown.view.mode.value, shown.view.mode.layout.display) == ("plan", "flex")
    shown.view.choices["engine"].value = "fsm"
    assert shown.view.mode.layout.display == "none"
    with pytest.raises(ValueError, match="'paln'"):
        player(mode="paln")


def test_what_is_reserved_is_shown_while_the_model_writes():
    """While a call is made, its cap is shown as reserved of the tokens that are left"""
    emit = TraceWriter()
    guarded(Script(["Final Answer: 1"]), [], budget=Budget(tokens=900), hook=emit).run(
        "?"
    )
    events = list(emit.trace())
    asked = [e["seq"] for e in events if e["kind"] == "model_request"]
    playback = Playback(events, asked[0] + 1)
    found = {budget.name: budget for budget in playback.budgets()}
    assert found["tokens"].reserved == events[asked[0]]["max_tokens"]
    assert "money" not in found
    playback.move(1)
    found = {budget.name: budget for budget in playback.budgets()}
    usage = events[asked[0] + 1]["usage"]
    assert found["tokens"].spent == usage["input"] + usage["output"]
    assert found["tokens"].reserved == 0


def test_money_is_counted_by_the_prices_of_the_run():
    """What a run has spent in money follows from its tokens and its prices"""
    prices = {"currency": "EUR", "date": "2026-01-01"}
    prices |= {"input": 2.0, "output": 8.0, "cached": 1.0}
    limits = {"steps": 3, "money": 1.0, "tokens": None, "prices": prices}
    said = {"input": 100_000, "output": 50_000, "cached": 40_000}
    playback = Playback(
        [
            {"kind": "run_started", "at_s": 0, "limits": limits},
            {"kind": "model_turn", "at_s": 1, "usage": said},
            {"kind": "model_request", "at_s": 2, "max_tokens": 10_000},
        ],
        3,
    )
    (money,) = [b for b in playback.budgets() if b.name == "money"]
    assert money.spent == pytest.approx(0.06 * 2 + 0.04 + 0.05 * 8)
    assert money.reserved == pytest.approx(0.08)


def test_the_limit_of_one_call_and_the_prices_are_told():
    """How long one call may take stands below the budgets, and whose prices count"""
    prices = {"currency": "EUR", "date": "2026-01-01", "input": 2, "output": 8}
    limits = {"money": 1.0, "model_s": 2.5, "prices": {**prices, "cached": 1}}
    shown = Playback([{"kind": "run_started", "at_s": 0, "limits": limits}], 1)
    told = macros().budgets(shown)
    assert "may take 2.5 seconds" in told
    assert "Prices in EUR of 2026-01-01" in told


def test_the_time_in_which_you_think_is_not_the_run_s():
    """While a person is waited for, no time of the run is spent"""
    move = {"kind": "transition", "source": "POLICY", "target": "PENDING_APPROVAL"}
    playback = Playback(
        [
            {"kind": "run_started", "at_s": 0, "limits": {"wall_s": 10}},
            {**move, "at_s": 1},
            {"kind": "decision", "at_s": 101},
            {"kind": "tool_call", "at_s": 103},
        ],
        4,
    )
    (wall,) = [b for b in playback.budgets() if b.name == "wall_s"]
    assert wall.spent == 3


def test_what_is_being_written_is_on_view():
    """The pieces of a turn are shown as they come, and go when the turn is there"""
    shown = player("price_question", "guarded")
    for event in play("price_question", "guarded").events[:2]:
        shown.playback.add(event)
    shown.playback.hear("Thought: <b>")
    shown.playback.seek(2)
    shown._show()
    assert "Thought: &lt;b&gt;▏" in shown.view.parts["turn"].value


@pytest.mark.parametrize("engine", ["fsm", "guarded"])
def test_a_stop_in_the_middle_of_a_turn_keeps_what_was_written(engine):
    """A turn that was stopped is in the trace as far as it went, and makes no call"""
    words = "Thought: a long one.\nAction: Calculator\nAction Input: 1 + 1"
    heard = []

    def on_text(piece):
        heard.append(piece)
        if len("".join(heard)) > 40:
            you.stop()

    you = You(on_text=on_text)
    run = Watched(lambda event: None)
    model = Script([words, "Final Answer: 2"])
    trace = play("price_question", engine, model, listener=run, person=you)
    (turn,) = trace.of("model_turn")
    assert turn["text"] == "".join(heard)
    assert words.startswith(turn["text"])
    assert turn["text"] != words
    assert turn["usage"]["output"] > 0
    assert trace.end["state"] == "CANCELLED"
    assert trace.of("tool_call") == []


def test_a_new_run_shows_the_call_as_it_is():
    """the text of an edit is not kept for the same call of another run"""
    form = ApprovalForm(lambda answer: None, lambda request, wrong: wrong)
    call = ToolCall("Pay", {"amount": 25}, "call_1")
    tool = Tool("Pay", "Pays.", {"properties": {}}, dict)
    form.show(Request(call, tool, ""))
    form.arguments.value = "half a thought"
    form.show(Request(call, tool, "", "that is not JSON"))
    assert form.arguments.value == "half a thought"
    form.show(None)
    form.show(Request(call, tool, ""))
    assert json.loads(form.arguments.value) == {"amount": 25}
