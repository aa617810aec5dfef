"""Scores every cell: accuracies, counts, parse statuses, and what was left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import mean, stdev

from benchmarks.ultravr.taxonomy import DOMAINS
from evaluation.metrics.accuracy import Macros, Strata, category_accuracies, domain_accuracies, macro_accuracy
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.metrics.intervals import Floats, wilson
from evaluation.reporting.expected import Expected
from evaluation.reporting.models import CellScore, DomainScore, Exclusion, Spread
from evaluation.tally import CellKey, CellTally, Tally

LISTED_SAMPLES = 100
_SEVERAL = 2
READABLE = frozenset({"marker", "last", "abstained"})
"""Parse statuses of a single clear answer, and of an abstention."""
AWAITING = "the answer awaits an expert"
NO_RESPONSE = "no response"
UNKNOWN_SAMPLE = "the data set has no such sample"


def score_cells(tally: Tally, expected: Expected, strata: Strata) -> tuple[CellScore, ...]:
    """Score all cells in the report's order."""
    return tuple(_score(key, tally.cells.get(key, CellTally()), tally, expected, strata) for key in expected.cells)


def domain_scores(correct: Floats, strata: Strata) -> dict[str, DomainScore]:
    """Accuracies of every domain that has samples, with its categories."""
    categories = category_accuracies(correct, strata)
    return {
        domain: DomainScore(
            overall=overall,
            categories={category: score for (of, category), score in categories.items() if of == domain},
        )
        for domain, overall in domain_accuracies(correct, strata).items()
    }


def abstention_rate(cell: CellTally) -> Estimate:
    """Share of the responses that abstain, of those that did not fail."""
    return _rate_of(cell, lambda status: status == "abstained")


def unreadable_rate(cell: CellTally) -> Estimate:
    """Share of the responses that hold neither a single clear answer nor an abstention, of those that did not fail."""
    return _rate_of(cell, lambda status: status not in READABLE)


def _rate_of(cell: CellTally, counts: Callable[[str], bool]) -> Estimate:
    answered = cell.answered
    if not answered:
        return NOTHING
    return wilson(sum(counts(verdict.status) for verdict in answered) / len(answered), len(answered))


def _score(key: CellKey, cell: CellTally, tally: Tally, expected: Expected, strata: Strata) -> CellScore:
    correct = cell.correctness(len(tally.dataset.samples))
    domains = domain_scores(correct, strata)
    present = {domain for domain, score in domains.items() if score.overall.value is not None}
    answered = cell.answered
    return CellScore(
        model=key.model,
        protocol=key.protocol,
        condition=key.condition,
        macro=Macros({"cell": correct}, strata).accuracy("cell"),
        domains=domains,
        absent_domains=tuple(domain for domain in DOMAINS if domain not in present),
        abstention=abstention_rate(cell),
        unreadable=unreadable_rate(cell),
        statuses=dict(sorted(Counter(verdict.status for verdict in answered).items())),
        expected=sum(expected.of_cell(key).values()),
        answered=len(answered),
        cut_off=sum(verdict.cut_off for verdict in answered),
        overflowed=sum(verdict.overflowed for verdict in answered),
        duplicates=cell.duplicates,
        excluded=tuple(_exclusions(cell, tally, expected.of_cell(key))),
        repeats=_spread(cell.repeats(len(correct)), strata),
    )


def _spread(repeats: Sequence[Floats], strata: Strata) -> Spread | None:
    if len(repeats) < _SEVERAL:
        return None
    values = [value for correct in repeats if (value := macro_accuracy(correct, strata)) is not None]
    if len(values) < _SEVERAL:
        return None
    return Spread(values=tuple(values), mean=mean(values), deviation=stdev(values))


def _exclusions(cell: CellTally, tally: Tally, asked: Mapping[int, int]) -> Iterator[Exclusion]:
    samples = tally.dataset.samples
    recorded = Counter(verdict.sample for verdict in cell.verdicts.values())
    missing = Counter({at: times - recorded[at] for at, times in asked.items() if recorded[at] < times})
    failed: dict[str, Counter[int]] = {}
    for verdict in cell.verdicts.values():
        if verdict.failure:
            failed.setdefault(verdict.failure, Counter())[verdict.sample] += 1
    unscored = Counter(verdict.sample for verdict in cell.answered if not samples[verdict.sample].scored)
    reasons = {NO_RESPONSE: missing, AWAITING: unscored}
    reasons |= {f"failed: {failure}": counts for failure, counts in sorted(failed.items())}
    for reason, counts in reasons.items():
        if counts:
            yield _exclusion(reason, counts.total(), (samples[at].id for at in sorted(counts)))
    if cell.unknown:
        yield _exclusion(UNKNOWN_SAMPLE, cell.unknown.total(), sorted(cell.unknown))


def _exclusion(reason: str, count: int, samples: Iterable[str]) -> Exclusion:
    return Exclusion(reason=reason, count=count, samples=tuple(samples)[:LISTED_SAMPLES])
