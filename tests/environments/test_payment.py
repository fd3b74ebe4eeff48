"""The payment tool: every call pays, and a refused call pays nothing."""

import threading

import pytest

from workbook.environments.payment import Payment, Payments
from workbook.runtime.calls import Effect, ToolCall
from workbook.runtime.tools import ToolRegistry


def pay(account, **arguments):
    registry = ToolRegistry([account.tool()])
    return registry.run(ToolCall("Pay", arguments, "call_1"))


@pytest.fixture(params=[None, "payments.jsonl"], ids=["memory", "file"])
def account(request, tmp_path):
    return Payments(request.param and tmp_path / request.param)


def test_each_call_pays(account):
    """the same call made twice pays twice, and each has a receipt; it is a WRITE"""
    first, second = (pay(account, payee="Ada", amount=20.5) for _ in range(2))
    paid = {"payee": "Ada", "paid": "20.50 EUR"}
    assert first.result == {"payment_id": "pay_1", **paid}
    assert second.result == {"payment_id": "pay_2", **paid}
    assert account.made == [Payment(f"pay_{n}", "Ada", 2050, "EUR") for n in (1, 2)]
    assert account.tool().effect is Effect.WRITE
    assert Payments().made == []  # two accounts share nothing


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"payee": "", "amount": 5}, "invalid_arguments"),
        ({"payee": "   ", "amount": 5}, "no_payee"),
        ({"payee": "Ada", "amount": 0}, "invalid_arguments"),
        ({"payee": "Ada", "amount": 10_000.01}, "invalid_arguments"),
        ({"payee": "Ada", "amount": 5.005}, "bad_amount"),
        ({"payee": "Ada", "amount": "5 euros"}, "invalid_arguments"),
        ({"payee": "Ada", "amount": 5, "currency": "eur"}, "invalid_arguments"),
    ],
)
def test_a_refused_payment_pays_nothing(account, arguments, kind):
    """an empty payee or an amount that is none is refused, and nothing is paid"""
    error = pay(account, **arguments).error
    assert (error.kind, bool(error.hint), account.made) == (kind, True, [])


@pytest.mark.parametrize(
    ("amount", "cents"), [(0.01, 1), (10_000, 1_000_000), (0.29, 29)]
)
def test_the_limits_can_be_paid(account, amount, cents):
    """a cent and ten thousand are paid to the cent"""
    pay(account, payee="Ada", amount=amount)
    assert sum(paid.cents for paid in account.made) == cents


def test_many_threads_pay_into_one_file(tmp_path):
    """payments made at once are all kept, each with a number of its own"""
    path = tmp_path / "payments.jsonl"

    def work(number):
        pay(Payments(path), payee=f"payee {number}", amount=5)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    numbers = [paid.payment_id for paid in Payments(path).made]
    assert numbers == [f"pay_{number}" for number in range(1, 9)]


def test_a_payment_is_found_by_its_content(account):
    """a payment of just this payee, amount, currency and reference is found"""
    assert account.look_up("Ada", 25) is None
    _, made = (pay(account, payee="Ada", amount=25).result for _ in range(2))
    billed = pay(account, payee="Ada", amount=25, reference="INV-7").result
    assert account.look_up(" Ada", 25.0, "EUR") == made
    assert account.look_up("Ada", 25, reference="INV-7") == billed
    assert billed["reference"] == "INV-7"
    for other in (
        ("Ada", 26),
        ("Eve", 25),
        ("Ada", 25, "USD"),
        ("Ada", 25, "EUR", "8"),
    ):
        assert account.look_up(*other) is None


def test_an_answer_that_is_too_late_has_its_effect():
    """the slow account pays, and its tool says that no answer came in time"""
    account = Payments()
    registry = ToolRegistry([account.slow_tool()])
    seen = registry.run(ToolCall("PaySlowly", {"payee": "Ada", "amount": 5}, "1"))
    assert (seen.ok, seen.error.kind, seen.error.retryable) == (False, "timeout", False)
    assert [paid.payee for paid in account.made] == ["Ada"]
