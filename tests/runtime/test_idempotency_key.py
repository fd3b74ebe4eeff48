"""The idempotency key: what two calls share that mean the same operation."""

import pytest

from workbook.runtime.calls import ToolCall

PAY = {"payee": "bookshop", "amount": 25, "currency": "EUR"}
INVOICE = {**PAY, "reference": "INV-7"}


def call(arguments, tool="Pay", call_id="call_1", notes=()):
    return ToolCall(tool, arguments, call_id, notes)


def test_it_is_text(idempotency_key):
    """the key is text, which a file can keep"""
    key = idempotency_key(call(PAY))
    assert isinstance(key, str), f"its type is {type(key).__name__}"


@pytest.mark.parametrize(
    "again",
    [
        {"currency": "EUR", "amount": 25, "payee": "bookshop"},
        {**PAY, "amount": 25.0},
        {**PAY, "payee": " bookshop\n"},
        {**PAY, "payee": "ｂｏｏｋｓｈｏｐ"},
    ],
)
def test_other_clothes_are_the_same_operation(idempotency_key, again):
    """25 is 25.0; argument order, outer spaces, full or half width do not count"""
    assert idempotency_key(call(again)) == idempotency_key(call(PAY))


def test_the_call_id_does_not_count(idempotency_key):
    """neither the call_id nor the notes count: a model that asks again has new ones"""
    again = call(PAY, call_id="call_2", notes=("amount: '25' read as 25",))
    assert idempotency_key(again) == idempotency_key(call(PAY))


@pytest.mark.parametrize(
    "other",
    [
        call(PAY, tool="Refund"),
        call({**PAY, "amount": 25.01}),
        call({**PAY, "amount": "25"}),
        call({**PAY, "payee": "bookshop 2"}),
        call({**PAY, "payee": "Bookshop"}),
        call({**PAY, "payee": "EUR", "currency": "bookshop"}),
        call({"payee": "bookshop", "amount": 25}),
    ],
    ids=["tool", "amount", "type", "payee", "case", "names", "less"],
)
def test_another_operation_has_another_key(idempotency_key, other):
    """another tool, value (a capital counts) or argument makes another operation"""
    keys = idempotency_key(call(PAY)), idempotency_key(other)
    assert keys[0] != keys[1], f"two operations have one key: {call(PAY)} and {other}"


def test_the_business_key_alone_counts(idempotency_key):
    """if all arguments in `business_key` are there, only they and the tool count"""
    again = {**INVOICE, "payee": "The Bookshop Ltd", "amount": 26}
    key = idempotency_key(call(INVOICE), ["reference"])
    assert idempotency_key(call(again), ["reference"]) == key
    other = idempotency_key(call(INVOICE, tool="Refund"), ["reference"])
    assert other != key, f"Pay and Refund have one key, {key!r}"


def test_each_value_stands_for_its_name(idempotency_key):
    """the named arguments are kept apart (1, 12 is not 11, 2), in `plain` spelling"""
    names = ["year", "number"]
    one = {"year": 1, "number": 12, "amount": 25}
    other = {**one, "year": 11, "number": 2}
    key = idempotency_key(call(one), names)
    assert idempotency_key(call({**one, "year": 1.0}), names) == key
    others = idempotency_key(call(other), names)
    assert others != key, f"{one} and {other} have one key, {key!r}"


def test_without_one_of_them_all_arguments_count(idempotency_key):
    """if one of the named arguments is missing, all arguments count again"""
    names = ["payee", "reference"]
    key = idempotency_key(call(PAY))
    assert idempotency_key(call(PAY), names) == key
    other = idempotency_key(call({**PAY, "amount": 30}), names)
    assert other != key, f"25 and 30 euros have one key, {key!r}"
