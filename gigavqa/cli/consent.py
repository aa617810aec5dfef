"""Asks before something is deleted."""

import sys

import typer

from gigavqa.cli.errors import ArgumentError


def require_consent(question: str) -> None:
    """Ask whoever sits at the terminal; end where the answer is no. Raises ArgumentError where nobody does."""
    if not sys.stdin.isatty():
        raise ArgumentError("nobody can be asked whether to delete; say --yes")
    typer.confirm(question, abort=True, err=True)
