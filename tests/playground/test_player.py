"""The player without a browser: its buttons, its view, and the page without widgets."""

import re
import threading

import pytest

from workbook.models.choice import UnknownModel
from workbook.models.script import Script
from workbook.playground.engines import ENGINES, GALLERY, play
from workbook.playground.player_view import STYLE
from workbook.playground.scenarios import ScenarioError, slugs
from workbook.playground.watch import Watched, model_options, player
from workbook.traces.trace import Trace

MORE_CALLS = "Calls of the model that a tool made, not among these steps:"
MINE = 'title = "t"\nquestion = "q"\nteaches = "x"\n'
MINE += '[[turn]]\ntext = "Final Answer: 88"\n'


def press(shown, *names):
    """Press these buttons; after each, wait for the run and for what shows it."""
    for name in names:
        shown.view.buttons[name].click()
        for thread in threading.enumerate():
            if thread.name.endswith(("(work)", "(_keep_up)")):
                thread.join(60)


def told(shown):
    return re.sub(r"<[^>]+>", "", shown.view.status.value)


def displayed(shown, monkeypatch):
    """Return the outputs that a cell has which ends with the player."""
    outputs = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw: outputs.append(data)
    )
    shown._ipython_display_()
    return outputs


def drawn(shown):
    (output,) = shown.view.output.outputs
    return output["data"]["text/plain"]


@pytest.mark.parametrize("engine", GALLERY)
def test_run_shows_the_end(engine):
    """Run plays the scenario and shows how it ended"""
    shown = player("price_question", engine)
    press(shown, "run")
    assert told(shown).endswith(": DONE.")
    assert "class DONE now" in drawn(shown)
    assert "DONE (final_answer): 88" in shown.view.parts["events"].value


def test_the_first_step_plays_and_shows_one_event():
    """Step starts the run, and only its first event is on view"""
    shown = player()
    press(shown, "step")
    assert told(shown) == "1 of 33 events: THINK (the budget is asked)."
    press(shown, "step", "step", "step", "back")
    assert told(shown) == "3 of 33 events: THINK (its turn is read)."
    press(shown, "step")
    assert "class EXECUTE_TOOL now" in drawn(shown)


def test_steps_in_quick_succession_are_all_made(monkeypatch):
    """Who presses Step three times at once sees three events, however slow the start"""

    def slowly(*given, **more):
        threading.Event().wait(0.2)
        return play(*given, **more)

    monkeypatch.setattr("workbook.playground.watch.play", slowly)
    shown = player()
    for _ in range(3):
        shown.view.buttons["step"].click()
    assert shown.playback.position == 3


def test_run_goes_on_from_a_step_and_starts_anew_at_the_end():
    """Run in the middle goes to the end of that run; at the end it plays another"""
    shown = player()
    press(shown, "step")
    first = shown.playback.events[0]["trace_id"]
    press(shown, "run")
    assert shown.playback.events[0]["trace_id"] == first
    press(shown, "run")
    assert shown.playback.events[0]["trace_id"] != first


@pytest.mark.parametrize(
    ("engine", "start"), [("fsm", "THINK"), ("naive", "ASK_MODEL")]
)
def test_the_engine_is_drawn_before_it_runs(engine, start):
    """The diagram of the chosen engine stands there from the beginning"""
    assert f"[*] --> {start}" in drawn(player(engine=engine))


def test_reset_forgets_the_run():
    """After Reset nothing has happened"""
    shown = player()
    press(shown, "run", "reset")
    assert "Press Run, or Step" in told(shown)
    assert shown.view.slider.value == 0


def test_what_is_to_come_is_not_told():
    """After four steps four events stand there, and how many are still to come"""
    shown = player()
    press(shown, "step", "step", "step", "step")
    events = shown.view.parts["events"].value
    assert events.count("<tr") == 4
    assert "29 later" in events
    assert "run_finished" not in events


def test_back_and_step_have_nothing_to_do_at_the_ends():
    """They do nothing there, and stay enabled: a disabled button drops the focus"""
    shown = player()
    press(shown, "step", "back", "back")
    assert told(shown).startswith("0 of 33")
    press(shown, "run")
    ended = told(shown)
    press(shown, "step")
    assert told(shown) == ended
    assert not any(shown.view.buttons[name].disabled for name in ("back", "step"))


def test_a_run_that_ended_without_an_answer_says_so():
    """Whoever was asked last and never answered is not waited for"""
    shown = player("endless_retry", model=Script([]))
    press(shown, "run")
    assert "It did not answer." in shown.view.parts["turn"].value


