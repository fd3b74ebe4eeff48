"""A payment tool without a bank: the one tool here that changes the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.tools.calls import Effect, ToolFailure
from workbook.tools.tool import Tool

MAX_AMOUNT = 10_000
CURRENCIES = ("EUR", "USD", "JPY", "CNY")


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment that was made. `cents` are hundredths of the currency."""

    payment_id: str
    payee: str
    cents: int
    currency: str = "EUR"


class Payments:
    """What was paid, in memory, in the order in which it happened."""

    def __init__(self) -> None:
        self.made: list[Payment] = []

    def pay(self, payee: str, amount: float, currency: str = "EUR") -> dict[str, Any]:
        """Pay, every time it is called: two calls are two payments."""
        if not payee.strip():
            raise ToolFailure("no_payee", "the payee is empty.", hint="Say who it is.")
        if currency not in CURRENCIES:
            message = f"{currency!r} is not a currency of this account."
            hint = f"Use one of {', '.join(CURRENCIES)}."
            raise ToolFailure("bad_currency", message, hint=hint)
        cents = round(amount * 100) if 0 < amount <= MAX_AMOUNT else 0
        if cents < 1 or abs(cents - amount * 100) > 1e-6:
            message = f"the amount is {amount} {currency}."
            hint = f"Use 0.01 to {MAX_AMOUNT}, with at most two decimals."
            raise ToolFailure("bad_amount", message, hint=hint)
        number, paid = f"pay_{len(self.made) + 1}", f"{cents / 100:.2f} {currency}"
        self.made.append(Payment(number, payee, cents, currency))
        return {"payment_id": number, "payee": payee, "paid": paid}

    def tool(self) -> Tool:
        """Return the account as a tool."""
        return Tool(
            name="Pay",
            description=(
                "Pays one payee per call, and pays again when it is called again. "
                f"From 0.01 to {MAX_AMOUNT} in EUR, USD, JPY or CNY. "
                'Right: {"payee": "Ada", "amount": 20.5, "currency": "EUR"}. '
                'Wrong: {"payee": "Ada", "amount": "20,50 euros"}.'
            ),
            parameters={
                "properties": {
                    "payee": {"type": "string", "minLength": 1, "maxLength": 200},
                    "amount": {
                        "type": "number",
                        "exclusiveMinimum": 0,
                        "maximum": MAX_AMOUNT,
                        "description": "in units of the currency, 25 is 25 euros",
                    },
                    "currency": {"type": "string", "enum": list(CURRENCIES)},
                },
                "required": ["payee", "amount"],
            },
            run=self.pay,
            effect=Effect.WRITE,
            timeout_s=None,
            aliases={"to": "payee", "recipient": "payee"},
        )


TOOLS = {"Pay": lambda: Payments().tool()}
