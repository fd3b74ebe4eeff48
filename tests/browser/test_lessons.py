"""Each lesson in JupyterLab: it runs as it ships, and shows what it is about."""

import re

import pytest
from playwright.sync_api import expect

# Of each lesson that is not clicked through below: a cell, and a text that it shows, or
# a selector with how many there are or what they say.
SHOWN = {
    "01_naive_loop": {
        'before = gallery(["naive"]': "EXHAUSTED (call_limit)",
        "trusting = run_loop(": "only the runtime may",
        "parse_turn = check(": "not attempted",
    },
    "02_react_prompting": {
        "table = []": ("table tbody tr", 4),
        "compared = [": ("table tbody tr", 3),
    },
    "04_tools_as_contracts": {
        "def exchange(": (".wb-block", 12),
        'repairing, "Factorial"))': "n has 3 values: call once per value",
        "parts=mine": "Final Answer: 91 = 7 * 13",
    },
    "08_traces_and_replay": {
        "folder = Path(mkdtemp())": "trace.jsonl",
        "run.events[seq]": (".wb-first", 2),
        "except Divergence": "Event 32 is",
        "import what_if": "90 ◀ the first difference",
        "over_the_gallery": "68 of 68",
        "asked.reveal(": "9 of 32",
    },
    "09_grounding": {
        "first_idea) for answer": (".wb-chip", ["□ done"] * 4),
        "Verdict(**fields)": "NOT_SAID",
        "def audit_with(": "⊘ refused",
        "measured.labelled(": "swapped directions",
        '"refused", *by)': "paraphrased",
    },
    "11_self_consistency": {
        "verifiers.items()": "the verifier chose it",
        "stage.chart(": ("img", 1),
    },
    "12_evaluation": {
        "2004 in 12004": "silence_is_safe",
        'graded_answers("blind")': "of 120",
        "stage.comparison([in_pairs(found)])": (".wb-scale", 1),
        "in_forms(forms)": "p = 0.06",
    },
    "13_read_the_claims": {"verdicts = [": "not judged yet"},
    "14_your_agent": {
        "own.played(example": ("tr .wb-chip", ["✓ right", "✗ wrong", "⊘ refused"]),
        "by_heart), danger=True": "1 of 20 end right",
        '"export", str(home)': re.compile("Your agent is in|No part of .* is yours"),
        "ask_outside": "has not passed its check",
    },
}


def assert_fits(lesson, shown):
    """It ends before the right edge, and nobody has to scroll sideways."""
    box = shown.bounding_box()
    assert box["x"] + box["width"] <= lesson.page.viewport_size["width"]
    assert shown.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


@pytest.mark.parametrize("slug", SHOWN)
def test_a_lesson_shows_what_it_is_about(ran, slug):
    """Run All ends without an error, with a stub for each exercise, and results"""
    lesson = ran(slug)
    for words, wanted in SHOWN[slug].items():
        match wanted:
            case str(selector), int(count):
                found = lesson.output(words).locator(selector)
                expect(found).to_have_count(count)
            case str(selector), texts:
                expect(lesson.output(words).locator(selector)).to_have_text(texts)
            case text:
                expect(lesson.output(words)).to_contain_text(text)


def test_lesson_00_from_run_all_to_a_solved_exercise(ran):
    """Run all, be the model, answer wrongly, read why, solve it, look at a hint."""
    lesson = ran("00_start_here")
    hints = lesson.output("hint(who_writes)")
    assert hints.inner_text() == ""  # Run All gives nothing away
    widget = lesson.page.locator(".be-the-model")
    box = widget.get_by_role("textbox", name="Your turn")
    send = widget.get_by_role("button", name="Send my turn")
    for turn, answers in {
        "Action: Calculator\nAction Input: 100*0.2\nObservation: 99": (
            "Observation: 20", "You wrote an Observation",
        ),
        "I think <img src=x onerror=alert(1)> it is 88.": ("There is no step in it",),
        "Final Answer: <b>88</b>": ("Final Answer: <b>88</b>", "That is right"),
    }.items():  # fmt: skip
        box.fill(turn)
        send.click()
        for words in answers:
            expect(widget).to_contain_text(words)
    expect(widget).not_to_contain_text("99")
    expect(send).to_be_disabled()
    message = ["returned", "who_writes('Observation')"]
    lesson.solve("who_writes", 'return "model"', message)
    lesson.type_into("hint(who_writes)", "hint(who_writes)")
    expect(hints).to_contain_text("hint 1 of 3")


def test_lesson_03_shows_what_the_framework_says(ran):
    """A row of the log unfolds, the prompt has its writers, the diagrams are drawn"""
    lesson = ran("03_langchain_debug_trace")
    rows = lesson.output("DebugLog(), Journal()").locator("tbody tr")
    expect(rows).to_have_count(54)
    scratchpad = rows.nth(13)
    expect(scratchpad.locator("td").first).to_have_text("scratchpad")
    expect(scratchpad.locator("pre")).to_be_hidden()
    scratchpad.locator("summary").click()
    expect(scratchpad.locator("pre")).to_contain_text("Observation: Answer: 20.0")

    expect(lesson.output("the agent's own").locator("table")).to_be_visible()
    hidden = "Question: ${Question with math problem.}"  # two of them are no formula
    expect(lesson.page.locator("table", has_text=hidden).first).to_be_visible()
    expect(lesson.page.locator("table mjx-container")).to_have_count(0)

    prompt = lesson.output("split_prompt(prompts[0])")
    expect(prompt.locator(".wb-block")).to_have_count(5)
    expect(prompt.locator("tr", has_text="question")).to_contain_text("100")
    drawn = lesson.output("draw(trace.events[:14])").locator(".jp-RenderedMermaid img")
    expect(drawn).to_have_count(2)
    assert_fits(lesson, drawn.first)
    forged = lesson.output("stop_word_runs(real_model(").locator(".wb-forged")
    expect(forged.first).to_contain_text("Observation:")
    expect(lesson.output("gpt-4o-mini").locator("img")).to_be_visible()


