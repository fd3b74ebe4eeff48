"""Each lesson in JupyterLab: it runs, shows what it is about, and takes an answer."""

import re

from playwright.sync_api import expect


def assert_fits(lesson, shown):
    """It ends before the right edge, and nobody has to scroll sideways."""
    box = shown.bounding_box()
    assert box["x"] + box["width"] <= lesson.page.viewport_size["width"]
    assert shown.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def test_lesson_01_shows_its_gallery(ran):
    """The plots and the gallery's first column stand on the page"""
    lesson = ran("01_naive_loop")
    gallery = lesson.output('before = gallery(["naive"]')
    expect(gallery).to_contain_text("EXHAUSTED (call_limit)")
    expect(lesson.page.locator(".workbook-plot")).to_have_count(2)
    forged = lesson.output("trusting = run_loop(").locator(".wb-forged")
    expect(forged.first).to_contain_text("Observation:")
    expect(forged.first).to_contain_text("only the runtime may")
    expect(lesson.output("parse_turn = check(")).to_contain_text("not attempted")


def test_lesson_02_measures_four_methods(ran):
    """A table of the four methods, and one of three pairs"""
    lesson = ran("02_react_prompting")
    for words, rows in (("table = []", 4), ("compared = [", 3)):
        expect(lesson.output(words).locator("table tbody tr")).to_have_count(rows)
    lesson.solve("parse_bracket_action")


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


def test_lesson_04_refuses_arguments(ran):
    """What a tool refuses, and why, is in the tables"""
    lesson = ran("04_tools_as_contracts")
    expect(lesson.output("def exchange(").locator(".wb-block")).to_have_count(12)
    expect(lesson.output("def exchange(")).to_contain_text("unexpected")
    repaired = lesson.output('repairing, "Factorial"))')
    expect(repaired).to_contain_text("n has 3 values: call once per value")
    expect(lesson.output("parts=mine")).to_contain_text("Final Answer: 91 = 7 * 13")
    lesson.solve("validate_arguments")


def test_lesson_05_from_the_loop_to_the_gallery(ran):
    """On a small screen diagrams, gallery and player are seen whole"""
    lesson = ran("05_state_machine", size={"width": 1024, "height": 768})
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
    lesson.solve("advance")


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
    asked = arguments.input_value()
    arguments.fill("no JSON")
    player.press("Edit")
    expect(form.get_by_role("alert")).to_contain_text("This is not JSON")
    arguments.fill(asked)
    player.press("Approve")
    expect(form).to_be_hidden()
    player.press("To the end")
    player.expect_status(": DONE")
    expect(player.root).to_contain_text("I fixed price.py")
    modes = lesson.output("stage.Diff(request.preview)")
    expect(modes.locator("tr", has_text="plan")).to_contain_text("✗ no")
    expect(modes.locator("tr", has_text="build").last).to_contain_text("✓ yes")
    guess = lesson.output("alone = predict").get_by_role("button", name="a policy")
    guess.click()
    expect(guess).to_have_class(re.compile("mod-active"))
    lesson.solve("decide")


def test_lesson_08_from_a_wrong_answer_to_its_replay(ran):
    """What was found in traces is shown"""
    lesson = ran("08_traces_and_replay")
    expect(lesson.output("folder = Path(mkdtemp())")).to_contain_text("trace.jsonl")
    parted = lesson.output("run.events[seq]").locator(".wb-first")
    expect(parted).to_have_count(2)
    expect(parted.last).to_contain_text("Final Answer: 45")
    expect(lesson.output("except Divergence")).to_contain_text("Event 32 is")
    expect(lesson.output("import what_if")).to_contain_text("90 ◀ the first difference")
    expect(lesson.output("over_the_gallery")).to_contain_text("68 of 68")
    expect(lesson.output("asked.reveal(")).to_contain_text("9 of 32")
    lesson.solve("first_divergence")


def test_lesson_09_from_a_claim_to_a_rate(ran):
    """Four ways round, the verdicts, the held-out sets"""
    lesson = ran("09_grounding")
    waved_on = lesson.output("first_idea) for answer").locator(".wb-chip")
    expect(waved_on).to_have_text(["□ done"] * 4)
    expect(lesson.output("Verdict(**fields)")).to_contain_text("NOT_SAID")
    expect(lesson.output("def audit_with(")).to_contain_text("⊘ refused")
    expect(lesson.output("measured.labelled(")).to_contain_text("swapped directions")
    expect(lesson.output('"refused", *by)')).to_contain_text("paraphrased")
    lesson.solve("split_claims")


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
    player.press("To the end")
    player.expect_status(": DONE")
    expect(player.root).to_contain_text("Adults pay 12 euro [page_1]")
    lesson.solve("may_flow")


def test_lesson_11_from_five_runs_to_an_exercise(ran):
    """Runs are counted, and plotted"""
    lesson = ran("11_self_consistency")
    expect(lesson.output("verifiers.items()")).to_contain_text("the verifier chose it")
    expect(lesson.output("verifiers.items()")).to_contain_text("within 0.2 s")
    expect(lesson.output("stage.chart(").locator("img")).to_have_count(1)
    lesson.solve("pass_at_k")


def test_lesson_12_from_a_grader_that_lies_to_two_versions_in_pairs(ran):
    """Graders, and two versions in pairs"""
    lesson = ran("12_evaluation")
    expect(lesson.output("2004 in 12004")).to_contain_text("silence_is_safe")
    expect(lesson.output('graded_answers("blind")')).to_contain_text("of 120")
    pairs = lesson.output("stage.comparison([in_pairs(found)])")
    expect(pairs).to_contain_text("0.008")
    expect(pairs.locator(".wb-scale")).to_have_count(1)
    expect(lesson.output("in_forms(forms)")).to_contain_text("p = 0.06")
    lesson.solve("wilson_interval")


def test_lesson_13_from_a_figure_to_verdicts_of_ones_own(ran):
    """The open claims have no verdict"""
    lesson = ran("13_read_the_claims")
    expect(lesson.output("verdicts = [")).to_contain_text("not judged yet")
    lesson.solve("my_verdicts")


def test_lesson_14_to_an_agent_of_ones_own(ran):
    """A guard makes the difference; the agent is exported"""
    lesson = ran("14_your_agent")
    story = lesson.output("own.played(example")
    chips = ["✓ right", "✗ wrong", "⊘ refused"]
    expect(story.locator("tr .wb-chip")).to_have_text(chips)
    expect(lesson.output("by_heart), danger=True")).to_contain_text("1 of 20 end right")
    exported = re.compile("Your agent is in|No part of the agent is yours")
    expect(lesson.output('"export", str(home)')).to_contain_text(exported)
    expect(lesson.output("ask_outside")).to_contain_text("has not passed its check")
    lesson.solve("my_agent")
