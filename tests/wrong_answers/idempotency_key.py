"""Plausible wrong answers to `idempotency_key`, each with the test that must catch it."""

import json

from workbook.runtime.ledger import plain


def counting(arguments, business_key):
    if business_key and all(name in arguments for name in business_key):
        return {name: arguments[name] for name in business_key}
    return arguments


def takes_the_call_id(call, business_key=()):
    counts = counting(plain(call.arguments), business_key)
    return json.dumps([call.name, call.call_id, counts], sort_keys=True)


def takes_the_arguments_as_written(call, business_key=()):
    counts = counting(call.arguments, business_key)
    return json.dumps([call.name, counts], sort_keys=True)


def keeps_the_order_of_the_arguments(call, business_key=()):
    return json.dumps([call.name, counting(plain(call.arguments), business_key)])


def takes_capitals_for_small_letters(call, business_key=()):
    counts = counting(plain(call.arguments), business_key)
    return json.dumps([call.name, counts], sort_keys=True).lower()


def joins_the_values(call, business_key=()):
    counts = counting(plain(call.arguments), business_key)
    if counts != plain(call.arguments):
        return call.name + "".join(map(str, counts.values()))
    return json.dumps([call.name, counts], sort_keys=True)


def takes_what_there_is_of_the_business_key(call, business_key=()):
    counts = plain(call.arguments)
    named = {name: counts[name] for name in business_key if name in counts}
    return json.dumps([call.name, named or counts], sort_keys=True)


def forgets_the_tool(call, business_key=()):
    return json.dumps(counting(plain(call.arguments), business_key), sort_keys=True)


def returns_a_number(call, business_key=()):
    counts = counting(plain(call.arguments), business_key)
    return hash(json.dumps([call.name, counts], sort_keys=True))


def forgets_the_business_key(call, business_key=()):
    return json.dumps([call.name, plain(call.arguments)], sort_keys=True)


WRONG = {
    takes_the_call_id: "test_the_call_id_does_not_count",
    takes_the_arguments_as_written: "test_other_clothes_are_the_same_operation",
    keeps_the_order_of_the_arguments: "test_other_clothes_are_the_same_operation",
    takes_capitals_for_small_letters: "test_another_operation_has_another_key",
    joins_the_values: "test_each_value_stands_for_its_name",
    takes_what_there_is_of_the_business_key: "test_without_one_of_them_all_arguments_count",
    forgets_the_tool: "test_another_operation_has_another_key",
    returns_a_number: "test_it_is_text",
    forgets_the_business_key: "test_the_business_key_alone_counts",
}
