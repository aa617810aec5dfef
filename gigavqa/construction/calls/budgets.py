"""Budgets of calls: how many at most, and how much money at most, over all that a build ever asks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.construction.calls.call_log import Spending
from gigavqa.construction.calls.errors import BudgetInvalidError

DOLLAR = "USD"
_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([A-Za-z]{3})")


class Money(NamedTuple):
    """An amount, and what one of its currency is in US dollars, in which the catalogue states prices."""

    amount: float
    currency: str
    rate: float

    @classmethod
    def parse(cls, text: str, rates: Mapping[str, float]) -> "Money":
        """Read `20 EUR`; `rates` says the dollars of other currencies. Raises BudgetInvalidError."""
        found = _AMOUNT.fullmatch(text.strip())
        if not found:
            raise BudgetInvalidError(f"--at-most '{text[:40]}' is no amount of money; write '20 {DOLLAR}'")
        currency = found[2].upper()
        rate = 1.0 if currency == DOLLAR else rates.get(currency)
        if rate is None:
            raise BudgetInvalidError(
                f"--at-most '{text.strip()}': the catalogue states prices in US dollars, and no rate of {currency} is "
                f"known; say --rate {currency}=DOLLARS for one, or give the amount in {DOLLAR}"
            )
        return cls(float(found[1]), currency, rate)

    @property
    def dollars(self) -> float:
        """The amount in US dollars."""
        return self.amount * self.rate

    def told(self, dollars: float) -> str:
        """Write dollars in this currency."""
        return f"{dollars / self.rate:,.2f} {self.currency}"


@dataclass(frozen=True)
class CallBudget:
    """The bounds of a build; None is none. What was asked in earlier runs counts."""

    calls: int | None = None
    money: Money | None = None

    def why_not(self, spent: Mapping[str, Spending], dollars: float) -> str:
        """Return why one more call that costs so much at most is not asked; empty where it may be.

        What is out and unsettled counts with what it may cost, so that the bound holds whatever comes back.
        """
        asked = sum(each.asked for each in spent.values())
        if self.calls is not None and asked >= self.calls:
            return f"{asked} of --at-most-calls {self.calls} are asked"
        if self.money is None:
            return ""
        owed = sum(each.dollars + each.at_most for each in spent.values())
        if owed + dollars <= self.money.dollars:
            return ""
        return (
            f"{self.money.told(owed)} of --at-most '{self.money.amount:g} {self.money.currency}' are spent, and one "
            f"more call may cost {self.money.told(dollars)}"
        )

    def require_prices(self, entry: CatalogueEntry) -> None:
        """Raise BudgetInvalidError where money is bounded, and nobody knows what the model costs."""
        if self.money is not None and entry.remote.prices is None:
            raise BudgetInvalidError(
                f"--at-most: the catalogue's entry '{entry.id}' states no prices, so that no sum of money can be kept; "
                "state them in its [remote.prices] (0 for one's own GPUs), or say --at-most-calls"
            )