def test_another_engine_is_another_run():
    """Choosing another engine, scenario or model resets the player"""
    shown = player()
    press(shown, "run")
    shown.view.choices["engine"].value = "naive"
    assert shown.playback.events == []
    press(shown, "run")
    assert shown.playback.events[0]["engine"] == "naive"


@pytest.fixture
def scenario_file(tmp_path, monkeypatch):
    """Return the file of the only scenario that there is."""
    monkeypatch.setattr("workbook.playground.scenarios.FOLDER", tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    return path


def test_an_edited_scenario_is_played_as_it_is_now(scenario_file):
    """Run plays the file as it was saved last, in a player that is open"""
    shown = player("mine")
    press(shown, "run")
    scenario_file.write_text(MINE.replace("88", "99"), encoding="utf-8")
    press(shown, "run")
    assert "99" in shown.view.parts["now"].value


def test_a_scenario_that_was_spoilt_is_told_on_the_page(scenario_file):
    """Who presses a button after a slip in the file reads where it is, and mends it"""
    shown = player("mine")
    press(shown, "run")
    scenario_file.write_text(MINE.replace('"t"', '"t'), encoding="utf-8")
    press(shown, "run")
    assert "ScenarioError: mine.toml is not TOML" in told(shown)
    assert "(at line 1" in told(shown)
    press(shown, "reset")
    assert told(shown).endswith("Mend it, then press Run.")
    press(shown, "step")
    assert "mine.toml is not TOML" in told(shown)
    scenario_file.write_text(MINE, encoding="utf-8")
    press(shown, "run")
    assert told(shown).endswith(": DONE.")


@pytest.mark.parametrize("engine", GALLERY)
def test_why_a_run_has_no_answer_is_on_the_page(engine):
    """What the model raised is shown with the event that ended the run"""
    faulty = Script([TimeoutError("the provider did not answer")])
    shown = player("price_question", engine, model=faulty)
    press(shown, "run")
    assert "the provider did not answer" in shown.view.parts["now"].value


def test_the_current_event_is_told_whole():
    """Beside the list, which cuts long texts, the current event stands in full"""
    shown = player("endless_retry", "naive")
    press(shown, *["step"] * 4)
    assert "https://intranet.example/news" in shown.view.parts["now"].value
    press(shown, "reset")
    assert "intranet" not in shown.view.parts["now"].value


def test_what_a_tool_asked_the_model_is_counted_apart():
    """The calls of the model that a tool made stand beside the agent's own steps"""
    shown = player("price_question", "langchain")
    press(shown, "run")
    assert "5 spent" in shown.view.parts["budgets"].value
    assert f"{MORE_CALLS} 4." in shown.view.parts["budgets"].value
    shown.view.choices["engine"].value = "fsm"
    press(shown, "run")
    assert MORE_CALLS not in shown.view.parts["budgets"].value


def test_cancel_stops_a_run_that_waits():
    """Cancel ends a run whose model takes its time"""
    shown = player("endless_retry", model="slow")
    shown.view.buttons["run"].click()
    assert shown.running
    assert not shown.view.buttons["cancel"].disabled
    press(shown, "cancel")
    assert told(shown).endswith("CANCELLED. You stopped this run.")
    assert shown.view.buttons["cancel"].disabled
    press(shown, "back", "back")
    assert told(shown).endswith("You stopped this run.")
    press(shown, "reset")
    assert "stopped" not in told(shown)


def test_stepping_back_takes_later_states_back():
    """An arrow that was taken later is not drawn before"""
    shown = player("endless_retry", "fsm")
    press(shown, "run")
    assert "EXHAUSTED" in drawn(shown)
    press(shown, "back", "back")
    assert "EXHAUSTED" not in drawn(shown)


def test_run_pressed_twice_is_one_run():
    """Whoever presses Run again while the model thinks does not start another run"""
    shown = player("price_question", model="slow")
    shown.view.buttons["run"].click()
    first = shown.run
    shown.view.buttons["run"].click()
    assert shown.run is first
    press(shown, "cancel")


def test_a_saved_trace_is_played_back(tmp_path):
    """A trace that was saved is stepped through; Reset goes to its start"""
    path = tmp_path / "trace.jsonl"
    play("endless_retry", "naive", path=path)
    shown = player(trace=Trace.read(path))
    assert told(shown).startswith("0 of")
    press(shown, "step", "step")
    assert "class ASK_MODEL now" in drawn(shown)
    press(shown, "run")
    assert told(shown).endswith("EXHAUSTED.")
    press(shown, "reset")
    assert told(shown).startswith("0 of")
    assert shown.view.buttons["cancel"].disabled


def test_the_slider_moves_the_run():
    """Moving the slider shows that event"""
    shown = player()
    press(shown, "run")
    shown.view.slider.value = 4
    assert told(shown) == "4 of 33 events: EXECUTE_TOOL (the budget is asked)."


def test_the_new_part_of_the_prompt_is_marked():
    """The second prompt marks the first turn and its observation as new"""
    shown = player("price_question", "naive")
    press(shown, *["step"] * 6)
    (new,) = re.findall(
        r"<mark[^>]*>(.*?)</mark>", shown.view.parts["prompt"].value, re.DOTALL
    )
    assert new.startswith("Thought: First I need 20% of 100.")
    assert new.endswith("Observation: 20\n")


@pytest.mark.parametrize("engine", GALLERY)
def test_what_a_tool_brings_is_text_everywhere(engine, monkeypatch):
    """HTML in an observation is escaped at every step and on the static page"""
    shown = player("html_from_a_tool", engine)
    press(shown, "run")
    for position in range(len(shown.playback.events) + 1):
        shown.view.slider.value = position
        for part in (shown.view.status, *shown.view.parts.values()):
            assert not re.search(r"<(img|script|b>S)", part.value)
    page = displayed(shown, monkeypatch)[1]["text/html"]
    assert "&lt;script&gt;" in page
    assert not re.search(r"<(img|script)", page)


def test_colours_come_in_pairs():
    """Where the style sets a background it sets the ink too, for dark themes"""
    rules = re.findall(r"{([^}]*)}", STYLE.read_text(encoding="utf-8"))
    assert rules
    for rule in rules:
        assert ("background" in rule) == bool(re.search(r"(?<![-\w])color:", rule))


@pytest.mark.parametrize("engine", ["naive", "fsm"])
def test_a_page_without_widgets_shows_the_run(engine, monkeypatch):
    """The whole trace and its picture are an output of their own, beside the widget"""
    widget, page = displayed(player("price_question", engine), monkeypatch)
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert "application/vnd.jupyter.widget-view+json" not in page
    assert page["text/html"].startswith("<details class='instead'><summary>")
    assert page["text/html"].count("<tr>") > 15
    assert re.search(r"<svg.*>DONE<.*</svg>", page["text/html"], re.DOTALL)


def test_a_live_model_is_not_asked_for_a_static_page(monkeypatch):
    """To show itself, the player asks no model that costs something"""
    script = Script(["Final Answer: 1"])
    displayed(player(model=script), monkeypatch)
    assert script.asked == 0


def test_a_model_that_cannot_be_had_is_told_in_a_sentence(monkeypatch):
    """A missing key is a sentence on the page, and no traceback"""
    shown = player(model="gpt-4o-mini")
    press(shown, "run")
    assert told(shown).startswith("MissingKey: ")


def test_the_hosted_model_is_offered_when_there_is_a_key(monkeypatch):
    """With a key the hosted model can be chosen, and the key stays out of sight"""
    assert len(model_options("scripted")) == 3
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123")
    options = model_options("scripted")
    assert options[-1] == ("hosted: gpt-4o-mini", "gpt-4o-mini")
    assert "sk-" not in str(options)


def test_a_wrong_name_in_the_environment_does_not_break_the_player(monkeypatch):
    """The lesson's first cell tells a slip in WORKBOOK_MODEL; the player still opens"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123")
    monkeypatch.setenv("WORKBOOK_MODEL", "lokal")
    assert ("hosted: gpt-4o-mini", "gpt-4o-mini") in model_options("scripted")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"scenario": "endles_retry"}, ScenarioError, "Did you mean 'endless_retry'"),
        ({"engine": "fms"}, ScenarioError, "there is no engine 'fms'; there is naive"),
        ({"model": "locl"}, UnknownModel, "did you mean 'local'"),
        ({"trace": "run.jsonl"}, TypeError, "player.trace=Trace.read"),
    ],
)
def test_a_wrong_name_is_told_at_once(arguments, error, words):
    """A slip in a name is told when the player is made, with what was meant"""
    with pytest.raises(error, match=words):
        player(**arguments)


def test_a_saved_trace_without_events_shows_nothing_else(monkeypatch):
    """An empty trace is said to be empty; no other run is played in its place"""
    shown = player(trace=Trace(()))
    press(shown, "run", "step", "back")
    assert told(shown) == "A trace without events."
    page = displayed(shown, monkeypatch)[1]["text/plain"]
    assert page == "A trace without events. 0 events."


def test_what_is_shown_last_is_what_was_told_last():
    """Of two threads that show the run, none brings back what is over"""
    shown, asked, seen, words = player(), threading.Event(), [], ["first"]

    def told_slowly():
        now = words[-1]
        if not asked.is_set():
            asked.set()
            threading.Event().wait(0.2)
        return now

    shown._told = told_slowly
    shown.view.show = lambda playback, running, told, request: seen.append(told)
    other = threading.Thread(target=shown._show)
    other.start()
    assert asked.wait(10)
    words.append("then")
    shown._show()
    other.join(10)
    assert seen == ["first", "then"]


def test_a_run_that_ends_while_it_is_shown_is_shown_as_ended():
    """The last thing on view is the end, however slow the page is to draw"""
    seen = threading.Event()

    class Waits(Script):
        def complete(self, *args, **kwargs):
            assert seen.wait(10)
            return super().complete(*args, **kwargs)

    shown = player("price_question", "naive", model=Waits(["Final Answer: 88"]))
    show = shown.view.show

    def slow(playback, running, words, asked=None):
        if running and threading.current_thread().name.endswith("(_keep_up)"):
            seen.set()
            shown._thread.join(10)
        show(playback, running, words, asked)

    shown.view.show = slow
    shown.play()
    for thread in threading.enumerate():
        if thread.name.endswith("(_keep_up)"):
            thread.join(10)
    assert "the run goes on" not in told(shown)
    assert told(shown).endswith(": DONE.")


@pytest.mark.parametrize("engine", GALLERY)
def test_cancel_ends_the_run_on_every_engine(engine):
    """A stop during the third turn ends the run there; no further turn is asked for"""
    turns = []

    def stop_at_third(event):
        if event["kind"] == "model_turn" and "parent" not in event:
            turns.append(event)
            if len(turns) == 3:
                run.stop()

    run = Watched(stop_at_third)
    end = play("endless_retry", engine, listener=run).end
    assert len(turns) == 3
    has_a_word = ENGINES[engine].table is not None
    expected = ("CANCELLED", "cancel") if has_a_word else ("ERROR", "KeyboardInterrupt")
    assert (end["state"], end["reason"]) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cancel_before_the_start_ends_the_run_at_once(engine):
    """Who stops a run before it began gets a run without a turn"""
    run = Watched(lambda event: None)
    run.stop()
    trace = play("price_question", engine, listener=run)
    assert trace.of("model_turn") == []
    assert trace.end["state"] in ("CANCELLED", "ERROR")


def test_a_pause_ends_when_the_user_says_stop():
    """Nobody waits for a pause of an hour once the run is stopped"""
    run = Watched(lambda event: None, pause_s=3600)
    run.stop()
    with pytest.raises(KeyboardInterrupt):
        run({"kind": "model_request"})


@pytest.mark.parametrize("engine", GALLERY)
def test_a_stop_at_the_very_end_changes_nothing(engine):
    """A run that has its answer keeps it, whatever is pressed then"""

    def stop_at_the_end(event):
        if event["kind"] == "run_finished":
            run.stop()

    run = Watched(stop_at_the_end)
    assert play("price_question", engine, listener=run).end["answer"] == "88"


@pytest.mark.parametrize("engine", ENGINES)
def test_wherever_a_run_is_stopped_it_has_one_end(engine):
    """Whatever the engine is doing when the stop comes, its trace ends, and once"""

    def stopped_at(seq):
        run = Watched(lambda event: run.stop() if event["seq"] == seq else None)
        return play("price_question", engine, listener=run)

    traces = [stopped_at(seq) for seq in range(len(play("price_question", engine)))]
    assert [len(trace.of("run_finished")) for trace in traces] == [1] * len(traces)
    assert {trace.events[-1]["kind"] for trace in traces} == {"run_finished"}


@pytest.mark.parametrize(("slug", "wing"), [("page_pays", "trust"), ("drift", "")])
def test_the_scenarios_of_its_wing_can_be_chosen(slug, wing):
    """Beside a scenario stand those of its wing of the gallery"""
    shown = player(slug, "grounded")
    assert list(shown.view.choices["scenario"].options) == slugs(wing)
    assert shown.view.mode.layout.display == "flex"
