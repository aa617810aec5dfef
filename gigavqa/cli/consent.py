"""Asks before something is deleted."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.cli.errors import ArgumentError

WithReviewsOption = Annotated[bool, typer.Option("--with-reviews", help="Reviews by people go, too.")]


def require_reviews_told(dataset: Path, *, yes: bool, with_reviews: bool) -> str:
    """Return what a question is to say of reviews that a data set holds; empty where there are none.

    Raises ArgumentError where nobody is asked, and nobody said that they may go.
    """
    from gigavqa.evaluation.review_files import describe_reviews  # noqa: PLC0415 - commands start without pydantic

    told = describe_reviews(dataset)
    if told and yes and not with_reviews:
        raise ArgumentError(f"{dataset} holds {told}, and nothing brings them back: say --with-reviews, too")
    return f", with {told}" if told else ""


def require_consent(question: str) -> None:
    """Ask whoever sits at the terminal; end where the answer is no. Raises ArgumentError where nobody does."""
    if not sys.stdin.isatty():
        raise ArgumentError("nobody can be asked whether to delete; say --yes")
    typer.confirm(question, abort=True, err=True)
