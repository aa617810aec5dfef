"""Numbers of a report as a scorer works them out, and what a report says otherwise."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Value = float | str | None
Place = tuple[str, str, str]
"""Table, row and column."""
Interval = tuple[float | None, float | None]
_OF_WORDS = {"reading_rules"}
"""Tables of how words were read, which no scorer of numbers knows."""
_WRITTEN = re.compile(r"\d+\.\d+")
_EPSILON = 1e-9
_Z = 1.959963984540054


class Number(NamedTuple):
    """A number, what it rests on, and the rule by which it was worked out; no interval where that is a bootstrap's."""

    value: Value
    count: int | None
    rule: str
    interval: Interval | None = None
    is_least: bool = False
    """Whether the report's interval may be wider, as where a bootstrap over pictures goes beside."""

    @property
    def known(self) -> float | None:
        """The number, if it is one."""
        return None if isinstance(self.value, str) else self.value


class Difference(NamedTuple):
    """A number that a report has otherwise, or not at all."""

    place: Place
    report: str
    scorer: str
    rule: str

    def __str__(self) -> str:
        table, row, column = self.place
        return f"{table} | {row} | {column}: the report has {self.report}, the scorer {self.scorer} ({self.rule})"


class Numbers:
    """Numbers by table, row and column."""

    def __init__(self) -> None:
        self.found: dict[Place, Number] = {}

    def add(self, table: str, row: Mapping[str, str] | str, column: str, number: Number) -> None:
        """Keep a number; each place has one."""
        place = (table, row if isinstance(row, str) else name_of(row), column)
        assert place not in self.found, f"the scorer has two numbers for {place}"
        self.found[place] = number

    def differences(self, tables: Iterable[Mapping[str, Any]]) -> Iterator[Difference]:
        """Yield where a report's tables say anything else, or where either has a number that the other has not.

        A column or row that would have no number at all may be left out of the report.
        """
        told = dict(_told(tables))
        for place in sorted(set(told) | set(self.found)):
            if place not in self.found:
                yield Difference(place, _written(told[place]), "nothing", "no rule for this number")
            elif place not in told and self.found[place].value is not None:
                yield Difference(place, "nothing", str(self.found[place].value), self.found[place].rule)
            elif place in told and not _is_same(told[place], self.found[place]):
                number = self.found[place]
                mine = f"{number.value} n={number.count} {number.interval or ''}".strip()
                yield Difference(place, _written(told[place]), mine, number.rule)


def name_of(keys: Mapping[str, str]) -> str:
    """Name a row by its keys."""
    return ", ".join(f"{key} {value}" for key, value in sorted(keys.items()))


def _told(tables: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Place, Any]]:
    for table in tables:
        if table["name"] in _OF_WORDS:
            continue
        columns = [column["key"] for group in table["groups"] for column in group["columns"]]
        for row in table["rows"]:
            name = name_of(row["keys"]) or row["title"]
            for column, value in zip(columns, row["values"], strict=True):
                yield (table["name"], name, column), value


def _written(told: Any) -> str:
    if not isinstance(told, dict):
        return str(told)
    return f"{told['value']} n={told['count']} ({told['low']}, {told['high']})"


def _is_same(told: Any, number: Number) -> bool:
    if not isinstance(told, dict):
        return number.count is None and _is_equal(told, number.value)
    if told["count"] != number.count or not _is_equal(told["value"], number.value):
        return False
    if number.interval is None or (number.is_least and _covers(told, number.interval)):
        return True
    return all(map(_is_equal, (told["low"], told["high"]), number.interval))


def _covers(told: Mapping[str, float | None], interval: Interval) -> bool:
    ends = told["low"], told["high"], *interval
    if None in ends:
        return False
    low, high, least, most = (end or 0.0 for end in ends)
    return low <= least + _EPSILON and high >= most - _EPSILON


def _is_same_but_rounded(told: str, value: str) -> bool:
    """Whether texts of numbers differ by one in the last place: sums in another order may fall on the other side."""
    if _WRITTEN.sub("#", told) != _WRITTEN.sub("#", value):
        return False
    pairs = zip(_WRITTEN.findall(told), _WRITTEN.findall(value), strict=True)
    return all(math.isclose(float(one), float(other), abs_tol=1.01 * 10.0 ** -len(one.partition(".")[2]), rel_tol=0)
               for one, other in pairs)  # fmt: skip


def _is_equal(told: Value, value: Value) -> bool:
    if isinstance(told, str) and isinstance(value, str):
        return told == value or _is_same_but_rounded(told, value)
    if isinstance(told, str) or isinstance(value, str) or told is None or value is None:
        return told == value
    return math.isclose(told, value, rel_tol=0, abs_tol=_EPSILON)


def mean(values: Iterable[float | None]) -> float | None:
    """Average what is known; None of nothing."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def deviation(values: Sequence[float]) -> float:
    """Work out the standard deviation, of n - 1."""
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def wilson(share: float | None, count: int) -> Interval:
    """Work out Wilson's interval of a share of so many (1927)."""
    if share is None or not count:
        return None, None
    scale = 1 + _Z * _Z / count
    middle = (share + _Z * _Z / (2 * count)) / scale
    half = _Z / scale * math.sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def share(share: float | None, count: int, rule: str) -> Number:
    """Make a share of so many, with Wilson's interval."""
    return Number(share, count, rule, wilson(share, count))
