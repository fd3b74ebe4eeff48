"""Plausible wrong answers to `percent_tool`, each with the test that must catch it."""

from dataclasses import replace

from workbook.lessons.tools_as_contracts import percent_tool as ours
from workbook.runtime.calls import Effect

NUMBER = {"type": "number"}


def _with_run(calculate):
    return replace(ours(), run=calculate)


def _with_schema(percent):
    return replace(ours(), parameters={
        "properties": {"amount": NUMBER, "percent": percent},
        "required": ["amount", "percent"],
    })


def adds_the_percent():
    return _with_run(lambda amount, percent: {"result": amount + percent})


def returns_the_number_alone():
    return _with_run(lambda amount, percent: amount * (100 + percent) / 100)


def one_argument_is_optional():
    return replace(ours(), parameters={**ours().parameters, "required": ["amount"]})


def keeps_its_limits_to_itself():
    return _with_schema(NUMBER)


def forbids_the_limit_itself():
    return _with_schema({**NUMBER, "exclusiveMinimum": -100, "exclusiveMaximum": 1000})


def names_one_limit():
    text = ours().description.replace("from -100 to 1000 %", "of up to 1000 %")
    return replace(ours(), description=text)


def its_example_lies():
    text = ours().description.replace('{"amount": "80 + 10%"}', '{"amount": 8, "percent": 9}')
    return replace(ours(), description=text)


def writes():
    return replace(ours(), effect=Effect.WRITE)


WRONG = {
    adds_the_percent: "test_an_amount_is_changed",
    returns_the_number_alone: "test_an_amount_is_changed",
    one_argument_is_optional: "test_every_wrong_call_is_refused_by_the_schema",
    keeps_its_limits_to_itself: "test_every_wrong_call_is_refused_by_the_schema",
    forbids_the_limit_itself: "test_the_limits_are_allowed",
    names_one_limit: "test_nothing_is_missing_in_the_description",
    its_example_lies: "test_the_examples_are_true",
    writes: "test_the_tool_says_what_it_is",
}
