"""Reviews of data sets at a terminal: where the page is, how far reviewers are, and how far they agree."""

import webbrowser
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.client.errors import GatewayUnreachableError
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.review_files import read_reviews
from gigavqa.evaluation.review_table import ReviewTable, review_table
from gigavqa.evaluation.reviews import ReviewState
from gigavqa.runtime.plurals import list_some

_MOST_NAMED = 20
_STATES: Mapping[ReviewState, str] = {
    "unreviewed": "not reviewed",
    "keep": "kept",
    "mend": "mended",
    "drop": "dropped",
    "conflict": "in conflict",
}


def print_review_address(dataset: str, url: str, *, opens: bool = False) -> None:
    """Print the address of a data set's page of reviews, and open it in a browser where that is wanted.

    Raises ArgumentError that says how to start a gateway where none answers, and NotFoundError where it has no such
    data set.
    """
    with TerminalClient(url) as client:
        try:
            client.reviews(dataset)
        except GatewayUnreachableError as error:
            raise ArgumentError(f"no gateway answers at {url}; `gigavqa up` starts one with its viewer") from error
        address = f"{client.url}/datasets/{quote(dataset, safe='')}/review"
    out.print(address, markup=False)
    if opens:
        webbrowser.open(address)


def print_reviews(folder: Path, *, json: bool) -> None:
    """Print what reviewers found of a data set's folder. Raises DatasetInvalidError."""
    dataset = load_dataset(folder)
    reviews = read_reviews(folder, dataset)
    table = review_table(dataset, reviews)
    conflicts = [sample for sample in reviews.by_sample if reviews.decision(sample).state == "conflict"]
    if json:
        print_json({**table.model_dump(), "conflicts": conflicts})
        return
    out.print(", ".join(f"{table.states[state]} {words}" for state, words in _STATES.items()), markup=False)
    if table.reviewers:
        _print_reviewers(table)
    if table.agreement:
        _print_agreement(table)
    if conflicts:
        out.print(f"reviewers differ on {list_some(conflicts, _MOST_NAMED)}", markup=False)


def _print_reviewers(table: ReviewTable) -> None:
    numbers = ("kept", "mended", "dropped")
    columns = (
        TableColumn("reviewer"),
        *(TableColumn(name, right=True) for name in numbers),
        TableColumn("changed since", leaves=2, right=True),
        TableColumn("right when blind"),
        TableColumn("time (s)", leaves=1, right=True),
    )
    rows = [
        (
            row.reviewer,
            *(str(number) for number in (row.keep, row.mend, row.drop, row.outdated)),
            _percent(row.accuracy),
            "" if row.seconds is None else f"{row.seconds:.1f}",
        )
        for row in table.reviewers
    ]
    print_table(columns, rows)


def _print_agreement(table: ReviewTable) -> None:
    columns = tuple(TableColumn(name) for name in ("reviewers", "same verdict", "kappa", "same answer"))
    rows = [
        (", ".join(row.reviewers), _percent(row.verdicts), _kappa(row.kappa), _percent(row.answers))
        for row in table.agreement
    ]
    print_table(columns, rows)


def _percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return ""
    return f"{100 * estimate.value:.1f} %{_interval(estimate, 100, 1)} of {estimate.count}"


def _kappa(estimate: Estimate) -> str:
    return "" if estimate.value is None else f"{estimate.value:.2f}{_interval(estimate, 1, 2)}"


def _interval(estimate: Estimate, factor: float, digits: int) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{factor * estimate.low:.{digits}f}, {factor * estimate.high:.{digits}f}]"