def test_lesson_05_from_the_loop_to_the_gallery(ran):
    """On a small screen diagrams, gallery and player are seen whole"""
    lesson = ran("05_state_machine")
    for words in ("small.mermaid(", "table.mermaid("):
        drawn = lesson.output(words).locator(".jp-RenderedMermaid img")
        expect(drawn).to_be_visible()
        assert_fits(lesson, drawn)
    gallery = lesson.output("endings = gallery(").locator(".gallery")
    expect(gallery).to_contain_text("CANCELLED (cancel)")
    assert 5 < gallery.locator(".marked").count() < 20  # what changed, on top
    expect(gallery.get_by_text("A made-up Observation")).to_be_visible()
    expect(gallery.get_by_text("The price question", exact=True)).to_be_hidden()
    assert_fits(lesson, gallery)
    before = lesson.output("designed.reveal(").locator(".wb-chip")
    expect(before).to_have_text([*["! error"] * 3, "⇥ exhausted", "! error"])
    expect(lesson.output("IllegalTransition as refused")).to_contain_text("refused:")
    player = lesson.player('player("price_question"')
    assert_fits(lesson, player.root)
    player.press(*["Step"] * 4)
    player.expect_status("Event 4 of 33: EXECUTE_TOOL")
    player.press("To the end")
    player.expect_status("DONE")


def test_lesson_06_from_the_gallery_to_the_player(ran):
    """Rows that guards changed are marked; a run is seen to be stuck"""
    lesson = ran("06_guardrails")
    shown = lesson.output("endings = gallery(")
    expect(shown).to_contain_text("ends otherwise:")
    assert shown.locator(".marked").count() > 5
    stuck = lesson.page.locator(".wb-chip", has_text="↻ stuck")
    expect(shown.locator(stuck).first).to_be_visible()
    expect(lesson.output("chart(rows").locator("img")).to_have_count(1)
    ends = lesson.output("'Hmm.' for ever").locator(".wb-chip")
    words = ["⇥ exhausted", "↻ stuck"] * 2 + ["✓ right"] * 2 + ["↻ stuck"]
    expect(ends).to_have_text(words)
    assert_fits(lesson, lesson.output("call {n} → digest").locator("table"))
    player = lesson.player('player("ping_pong"')
    player.press("To the end")
    player.expect_status("STUCK")
    lesson.solve("within_budget")
    limits = "limits = limited(steps=30"
    lesson.run(limits)
    expect(lesson.output(limits)).to_contain_text("yours: within_budget")


def test_lesson_07_from_two_payments_to_the_person(ran):
    """A plan changes nothing; a test is fixed under your eyes"""
    lesson = ran("07_permission")
    expect(lesson.output("paid_with_guards")).to_contain_text("who looks")
    expect(lesson.output("killed_everywhere")).to_contain_text("not known")
    player = lesson.player('player("mend_the_test"')
    form = player.form
    player.press("To the end")
    player.expect_status("The run waits for you: write_file")
    expect(form).to_contain_text("+    return listed * (1 - off / 100) * (1 +")
    arguments = form.get_by_role("textbox", name="arguments")
    expect(arguments).not_to_have_value("")
    asked = arguments.input_value()
    arguments.fill("no JSON")
    player.press("Edit")
    expect(form.get_by_role("alert")).to_contain_text("This is not JSON")
    arguments.fill(asked)
    player.press("Approve")
    expect(form).to_be_hidden()  # and the run plays on
    player.expect_status(": DONE")
    expect(player.root).to_contain_text("I fixed price.py")
    modes = lesson.output("stage.Diff(request.preview)")
    expect(modes.locator("tr", has_text="plan")).to_contain_text("✗ no")
    expect(modes.locator("tr", has_text="build").last).to_contain_text("✓ yes")
    guess = lesson.output("alone = predict").get_by_role("button", name="a policy")
    guess.click()
    expect(guess).to_have_class(re.compile("mod-active"))


def test_lesson_10_from_a_page_that_wants_money_to_what_it_costs(ran):
    """A tainted run asks you about the payment"""
    lesson = ran("10_untrusted")
    expect(lesson.output("untrusted.is_blocked(")).to_contain_text("only one word")
    expect(lesson.output("untrusted.attacks(")).to_contain_text("✗ wrong secret out")
    expect(lesson.output("untrusted.honest(")).to_contain_text("suspended")
    player = lesson.player('player("page_pays"')
    player.press("Run")
    asked = player.form.get_by_role("textbox", name="arguments")
    expect(asked).to_have_value(re.compile("Mallory"))
    player.form.get_by_role("textbox", name="why").fill("nobody asked for that")
    player.press("Reject")
    player.expect_status(": DONE")
    expect(player.root).to_contain_text("Adults pay 12 euro [page_1]")
