"""Reports on drawn data sets say what they said when they were recorded, to the last digit.

What is meant to change is recorded anew by `python -m tests.reports.recorded`, which prints all that differs.
"""

import platform
import random
from collections.abc import Iterator
from concurrent.futures import Executor
from math import nextafter
from typing import Any, get_args

import pytest

from gigavqa.evaluation.verdicts import VerdictOutcome
from tests.reports.recorded.cases import CASES, TABLES
from tests.reports.recorded.differences import MOST_TOLD, differences
from tests.reports.recorded.outputs import FOLDER, Outputs, load, path_of
from tests.reports.recorded.process import MACHINE, score_case, scoring_process

FLAGS = ("cut_off", "overflowed", "filtered", "empty", "closing_agrees")
CLOSINGS = {"right", "wrong", "abstained", "unscored", "unread"}
ALWAYS_KNOWN = {"acuity"}
"""Benchmarks whose samples all have an answer."""
NEVER_ABSTAIN = {"mmcr", "vistahop"}
"""Benchmarks in which a refusal is an answer that says none of the options, or a wrong one."""
CHANGES = 12
"""Places of one recording that are changed, one after the other."""


@pytest.fixture(scope="module")
def process() -> Iterator[Executor]:
    """One process that scores all cases."""
    with scoring_process() as process:
        yield process


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != MACHINE, reason=f"last digits were recorded on {MACHINE}")
@pytest.mark.parametrize("name", CASES)
def test_all_that_is_said_is_what_was_recorded(process: Executor, name: str) -> None:
    """Tables, figures, warnings, counts and provenance of the report, its CSV, and verdicts with their parts."""
    told = [*differences(load(name), process.submit(score_case, name).result())]
    assert not told, "\n".join([f"{name}: {len(told):,} places differ", *map(str, told[:MOST_TOLD])])


def test_each_recording_is_of_a_case() -> None:
    """None is left of a case that is gone."""
    assert {*FOLDER.iterdir()} == {*map(path_of, CASES)}


@pytest.mark.parametrize("benchmark", TABLES)
def test_recordings_have_every_table_with_numbers(benchmark: str) -> None:
    """Of a benchmark, and those that all have: cells, closing turns, and rules of reading where its reader tells."""
    filled = {
        table["name"]
        for recorded in _of(benchmark)
        for table in recorded["report"]["tables"]
        if any(value not in (None, "") for row in table["rows"] for value in row["values"])
    }
    assert TABLES[benchmark] | {"cells", "closing"} <= filled
    assert filled - TABLES[benchmark] <= {"cells", "closing", "reading_rules"}


@pytest.mark.parametrize("benchmark", TABLES)
def test_recordings_have_every_kind_of_reply(benchmark: str) -> None:
    """Every outcome, every flaw, every end of a closing turn, repeats, and copies in several jobs."""
    rows = [row for recorded in _of(benchmark) for row in recorded["verdicts"]]
    outcomes = {*get_args(VerdictOutcome)} - {"partial"}
    outcomes -= {"unscored"} if benchmark in ALWAYS_KNOWN else set()
    outcomes -= {"abstained"} if benchmark in NEVER_ABSTAIN else set()
    assert {row["outcome"] for row in rows} == outcomes
    assert {flag for flag in FLAGS for row in rows if row[flag]} == {*FLAGS}
    assert CLOSINGS - {row["closing_outcome"] for row in rows} <= ({"unscored"} if benchmark in ALWAYS_KNOWN else set())
    for column, least in {"job_id": 3, "model": 3, "protocol": 1, "condition": 2, "repeat": 3}.items():
        assert len({row[column] for row in rows} - {None}) >= least, column
    for count in ("duplicates", "capped"):
        assert any(cell[count] for recorded in _of(benchmark) for cell in recorded["report"]["cells"]), count


@pytest.mark.parametrize("benchmark", TABLES)
def test_one_number_that_changes_in_its_last_digit_is_told_by_its_place(benchmark: str) -> None:
    """By table, row and column, and by nothing else."""
    name = _first(benchmark)
    recorded, changed = load(name), load(name)
    draw, tables = random.Random(name), changed["report"]["tables"]
    for _ in range(CHANGES):
        table = draw.choice([table for table in tables if _estimates(table)])
        row, number = draw.choice([*_estimates(table)])
        column = [column["key"] for group in table["groups"] for column in group["columns"]][number]
        estimate = row["values"][number]
        before = estimate["value"]
        estimate["value"] = nextafter(before, 2)
        (told,) = differences(recorded, changed)
        assert (told.table, told.column) == (f"table {table['name']}", f"{column}.value")
        assert all(value in told.row for value in row["keys"].values())
        assert (told.was, told.now) == (repr(before), repr(estimate["value"]))
        estimate["value"] = before
    assert not [*differences(recorded, changed)]


@pytest.mark.parametrize("benchmark", TABLES)
def test_whatever_changes_is_told(benchmark: str) -> None:
    """Any number, text or blank of a report, its CSV and verdicts; a row that is gone, twice there, or elsewhere."""
    name = _first(benchmark)
    recorded, changed = load(name), load(name)
    draw = random.Random(name)
    leaves, lists = [*_leaves(changed)], [*_lists(changed)]
    for holder, key in draw.sample(leaves, CHANGES):
        before = holder[key]
        holder[key] = _another(before)
        assert [*differences(recorded, changed)], (key, before)
        holder[key] = before
    for change in (_drop, _double, _turn_round):
        held = draw.choice(lists)
        before = [*held]
        change(held)
        assert [*differences(recorded, changed)], (change, before[:2])
        held[:] = before
    assert not [*differences(recorded, changed)]


def _of(benchmark: str) -> Iterator[Outputs]:
    return (load(name) for name in CASES if name.startswith(f"{benchmark}-"))


def _first(benchmark: str) -> str:
    """The smallest recording of a benchmark."""
    return min(
        (name for name in CASES if name.startswith(f"{benchmark}-")), key=lambda name: path_of(name).stat().st_size
    )


def _estimates(table: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """Rows and numbers of columns with an estimate."""
    return [
        (row, number)
        for row in table["rows"]
        for number, value in enumerate(row["values"])
        if isinstance(value, dict) and value["value"] is not None
    ]


def _leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where everything lies that holds nothing else."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            yield from _leaves(inner)
        else:
            yield value, key


def _lists(value: Any) -> Iterator[list[Any]]:
    """All lists of two different entries and more."""
    if isinstance(value, list) and len(value) > 1 and value[0] != value[-1]:
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _lists(inner)


def _another(value: Any) -> Any:
    """The next number, or another text."""
    if isinstance(value, bool) or value is None:
        return not value
    return nextafter(value, 2) if isinstance(value, float) else value + ("x" if isinstance(value, str) else 1)


def _drop(held: list[Any]) -> None:
    held.pop()


def _double(held: list[Any]) -> None:
    held.append(held[0])


def _turn_round(held: list[Any]) -> None:
    held.reverse()
