"""Cells on the command line: protocol and condition, and how many rounds where chats go on in rounds."""

import pytest

from gigavqa.cli.commands.submit import parse_cell
from gigavqa.cli.errors import ArgumentError
from gigavqa.contract.jobs import Cell


@pytest.mark.parametrize("text", ["direct:V2", "search:V2:10"])
def test_a_cell_is_written_as_it_is_read(text: str) -> None:
    """With its rounds, where it has any."""
    assert str(Cell.model_validate(parse_cell(text))) == text


@pytest.mark.parametrize("text", ["direct", "direct:V9", ":V2", "search:V2:", "search:V2:many", "search:V2:10:3"])
def test_any_other_text_is_refused(text: str) -> None:
    """With the form that it must have."""
    with pytest.raises(ArgumentError, match="is not PROTOCOL:CONDITION"):
        parse_cell(text)
