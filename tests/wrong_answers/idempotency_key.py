"""Plausible wrong answers to `idempotency_key`, each with the test that must catch it."""

import json

from workbook.guardrails.ledger import plain


def takes_the_call_id(call, business_key=()):
    return f"{call.name} {call.call_id} {json.dumps(plain(call.arguments), sort_keys=True)}"


def takes_the_arguments_as_written(call, business_key=()):
    named = {name: call.arguments.get(name) for name in business_key}
    whole = all(value is not None for value in named.values())
    counts = named if named and whole else call.arguments
    return json.dumps([call.name, counts], sort_keys=True)


def joins_the_values(call, business_key=()):
    counts = plain(call.arguments)
    names = list(business_key) if set(business_key) <= set(counts) else []
    return call.name + "".join(str(counts[name]) for name in names or sorted(counts))


def takes_what_there_is_of_the_business_key(call, business_key=()):
    counts = plain(call.arguments)
    named = {name: counts[name] for name in business_key if name in counts}
    return json.dumps([call.name, named or counts], sort_keys=True)


def forgets_the_tool(call, business_key=()):
    counts = plain(call.arguments)
    if business_key and all(name in counts for name in business_key):
        counts = {name: counts[name] for name in business_key}
    return json.dumps(counts, sort_keys=True)


WRONG = {
    takes_the_call_id: "test_the_call_id_does_not_count",
    takes_the_arguments_as_written: "test_other_clothes_are_the_same_deed",
    joins_the_values: "test_each_value_stands_for_its_name",
    takes_what_there_is_of_the_business_key: (
        "test_without_one_of_them_all_arguments_count"
    ),
    forgets_the_tool: "test_another_deed_has_another_key",
}
