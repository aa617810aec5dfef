"""Percentiles in bounded memory, objectives, and addresses."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.load.errors import LoadSettingsError
from gigavqa.load.exchange import Exchange
from gigavqa.load.histogram import Histogram
from gigavqa.load.objectives import meets, parse_objectives
from gigavqa.load.service import chat_address
from gigavqa.load.tally import Tally


@given(st.lists(st.floats(1e-5, 1e3), min_size=1, max_size=60), st.sampled_from([1, 50, 90, 99, 100]))
def test_a_percentile_is_the_nearest_rank_to_a_quarter_of_a_percent(values: list[float], percent: int) -> None:
    """Whatever was counted."""
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    true = sorted(values)[max(1, -(-len(values) * percent // 100)) - 1]
    assert histogram.percentile(percent) == pytest.approx(true, rel=0.0026)
    assert histogram.mean == pytest.approx(sum(values) / len(values))


def test_memory_does_not_grow_with_the_number_of_durations() -> None:
    """Buckets are as many as the range of durations needs."""
    histogram, drawn = Histogram(), random.Random(0)
    for _ in range(20_000):
        histogram.add(drawn.uniform(0.01, 1.0))
    assert len(histogram._buckets) < 1000


def test_of_nothing_nothing_is_told() -> None:
    """No figure is zero that was not measured."""
    figures = Tally().figures()
    assert {figures[f"{kind}_ttft_ms"] for kind in ("mean", "std", "median", "p90", "p99")} == {None}
    assert (figures["request_throughput"], figures["request_goodput"]) == (None, None)


def test_faults_of_endless_kinds_are_counted_together() -> None:
    """A service that invents statuses takes no memory for each."""
    tally = Tally()
    for number in range(100):
        tally.count_fault(f"status {number}", "")
    assert (tally.failed, len(tally.faults)) == (100, 33)


def test_objectives_are_read_with_their_units() -> None:
    """Milliseconds, seconds, minutes."""
    assert parse_objectives("ttft=500ms,tpot=0.05s,e2el=1m") == {"ttft": 0.5, "tpot": 0.05, "e2el": 60.0}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tfft=1s", "did you mean 'ttft'"),
        ("ttft=500", "no time such as ttft=500ms"),
        ("ttft=0ms", "no time such as"),
        ("ttft=1s,ttft=2s", "said twice"),
        ("", "is none of"),
    ],
)
def test_an_objective_that_cannot_be_read_is_refused(text: str, told: str) -> None:
    """Nothing is guessed, no unit either."""
    with pytest.raises(LoadSettingsError, match=told):
        parse_objectives(text)


def test_an_answer_of_one_token_has_no_time_for_each_further_one() -> None:
    """It misses no objective of it."""
    exchange = Exchange(started=0.0)
    exchange.take_text(0.2)
    assert exchange.per_token is None
    assert meets(exchange, {"tpot": 0.001})
    assert not meets(exchange, {"ttft": 0.1})


@pytest.mark.parametrize(
    ("given_", "found"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h/v1/", "http://h/v1"),
        ("http://h/proxy/openai", "http://h/proxy/openai"),
        ("http://h/v1/chat/completions", "http://h/v1"),
    ],
)
def test_an_address_without_a_path_is_completed(given_: str, found: str) -> None:
    """One with a path is taken as it is."""
    assert chat_address(given_) == found


@pytest.mark.parametrize("text", ["h:8000", "ftp://h", "http://", ""])
def test_what_is_no_address_is_refused(text: str) -> None:
    """With one that is."""
    with pytest.raises(LoadSettingsError, match="is no address"):
        chat_address(text)
