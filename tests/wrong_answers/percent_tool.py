"""Plausible wrong answers to `percent_tool`, each with the test that must catch it."""

from dataclasses import replace
from fractions import Fraction

from workbook.tools import Effect
from workbook.tools.calculator import percent_tool as ours


def _with(percent, **fields):
    amount = {"type": "number"}
    schema = {
        "properties": {"amount": amount, "percent": percent},
        "required": ["amount", "percent"],
    }
    return replace(ours(), parameters=schema, **fields)


def calculates_in_floats():
    """Multiplies, and leaves the dust of floats behind."""

    def run(amount, percent):
        result = amount * (1 + percent / 100)
        return {"result": int(result) if result == int(result) else result}

    return replace(ours(), run=run)


def rounds_to_cents():
    """Rounds to two places, as one would for money."""

    def run(amount, percent):
        result = round(amount * (100 + percent) / 100, 2)
        return {"result": int(result) if result == int(result) else result}

    return replace(ours(), run=run)


def never_an_int():
    """Returns a float, also where the result is whole."""

    def run(amount, percent):
        share = 1 + Fraction(str(percent)) / 100
        return {"result": float(Fraction(str(amount)) * share)}

    return replace(ours(), run=run)


def keeps_its_limits_to_itself():
    """Looks at the limits in the function, where the model cannot read them."""

    def run(amount, percent):
        if not -100 <= percent <= 1000:
            raise ValueError("percent is out of range")
        return ours().run(amount=amount, percent=percent)

    return _with({"type": "number"}, run=run)


def forbids_the_limit_itself():
    """Takes the limits for the first values that are wrong."""
    return _with(
        {
            "type": "number",
            "exclusiveMinimum": -100,
            "exclusiveMaximum": 1000,
            "maximum": 1000,
        }
    )


def takes_anything():
    """Names the fields, and forgets their types."""
    return _with({"minimum": -100, "maximum": 1000})


def as_tutorials_describe_it():
    """Says that it is useful."""
    return replace(ours(), description="Useful for questions about percentages.")


def its_example_lies():
    """Calls an example wrong that the schema takes."""
    text = ours().description.replace('{"amount": "80 + 10%"}', '{"amount": 8, "percent": 9}')
    return replace(ours(), description=text)


def writes():
    """Takes a calculation for a change of the world."""
    return replace(ours(), effect=Effect.WRITE)


WRONG = {
    calculates_in_floats: "test_it_is_what_it_is_on_paper",
    rounds_to_cents: "test_it_is_what_it_is_on_paper",
    never_an_int: "test_a_whole_result_is_an_int",
    keeps_its_limits_to_itself: "test_every_wrong_call_is_refused_by_the_schema",
    forbids_the_limit_itself: "test_the_limits_are_allowed",
    takes_anything: "test_every_wrong_call_is_refused_by_the_schema",
    as_tutorials_describe_it: "test_nothing_is_missing_in_the_description",
    its_example_lies: "test_the_examples_are_true",
    writes: "test_the_tool_says_what_it_is",
}
