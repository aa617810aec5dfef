"""What `gigavqa build` says of calls to models: options, the desk that asks, and what a dry run prints."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from gigavqa.cli.arguments import parse_pair
from gigavqa.cli.completion import complete_models
from gigavqa.cli.console import out
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import catalogue
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.home import Home
from gigavqa.runtime.hosts import is_loopback

if TYPE_CHECKING:
    from gigavqa.construction.build_folder import BuildFolder
    from gigavqa.construction.build_settings import BuildSettings
    from gigavqa.construction.calls.call_desk import CallDesk
    from gigavqa.construction.calls.estimates import StageForecast

_CALLS = "Calls of a model"
ASK_NONE = "none"
"""In place of a model: it asks no more, and what one said is left out."""
AskOption = Annotated[
    str,
    typer.Option(
        metavar="MODEL", show_default=False, autocompletion=complete_models, rich_help_panel=_CALLS,
        help="Ask a model for what nobody added, such as landmarks; that of the last time if omitted; none: nobody.",
    ),
]  # fmt: skip
MostCallsOption = Annotated[
    int | None,
    typer.Option("--at-most-calls", min=1, show_default=False, rich_help_panel=_CALLS, help="Calls of all runs."),
]
MostMoneyOption = Annotated[
    str,
    typer.Option(
        "--at-most", metavar="AMOUNT", show_default=False, rich_help_panel=_CALLS, help="Money of all runs: '20 EUR'."
    ),
]
RatesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rate", metavar="CURRENCY=DOLLARS", rich_help_panel=_CALLS, help="US dollars for one: EUR=1.1 (repeatable)."
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", rich_help_panel=_CALLS, help="Say what calls will take; asks nothing, makes nothing."),
]


def parse_rate(text: str) -> tuple[str, float]:
    """Read `EUR=1.1`. Raises ArgumentError."""
    currency, dollars = parse_pair(text, "--rate", "EUR=1.1")
    try:
        rate = float(dollars)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise ArgumentError(f"--rate {text}: give what one {currency} is in US dollars, such as {currency}=1.1")
    return currency.upper(), rate


@contextmanager
def call_desk(folder: "BuildFolder", settings: "BuildSettings", url: str) -> "Iterator[CallDesk | None]":
    """Open the desk of a build that asks a model, within its budget; None for one that asks none.

    A gateway of this machine is taken to see this data root, whose pictures it then reads in place.
    """
    if not settings.ask:
        yield None
        return
    from gigavqa.construction.calls.budgets import CallBudget, Money  # noqa: PLC0415 - as the command
    from gigavqa.construction.calls.call_desk import CallDesk  # noqa: PLC0415 - as the command

    money = Money.parse(settings.at_most, settings.rates) if settings.at_most else None
    shared = Home.from_environment().data if is_loopback(urlsplit(url).hostname or "") else None
    budget = CallBudget(settings.at_most_calls, money)
    with CallDesk(folder, catalogue().find, url=url, budget=budget, data=shared) as desk:
        yield desk


def print_forecast(forecasts: "Sequence[StageForecast]") -> None:
    """Print a dry run: of calls that are not answered yet."""
    from gigavqa.construction.calls.accounts import FORECAST_COLUMNS, forecast_rows  # noqa: PLC0415 - as the command

    columns = [TableColumn(name, right=at > 1) for at, name in enumerate(FORECAST_COLUMNS)]
    print_table(columns, [list(row) for row in forecast_rows(forecasts)])
    if not forecasts:
        out.print("there is nothing to ask about these annotations", markup=False)
