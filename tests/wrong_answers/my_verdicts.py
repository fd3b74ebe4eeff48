"""Plausible wrong answers to `my_verdicts`, each with the test that must catch it."""

from workbook.lessons.read_the_claims import Cited, ClaimVerdict
from workbook.lessons.read_the_claims import my_verdicts as good


def trusts_the_listing():
    tools = [lambda: 1 / 0, lambda: {4}]
    return good() | {"tool_errors": Cited(ClaimVerdict.RIGHT, tools)}


def takes_a_text_for_no_json():
    tools = [lambda: 1 / 0, lambda: "four"]
    return good() | {"tool_errors": Cited(ClaimVerdict.RIGHT, tools)}


def cites_what_the_listing_catches():
    return good() | {"tool_errors": Cited(ClaimVerdict.RIGHT, [lambda: 1 / 0])}


def believes_the_sum():
    places = [("ReAct", "ALFWorld"), ("imitation", "ALFWorld")]
    return good() | {"own_gain": Cited(ClaimVerdict.RIGHT, places)}


def cites_another_row():
    places = [("ReAct", "ALFWorld"), ("RL", "ALFWorld")]
    return good() | {"own_gain": Cited(ClaimVerdict.WRONG, places)}


def believes_the_heading():
    rows = good()["ablation"].evidence
    return good() | {"ablation": Cited(ClaimVerdict.RIGHT, rows)}


def cites_one_row():
    row = "Qwen-Turbo, K = 3, no planner"
    return good() | {"ablation": Cited(ClaimVerdict.NOT_REPORTED, [row])}


def cites_the_baseline():
    rows = [*good()["ablation"].evidence, "Qwen-Turbo, K = 3"]
    return good() | {"ablation": Cited(ClaimVerdict.NOT_REPORTED, rows)}


def leaves_one_out():
    return {slug: cited for slug, cited in good().items() if slug != "ablation"}


def judges_a_fourth():
    return good() | {"fourth": Cited(ClaimVerdict.NOT_COMPARABLE, [])}


WRONG = {
    judges_a_fourth: "test_each_open_claim_is_judged",
    trusts_the_listing: "test_the_verdict_on_tool_errors",
    takes_a_text_for_no_json: "test_the_tools_that_were_tried",
    cites_what_the_listing_catches: "test_the_tools_that_were_tried",
    cites_the_baseline: "test_the_rows_of_the_ablation",
    believes_the_sum: "test_the_verdict_on_the_gain",
    cites_another_row: "test_the_two_figures_of_the_gain",
    believes_the_heading: "test_the_verdict_on_the_ablation",
    cites_one_row: "test_the_rows_of_the_ablation",
    leaves_one_out: "test_each_open_claim_is_judged",
}
