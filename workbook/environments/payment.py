"""A payment tool without a bank: the one tool here that changes the world."""

import json
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from workbook.runtime.calls import Effect, ErrorKind, ToolFailure
from workbook.runtime.tools import Tool

MAX_AMOUNT = 10_000
CURRENCIES = ("EUR", "USD", "JPY", "CNY")
ABOUT = (
    "Pays one payee per call, and pays again when it is called again. "
    f"From 0.01 to {MAX_AMOUNT} in EUR, USD, JPY or CNY. "
    'Right: {"payee": "Ada", "amount": 20.5, "currency": "EUR"}. '
    'Wrong: {"payee": "Ada", "amount": "20,50 euros"}.'
)
_WORDS = {"type": "string", "maxLength": 200}
_UNITS = "in units of the currency, 25 is 25 euros"
_NUMBER = "the number of the invoice, where there is one"
_AMOUNT = {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_AMOUNT}
ARGUMENTS = {
    "payee": {**_WORDS, "minLength": 1},
    "amount": {**_AMOUNT, "description": _UNITS},
    "currency": {"type": "string", "enum": list(CURRENCIES), "default": "EUR"},
    "reference": {**_WORDS, "pattern": r"\S", "description": _NUMBER},
}


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment that was made. `cents` are hundredths of the currency."""

    payment_id: str
    payee: str
    cents: int
    currency: str = "EUR"
    reference: str = ""  # what it is for: the number of an invoice

    def receipt(self) -> dict[str, Any]:
        """Return what the payer is told."""
        paid = f"{self.cents / 100:.2f} {self.currency}"
        told = {"payment_id": self.payment_id, "payee": self.payee, "paid": paid}
        return told | ({"reference": self.reference} if self.reference else {})


class Payments:
    """What was paid, in order: in memory, or, with a `path`, a line each in that file.

    Processes can share the file, and whoever reads it sees whole payments.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._made: list[Payment] = []

    @property
    def made(self) -> list[Payment]:
        """Every payment."""
        if self.path is None or not self.path.exists():
            return self._made
        lines = self.path.read_text("utf-8").splitlines()
        return [Payment(**json.loads(line)) for line in lines]

    def pay(
        self, payee: str, amount: float, currency: str = "EUR", reference: str = ""
    ) -> dict[str, Any]:
        """Pay, every time it is called: two calls are two payments."""
        payee, cents = payee.strip(), _cents(amount)
        if not payee:
            raise ToolFailure("no_payee", "the payee is empty.", hint="Say who it is.")
        if cents is None:
            message = f"the amount is {amount} {currency}."
            hint = f"Use 0.01 to {MAX_AMOUNT}, with at most two decimals."
            raise ToolFailure("bad_amount", message, hint=hint)
        # No other process pays meanwhile.
        with FileLock(f"{self.path}.lock") if self.path else nullcontext():
            number = f"pay_{len(self.made) + 1}"
            payment = Payment(number, payee, cents, currency, reference.strip())
            if self.path is None:
                self._made.append(payment)
            else:
                with self.path.open("ab", buffering=0) as file:
                    # One write for each payment: no half a payment.
                    file.write(f"{json.dumps(asdict(payment))}\n".encode())
        return payment.receipt()

    def look_up(
        self, payee: str, amount: float, currency: str = "EUR", reference: str = ""
    ) -> dict[str, Any] | None:
        """Return the receipt of the last payment of just this, None without one."""
        wanted = (payee.strip(), _cents(amount), currency, reference.strip())
        for made in reversed(self.made):
            if (made.payee, made.cents, made.currency, made.reference) == wanted:
                return made.receipt()
        return None

    def pay_slowly(self, **arguments: Any) -> dict[str, Any]:
        """Pay, and have no answer in time: the effect without its observation."""
        self.pay(**arguments)
        message = "the bank did not answer in time."
        hint = "It may still take effect: find out before you call it again."
        raise ToolFailure(ErrorKind.TIMEOUT, message, hint=hint)

    def tool(self) -> Tool:
        """Return the account as a tool."""
        return Tool(
            name="Pay",
            description=ABOUT,
            parameters={"properties": ARGUMENTS, "required": ["payee", "amount"]},
            run=self.pay,
            effect=Effect.WRITE,
            timeout_s=None,
            aliases={"to": "payee", "recipient": "payee", "invoice": "reference"},
            look_up=self.look_up,
            business_key=("reference",),
        )

    def slow_tool(self) -> Tool:
        """Return the account as a tool that pays, and whose answers are too late."""
        return replace(self.tool(), name="PaySlowly", run=self.pay_slowly)


def _cents(amount: float) -> int | None:
    """Return hundredths; None where it is no amount that can be paid."""
    cents = round(amount * 100) if 0 < amount <= MAX_AMOUNT else 0
    return None if cents < 1 or abs(cents - amount * 100) > 1e-6 else cents


TOOLS = {"Pay": lambda: Payments().tool(), "PaySlowly": lambda: Payments().slow_tool()}
