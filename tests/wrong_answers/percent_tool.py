"""Plausible wrong answers to `percent_tool`, each with the test that must catch it."""

from dataclasses import replace

from workbook.runtime.calls import Effect
from workbook.runtime.calculator import percent_tool as ours

NUMBER = {"type": "number"}


def _with_run(calculate):
    """Return our tool with another calculation; a whole result is an int."""

    def run(amount, percent):
        result = calculate(amount, percent)
        return {"result": int(result) if result == int(result) else result}

    return replace(ours(), run=run)


def _with_schema(percent):
    return replace(ours(), parameters={
        "properties": {"amount": NUMBER, "percent": percent},
        "required": ["amount", "percent"],
    })


def adds_the_percent():
    return _with_run(lambda amount, percent: amount + percent)


def calculates_in_floats():
    return _with_run(lambda amount, percent: amount * (1 + percent / 100))


def rounds_the_dust_away():
    return _with_run(lambda amount, percent: round(amount * (100 + percent) / 100, 6))


def rounds_to_cents():
    return _with_run(lambda amount, percent: round(amount * (100 + percent) / 100, 2))


def rounds_to_a_tenth_of_a_millionth():
    """Exact for prices; 0.00000012 and 0 % give 0.0000001."""
    return _with_run(lambda amount, percent: round(amount * (100 + percent) / 100, 7))


def its_amount_has_no_type():
    return replace(ours(), parameters={**ours().parameters, "properties": {
        "amount": {}, "percent": {**NUMBER, "minimum": -100, "maximum": 1000}}})


def one_argument_is_optional():
    return replace(ours(), parameters={**ours().parameters, "required": ["amount"]})


def takes_extra_fields():
    """`Tool` adds `additionalProperties: false` by itself, and refuses true."""
    return replace(ours(), parameters={**ours().parameters, "additionalProperties": True})


def never_an_int():
    return replace(ours(), run=lambda **given: {"result": float(ours().run(**given)["result"])})


def keeps_its_limits_to_itself():
    return _with_schema(NUMBER)


def forbids_the_limit_itself():
    return _with_schema({**NUMBER, "exclusiveMinimum": -100, "exclusiveMaximum": 1000})


def as_tutorials_describe_it():
    return replace(ours(), description="Useful for questions about percentages.")


def its_example_lies():
    text = ours().description.replace('{"amount": "80 + 10%"}', '{"amount": 8, "percent": 9}')
    return replace(ours(), description=text)


def writes():
    return replace(ours(), effect=Effect.WRITE)


WRONG = {
    adds_the_percent: "test_an_amount_is_changed",
    calculates_in_floats: "test_it_is_what_it_is_on_paper",
    rounds_the_dust_away: "test_it_is_what_it_is_on_paper",
    rounds_to_cents: "test_it_is_what_it_is_on_paper",
    rounds_to_a_tenth_of_a_millionth: "test_it_is_what_it_is_on_paper",
    its_amount_has_no_type: "test_every_wrong_call_is_refused_by_the_schema",
    one_argument_is_optional: "test_every_wrong_call_is_refused_by_the_schema",
    takes_extra_fields: "test_every_wrong_call_is_refused_by_the_schema",
    never_an_int: "test_a_whole_result_is_an_int",
    keeps_its_limits_to_itself: "test_every_wrong_call_is_refused_by_the_schema",
    forbids_the_limit_itself: "test_the_limits_are_allowed",
    as_tutorials_describe_it: "test_nothing_is_missing_in_the_description",
    its_example_lies: "test_the_examples_are_true",
    writes: "test_the_tool_says_what_it_is",
}
