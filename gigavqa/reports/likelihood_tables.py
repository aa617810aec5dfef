"""Tables of likelihoods: how much more likely models hold the right answers when they see the picture.

Of each sample the picture's weight is d = log p(answer | picture) - log p(answer | masked picture), in nats, and
r = exp(d), the ratio of equation 6 of arXiv:2606.03273. Samples that share an
image are drawn together in the intervals.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import median

import numpy as np

from gigavqa.evaluation.likelihoods import AnswerWeight, LikelihoodTally, WeighedCell
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.metrics.clusters import bootstrap_cluster_share, bootstrap_clusters, ratio
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Column, ColumnGroup, Contents, Row, Table, Value

INSPECTED_AT = 1.2
"""Ratio up to which people are to look at a sample: arXiv:2606.03273, section 3.2."""
_MOST_LISTED = 200
_MOST_NATS = 700.0  # exp of more is no number
_SORTED_BY = ("level", "category")

Pairs = Mapping[int, tuple[AnswerWeight, AnswerWeight]]

_LOGPROBS = (
    Column(key="shown", title="picture", unit="number", decimals=3, keys={"metric": "logprob_shown"}),
    Column(key="masked", title="masked", unit="number", decimals=3, keys={"metric": "logprob_masked"}),
)
_COLUMNS = (
    ColumnGroup(
        title="",
        columns=(
            Column(key="samples", title="samples", unit="count", keys={"metric": "likelihood_pairs"}),
            Column(
                key="unpaired",
                title="unpaired",
                unit="count",
                keys={"metric": "likelihood_unpaired"},
                note="samples of which one of the two was not told",
            ),
        ),
    ),
    ColumnGroup(
        title="log p of the answer",
        columns=(
            *_LOGPROBS,
            Column(
                key="gain",
                title="difference",
                unit="number",
                decimals=3,
                keys={"metric": "logprob_gain"},
                strong=True,
                note="in nats; above 0 the picture speaks for the answer",
            ),
            Column(
                key="gain_a_token",
                title="a token",
                unit="number",
                decimals=3,
                keys={"metric": "logprob_gain_a_token"},
                note="the difference over the answer's tokens",
            ),
        ),
    ),
    ColumnGroup(
        title="p ratio",
        columns=(
            Column(key="mean", title="mean", unit="number", decimals=2, keys={"metric": "ratio_mean"}),
            Column(key="median", title="median", unit="number", decimals=2, keys={"metric": "ratio_median"}),
            Column(
                key="above",
                title=f"above {INSPECTED_AT:.2f}",
                keys={"metric": "ratio_above"},
                note="share of samples whose answer the picture makes so much likelier; people look at the others",
            ),
        ),
    ),
)
_SAMPLE_COLUMNS = (
    ColumnGroup(
        title="",
        columns=(
            Column(key="answer_tokens", title="tokens", unit="count", keys={"metric": "answer_tokens"}),
            *_LOGPROBS,
            Column(key="gain", title="difference", unit="number", decimals=3, keys={"metric": "logprob_gain"}),
            Column(key="ratio", title="p ratio", unit="number", decimals=2, keys={"metric": "ratio"}),
        ),
    ),
)


def likelihood_contents(scores: AnyScores, tally: LikelihoodTally, grouping: Grouping) -> Contents:
    """Return how much the picture matters, by cell and group of samples, and the samples to which it matters least."""
    found = tally.pairs()
    clusters = _clusters(scores.samples)
    rows = chain.from_iterable(
        _rows(scores, cell, (pairs, _unpaired(tally, cell, pairs)), grouping.levels, clusters)
        for cell, pairs in found.items()
    )
    table = Table(
        name="likelihood",
        title="How much the picture matters",
        caption="Means over samples of the logarithm of the probability that the model gives the right answer, "
        "with the picture and behind a mask of equal size, and of what the picture adds; intervals draw pictures. "
        "The answer's own tokens count, without the end of the turn.",
        groups=_COLUMNS,
        rows=tuple(rows),
    )
    return Contents(tables=(table, *_samples_table(scores, found)))


def _rows(
    scores: AnyScores, cell: WeighedCell, found: tuple[Pairs, int], levels: Sequence[str], clusters: Sequence[int]
) -> Iterator[Row]:
    pairs, unpaired = found
    title = f"{scores.title_of(cell.model)}, {cell.asked} {cell.condition}, {cell.mask}"
    keys = _keys(cell)
    yield Row(title=title, keys=keys, values=tuple(_values(pairs, unpaired, clusters)))
    for name in dict.fromkeys((*levels, *_SORTED_BY)):
        groups: dict[str, dict[int, tuple[AnswerWeight, AnswerWeight]]] = {}
        for at, pair in pairs.items():
            if group := scores.samples[at].groups.get(name, ""):
                groups.setdefault(group, {})[at] = pair
        for group in sorted(groups):
            yield Row(
                title=f"{title}: {name} {group}",
                keys={**keys, name: group},
                values=tuple(_values(groups[group], None, clusters)),
            )


def _keys(cell: WeighedCell) -> dict[str, str]:
    return {"model": cell.model, "protocol": cell.asked, "condition": cell.condition, "mask": cell.mask}


def _values(pairs: Pairs, unpaired: int | None, clusters: Sequence[int]) -> Iterator[Value]:
    shown, masked = (np.array([pair[side].sum for pair in pairs.values()]) for side in (0, 1))
    tokens = np.array([pair[0].tokens for pair in pairs.values()])
    of = [clusters[at] for at in pairs]
    gain = shown - masked
    ratios = np.exp(np.minimum(gain, _MOST_NATS))
    yield from (len(pairs), unpaired)
    yield from (_mean(values, of) for values in (shown, masked, gain, gain / tokens, ratios))
    yield Estimate(value=float(median(ratios)), count=len(pairs)) if len(pairs) else NO_ESTIMATE
    above = [_sums((ratios > INSPECTED_AT).astype(float), of)] if len(pairs) else []
    yield bootstrap_cluster_share(above, len(pairs))


def _mean(values: Floats, clusters: Sequence[int]) -> Estimate:
    return bootstrap_clusters([_sums(values, clusters)], ratio(0, 1), len(values)) if len(values) else NO_ESTIMATE


def _sums(values: Floats, clusters: Sequence[int]) -> Floats:
    """Return sum and number of the values of each cluster."""
    places = np.unique(np.array(clusters), return_inverse=True)[1]
    return np.column_stack([np.bincount(places, values), np.bincount(places)]).astype(float)


def _clusters(samples: Sequence[Sample]) -> list[int]:
    """Return the number of each sample's cluster: samples that share an image, also by way of others, are in one."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    names = [f"image {sample.images[0]}" if sample.images else f"sample {sample.id}" for sample in samples]
    for name, sample in zip(names, samples, strict=True):
        for image in sample.images:
            parent[root(f"image {image}")] = root(name)
    numbers: dict[str, int] = {}
    return [numbers.setdefault(root(name), len(numbers)) for name in names]


