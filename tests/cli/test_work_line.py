"""Long work counts aloud at a terminal, and nowhere else."""

import io
from itertools import count

import pytest

from gigavqa.cli import console, work_line
from gigavqa.cli.console import print_json, print_json_list
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.runtime.work_progress import counted


def work(seconds_each: float) -> None:
    """Go through a thousand items, of which each hundred takes so many seconds."""
    clock = count(0, seconds_each)
    with work_line.work_line(lambda: next(clock)):
        assert sum(1 for _ in counted(range(1000), "questions read [1]")) == 1000


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal is sent."""
    sent = io.StringIO()
    monkeypatch.setattr(console.err, "file", sent)
    monkeypatch.setattr(console.err, "_force_terminal", True)
    monkeypatch.setattr(console.err, "is_interactive", True)
    monkeypatch.setenv("TERM", "xterm")
    return sent


def test_work_of_more_than_two_seconds_is_counted(terminal: io.StringIO) -> None:
    work(1.0)
    assert "questions read [1]" in terminal.getvalue()


def test_work_of_less_is_silent(terminal: io.StringIO) -> None:
    work(0.1)
    assert terminal.getvalue() == ""


def test_a_pipe_is_told_nothing(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.err, "_force_terminal", False)
    work(1.0)
    assert terminal.getvalue() == ""


def test_a_long_table_is_printed_in_pieces_that_look_like_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[f"row {at}", "x" * (at % 7)] for at in range(1001)]
    print_table([TableColumn("name"), TableColumn("told", right=True)], rows)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "told"]
    assert [line.split() for line in lines] == [[*name.split(), *([told] if told else [])] for name, told in rows]
    assert {len(line) for line in lines} == {len(head)}


@pytest.mark.parametrize("values", [[], [{"a": "b\nc", "list": [1, {"x": []}]}, "two", 3]])
def test_a_list_is_written_one_by_one_as_it_is_whole(values: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    print_json(values)
    whole = capsys.readouterr().out
    print_json_list(iter(values))
    assert capsys.readouterr().out == whole
