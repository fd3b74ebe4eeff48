"""The payment tool: every call pays, and a refused call pays nothing."""

import threading

import pytest

from workbook.environments.payment import Payment, Payments
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


def test_a_file_is_shared_by_accounts(tmp_path):
    """accounts with one file have the same payments, numbered one after the other"""
    path = tmp_path / "payments.jsonl"
    pay(Payments(path), payee="Ada", amount=5)
    pay(Payments(path), payee="Bob", amount=6)
    assert [(paid.payment_id, paid.payee) for paid in Payments(path).made] == [
        ("pay_1", "Ada"),
        ("pay_2", "Bob"),
    ]


def test_half_a_line_is_no_payment(tmp_path):
    """a payment whose line was cut short was not made, and the next one can be"""
    path = tmp_path / "payments.jsonl"
    for payee in ("Ada", "Bob"):
        pay(Payments(path), payee=payee, amount=5)
    path.write_bytes(path.read_bytes()[:-7])
    assert [paid.payee for paid in Payments(path).made] == ["Ada"]
    pay(Payments(path), payee="Eve", amount=5)
    assert [paid.payee for paid in Payments(path).made] == ["Ada", "Eve"]


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


@pytest.mark.parametrize("where", [None, "payments.jsonl"])
def test_a_payment_is_found_by_its_content(tmp_path, where):
    """a payment of just this payee, amount, currency and reference is found"""
    account = Payments(where and tmp_path / where)
    assert account.look_up("Ada", 25) is None
    made = pay(account, payee="Ada", amount=25).result
    billed = pay(account, payee="Ada", amount=25, reference="INV-7").result
    assert account.look_up(" Ada", 25.0, "EUR") == made
    assert account.look_up("Ada", 25, reference="INV-7") == billed
    assert billed["reference"] == "INV-7"
    for other in [
        ("Ada", 26),
        ("Eve", 25),
        ("Ada", 25, "USD"),
        ("Ada", 25, "EUR", "8"),
    ]:
        assert account.look_up(*other) is None


def test_an_answer_that_is_too_late_has_its_effect():
    """the slow account pays, and its tool says that no answer came in time"""
    account = Payments()
    registry = ToolRegistry([account.slow_tool()])
    seen = registry.run(ToolCall("PaySlowly", {"payee": "Ada", "amount": 5}, "1"))
    assert (seen.ok, seen.error.kind, seen.error.retryable) == (False, "timeout", False)
    assert [paid.payee for paid in account.made] == ["Ada"]


def test_two_accounts_share_nothing():
    """two accounts keep lists of their own"""
    one, other = Payments(), Payments()
    pay(one, payee="Ada", amount=5)
    assert other.made == []