def _unpaired(tally: LikelihoodTally, cell: WeighedCell, pairs: Pairs) -> int:
    alike = {cell, cell._replace(mask="")}
    return len({position for one, position, _, _ in tally if one in alike} - pairs.keys())


def _samples_table(scores: AnyScores, found: Mapping[WeighedCell, Pairs]) -> Iterator[Table]:
    """Yield the table of single samples, those first to which the picture matters least."""
    every = [
        (pair[0].sum - pair[1].sum, scores.samples[at].id, cell, pair)
        for cell, pairs in found.items()
        for at, pair in pairs.items()
    ]
    rows = [
        Row(
            title=f"{name} ({cell.model}, {cell.asked} {cell.condition}, {cell.mask})",
            keys={"sample": name, **_keys(cell)},
            values=(
                shown.tokens,
                *(Estimate(value=value, count=0) for value in (shown.sum, masked.sum, gain)),
                Estimate(value=math.exp(min(gain, _MOST_NATS)), count=0),
            ),
        )
        for gain, name, cell, (shown, masked) in sorted(every)[:_MOST_LISTED]
    ]
    if rows:
        yield Table(
            name="likelihood_samples",
            title="Samples to which the picture matters least",
            caption=f"The first {_MOST_LISTED} by the difference. `gigavqa verdicts` writes all of them.",
            groups=_SAMPLE_COLUMNS,
            rows=tuple(rows),
            detail=True,
        )
