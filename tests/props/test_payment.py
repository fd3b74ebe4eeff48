"""The payment tool: every call pays, and a refused call pays nothing."""

import pytest

from workbook.props.payment import Payment, Payments
from workbook.tools.calls import Effect, ToolCall
from workbook.tools.registry import ToolRegistry


def pay(account, **arguments):
    registry = ToolRegistry([account.tool()])
    return registry.run(ToolCall("Pay", arguments, "call_1"))


def test_a_payment_is_kept():
    """what was paid stands in the list, in hundredths"""
    account = Payments()
    pay(account, payee="bookshop", amount=25, currency="EUR")
    assert account.made == [Payment("pay_1", "bookshop", 2500, "EUR")]


def test_the_observation_says_what_was_paid():
    """the observation names the payment, the payee and the amount"""
    observation = pay(Payments(), payee="Ada", amount=20.5)
    assert observation.result == {
        "payment_id": "pay_1",
        "payee": "Ada",
        "paid": "20.50 EUR",
    }


def test_the_same_call_pays_twice():
    """without a guard, the same call made twice pays twice"""
    account = Payments()
    for _ in range(2):
        pay(account, payee="bookshop", amount=25)
    assert sum(paid.cents for paid in account.made) == 5000


def test_it_is_a_write():
    """the tool says that it changes the world"""
    assert Payments().tool().effect is Effect.WRITE


@pytest.mark.parametrize(
    "arguments",
    [
        {"payee": "", "amount": 5},
        {"payee": "   ", "amount": 5},
        {"payee": "Ada", "amount": 0},
        {"payee": "Ada", "amount": -5},
        {"payee": "Ada", "amount": 10_000.01},
        {"payee": "Ada", "amount": 0.001},
        {"payee": "Ada", "amount": 5.005},
        {"payee": "Ada", "amount": "5 euros"},
        {"payee": "Ada", "amount": 5, "currency": "eur"},
        {"payee": "Ada"},
    ],
)
def test_a_refused_payment_pays_nothing(arguments):
    """an empty payee or an amount that is none is refused, and nothing is paid"""
    account = Payments()
    observation = pay(account, **arguments)
    assert (observation.ok, account.made) == (False, [])


@pytest.mark.parametrize(
    ("amount", "cents"), [(0.01, 1), (10_000, 1_000_000), (0.29, 29)]
)
def test_the_limits_can_be_paid(amount, cents):
    """a cent and ten thousand are paid to the cent"""
    account = Payments()
    pay(account, payee="Ada", amount=amount)
    assert sum(paid.cents for paid in account.made) == cents


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"payee": " ", "amount": 5}, "no_payee"),
        ({"payee": "Ada", "amount": 5.005}, "bad_amount"),
    ],
)
def test_a_refusal_says_why(arguments, kind):
    """a refusal has a kind and a hint"""
    error = pay(Payments(), **arguments).error
    assert (error.kind, bool(error.hint)) == (kind, True)


def test_two_accounts_share_nothing():
    """two accounts keep lists of their own"""
    one, other = Payments(), Payments()
    pay(one, payee="Ada", amount=5)
    assert other.made == []
