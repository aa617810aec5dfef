"""Results as Markdown: one table a scenario, and the product beside each of the others."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from performance.peers.lane import Lap
from performance.peers.running import LapResult

OURS = "gigavqa"
_HEAD = (
    "way",
    "lap",
    "items",
    "items/s",
    "CPU s/item",
    "peak MiB",
    "read and rendered",
    "encoder runs",
    "prefilled per unique token",
    "first response, median and last picture",
)

Unique = Callable[[LapResult], int]
"""How many tokens a perfect prefix cache would prefill for what a result answered."""


def scenario_table(results: Sequence[LapResult], failures: Mapping[str, str], unique: Unique) -> str:
    """Return a row for each racer and lap, medians over rounds with their range.

    Then a row for each that failed, and why.
    """
    lines = [_row(_HEAD), _row("---" for _ in _HEAD)]
    for (racer, lap), rounds in _grouped(results).items():
        lines.append(_row(_cells(racer, lap, rounds, unique)))
    lines += [_row([racer, "-", f"0: {why}", *["-"] * (len(_HEAD) - 3)]) for racer, why in failures.items()]
    notes = [f"- {told}" for told in dict.fromkeys(note for result in results for note in _notes(result))]
    return "\n".join([*lines, "", *notes]).rstrip()


def ratio_table(results: Sequence[LapResult]) -> str:
    """Items a second of the product over those of each other, by scenario, cold and warm."""
    head = ("gigavqa beside", "scenario", "cold", "warm")
    lines = [_row(head), _row("---" for _ in head)]
    racers = dict.fromkeys((result.racer, result.scenario) for result in results if result.racer != OURS)
    for racer, scenario in racers:
        cold, warm = (ratio(results, racer, scenario, lap) for lap in ("cold", "warm"))
        lines.append(_row([racer, scenario, _times(cold), _times(warm)]))
    return "\n".join(lines)


def ratio(results: Sequence[LapResult], racer: str, scenario: str, lap: Lap) -> float | None:
    """Return the product's median rate over another's.

    Where the other keeps nothing on disk, its warm lap is its cold one.
    """
    ours, other = _rate(results, OURS, scenario, lap), _rate(results, racer, scenario, lap)
    if other is None and lap == "warm":
        other = _rate(results, racer, scenario, "cold")
    return ours / other if ours and other else None


def _rate(results: Sequence[LapResult], racer: str, scenario: str, lap: Lap) -> float | None:
    rates = [each.rate for each in results if (each.racer, each.scenario, each.lap) == (racer, scenario, lap)]
    return statistics.median(rates) if rates else None


def _grouped(results: Iterable[LapResult]) -> dict[tuple[str, Lap], list[LapResult]]:
    grouped: dict[tuple[str, Lap], list[LapResult]] = {}
    for result in results:
        grouped.setdefault((result.racer, result.lap), []).append(result)
    return grouped


def _cells(racer: str, lap: Lap, rounds: Sequence[LapResult], unique: Unique) -> list[str]:
    last = rounds[-1]
    answered = len(last.outcome.answered)
    first = sorted(last.outcome.first_response.values())
    prefilled = last.outcome.prefilled_tokens
    return [
        racer,
        lap,
        str(answered) if answered == last.items else f"{answered} of {last.items}",
        _spread([each.rate for each in rounds]),
        _spread([each.cpu_seconds / len(each.outcome.answered) for each in rounds if each.outcome.answered]),
        str(round(max(each.peak_bytes for each in rounds) / 2**20)),
        ", ".join(f"{count} {what}" for what, count in last.outcome.work.items()) or "-",
        "-" if last.outcome.encoder_runs is None else str(last.outcome.encoder_runs),
        "-" if not prefilled or not answered else f"{prefilled / unique(last):.2f}",
        f"{statistics.median(first):.1f} s, {first[-1]:.1f} s" if first else "-",
    ]


def _notes(result: LapResult) -> Iterable[str]:
    if result.outcome.note:
        yield f"{result.racer}: {result.outcome.note}."
    for why, count in result.outcome.failed.items():
        yield f"{result.racer}: {count} failed: {why}"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    median = _short(statistics.median(values))
    return median if len(values) == 1 else f"{median} ({_short(min(values))}-{_short(max(values))})"


def _short(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
