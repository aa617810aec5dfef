"""The table `leakage`: how often models are right that see no picture and must answer (V0F), against blind guessing.

An answer that may be withheld measures who withholds it; one that is required measures what the text gives away.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gigavqa.evaluation.chats import FORCED
from gigavqa.evaluation.metrics.chance import above_chance, beats_chance
from gigavqa.evaluation.metrics.clusters import bootstrap_cluster_share
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, estimate_share, proportion
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Caveat, Column, ColumnGroup, Row, Table

_CAPTION = (
    "V0F: the text alone, and an answer is required. In %; intervals are those of whole groups of questions that share "
    "a picture. Chance is the mean over questions of the share of blind guesses that are right. Beside it V0, which "
    "lets a model abstain."
)
_FORCED, _FREE = {"condition": FORCED}, {"condition": "V0"}
_COLUMNS = (
    ColumnGroup(
        title="Rests on",
        columns=(
            Column(key="questions", title="questions", unit="count", keys={"metric": "questions"}),
            Column(key="groups", title="groups", unit="count", keys={"metric": "image_groups"},
                   note="questions that share a picture are one"),
        ),
    ),
    ColumnGroup(
        title="V0F, forced",
        columns=(
            Column(key="accuracy", title="accuracy", label="accuracy, forced", strong=True,
                   keys={**_FORCED, "metric": "accuracy"}),
            Column(key="chance", title="chance", keys={"metric": "chance"}),
            Column(key="above", title="above chance", unit="difference", keys={**_FORCED, "metric": "above_chance"}),
            Column(key="silent", title="none all the same", unit="loss", keys={**_FORCED, "metric": "abstention_rate"},
                   note="abstains although an answer is required; it counts as wrong"),
        ),
    ),
    ColumnGroup(
        title="V0",
        columns=(
            Column(key="free", title="accuracy", label="accuracy (V0)", keys={**_FREE, "metric": "accuracy"}),
            Column(key="abstains", title="abstains", label="abstains (V0)",
                   keys={**_FREE, "metric": "abstention_rate"}),
        ),
    ),
)  # fmt: skip


class Leakage(NamedTuple):
    """What a model knew without pictures in some protocols: forced accuracy and chance, and what they rest on."""

    title: str
    keys: Mapping[str, str]
    groups: int
    accuracy: Estimate
    chance: float
    cells: Sequence[CellKey]


def find_leakage(scores: AnyScores) -> Sequence[Leakage]:
    """Return what each model knew in each protocol that it was forced in, and in all where these are several."""
    forced = [key for key in scores.cells if key.condition == FORCED]
    if not forced:
        return ()
    groups = group_by_images(scores.samples)
    chance = np.array([sample.chance for sample in scores.samples], dtype=np.float64)
    found = [_leakage(scores, [key], f"{scores.title_of(key.model)} · {key.how}", groups, chance) for key in forced]
    for model in dict.fromkeys(key.model for key in forced):
        cells = [key for key in forced if key.model == model]
        if len(cells) > 1:
            title = f"{scores.title_of(model)} · all protocols {FORCED}"
            found.append(_leakage(scores, cells, title, groups, chance))
    return [one for one in found if one is not None]


def leakage_tables(scores: AnyScores, found: Sequence[Leakage]) -> Iterator[Table]:
    """Yield the table, where any answer was forced."""
    if found:
        rows = tuple(_row(scores, one) for one in found)
        yield Table(name="leakage", title="Right without pictures", caption=_CAPTION, groups=_COLUMNS, rows=rows)


def leakage_caveats(found: Sequence[Leakage]) -> Iterator[Caveat]:
    """Tell of questions that can be answered without their pictures, more often than by chance."""
    for one in found:
        if beats_chance(one.accuracy, one.chance) and one.accuracy.value is not None:
            yield Caveat(
                scope="cell",
                text=f"{one.title}: {100 * one.accuracy.value:.1f} % are right without a picture, where chance gives "
                f"{100 * one.chance:.1f} %: the texts give answers away",
            )


def group_by_images(samples: Sequence[Sample]) -> Indices:
    """Return the number of each sample's group: samples that share an image, directly or by others, have one."""
    roots: dict[str, str] = {}

    def root(image: str) -> str:
        while (above := roots.setdefault(image, image)) != image:
            roots[image] = image = roots[above]
        return image

    for sample in samples:
        for image in sample.images[1:]:
            roots[root(image)] = root(sample.images[0])
    numbers: dict[str, int] = {}
    named = (root(sample.images[0]) if sample.images else f"\0{sample.id}" for sample in samples)
    return np.fromiter((numbers.setdefault(name, len(numbers)) for name in named), np.intp, len(samples))


def _leakage(
    scores: AnyScores, cells: Sequence[CellKey], title: str, groups: Indices, chance: Floats
) -> Leakage | None:
    means = _means(scores, cells)
    known = np.flatnonzero(~np.isnan(means) & scores.scored)
    if not known.size:
        return None
    numbers, placed = np.unique(groups[known], return_inverse=True)
    right, asked = (np.bincount(placed, weights) for weights in (means[known], np.ones(known.size)))
    sums = np.stack([right, asked], axis=1).astype(np.float64)
    accuracy = bootstrap_cluster_share([sums], int(known.size))
    keys = cells[0].keys if len(cells) == 1 else {"model": cells[0].model, "protocol": "all", "condition": FORCED}
    return Leakage(title, keys, int(numbers.size), accuracy, float(chance[known].mean()), cells)


def _means(scores: AnyScores, cells: Sequence[CellKey]) -> Floats:
    """Return the mean score of each sample over its replies in some cells, NaN where it has none."""
    sums = np.array([scores.frame.of_cell(key).answered.sums(len(scores.samples)) for key in cells])
    total, count = sums.sum(axis=0)
    with np.errstate(invalid="ignore"):
        means: Floats = total / count
    return means


def _row(scores: AnyScores, one: Leakage) -> Row:
    free = [key._replace(condition="V0") for key in one.cells]
    values = (
        one.accuracy.count,
        one.groups,
        one.accuracy,
        Estimate(value=one.chance, count=one.accuracy.count),
        above_chance(one.accuracy, one.chance),
        _abstention(scores, one.cells),
        proportion(_means(scores, free)[scores.scored]),
        _abstention(scores, free),
    )
    return Row(title=one.title, keys=dict(one.keys), values=values)


def _abstention(scores: AnyScores, cells: Sequence[CellKey]) -> Estimate:
    outcomes = sum((scores.frame.of_cell(key).answered.counts("outcome") for key in cells), Counter[str]())
    return estimate_share(outcomes["abstained"], outcomes.total())
