"""A payment tool without a bank: the one tool here that changes the world."""

import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from workbook.runtime.calls import ToolFailure
from workbook.runtime.tools import Tool
from workbook.worlds.catalogue import contract


class Payment(NamedTuple):
    """One payment that was made. `cents` are hundredths of the currency."""

    number: int
    payee: str
    cents: int
    currency: str
    reference: str  # what it is for: the number of an invoice

    def receipt(self) -> dict[str, Any]:
        """Return what the payer receives."""
        about = {"payment_id": f"pay_{self.number}", "payee": self.payee}
        about["paid"] = f"{self.cents / 100:.2f} {self.currency}"
        return {**about, **({"reference": self.reference} if self.reference else {})}


class Payments:
    """What was paid, in order: in memory, or in a database that processes share."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        options: Any = {"isolation_level": None, "check_same_thread": False}
        self.db = sqlite3.connect(path, timeout=60, **options)
        self.db.execute("CREATE TABLE IF NOT EXISTS paid (payee, cents, currency, ref)")

    @property
    def made(self) -> list[Payment]:
        """Every payment."""
        return [Payment(*row) for row in self.db.execute("SELECT rowid, * FROM paid")]

    def pay(self, **arguments: Any) -> dict[str, Any]:
        """Pay, every time it is called: two calls are two payments."""
        asked = _values(**arguments)
        done = self.db.execute("INSERT INTO paid VALUES (?, ?, ?, ?)", asked)
        return Payment(done.lastrowid or 0, *asked).receipt()

    def look_up(self, **arguments: Any) -> dict[str, Any] | None:
        """Return the receipt of the last payment of just this, None without one."""
        same = [each for each in self.made if each[1:] == _values(**arguments)]
        return same[-1].receipt() if same else None

    def tool(self) -> Tool:
        """Return the account as the tool `Pay`."""
        return contract("Pay", self.pay, look_up=self.look_up)


def _values(
    payee: str, amount: float, currency: str = "EUR", reference: str = ""
) -> tuple[str, int, str, str]:
    payee, cents = payee.strip(), round(amount * 100)
    if not payee:
        raise ToolFailure("no_payee", "the payee is empty.", hint="Say who it is.")
    if not 0 < cents <= 1_000_000 or abs(cents - amount * 100) > 1e-6:
        hint = "Use 0.01 to 10000, with at most two decimals."
        message = f"the amount is {amount} {currency}."
        raise ToolFailure("bad_amount", message, hint=hint)
    return payee, cents, currency, reference.strip()


TOOLS = {"Pay": lambda: [Payments().tool()]}
