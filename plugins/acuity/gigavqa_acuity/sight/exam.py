"""The small model's exam: fresh pictures of the chart's kind, asked about under every condition.

It passes where V3 is read, V0 is at chance, and V1 and V2 are read as well as the pixels of their rings predict.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from gigavqa.demo.painting import ScenePainter
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa.tiling.geometry import Region
from gigavqa_acuity.chart.plan import PICTURES, ChartItem, plan_chart
from gigavqa_acuity.chart.scenes import draw_scene
from gigavqa_acuity.prompts import read_texts
from gigavqa_acuity.samples import Optotype
from gigavqa_acuity.sight.chats import lettered
from gigavqa_acuity.sight.lessons import WHOLE, Pixels, draw_lesson, render, render_whole, shown_pixels
from gigavqa_acuity.sight.reading import CheckpointReader, RasterPrompt
from gigavqa_acuity.taxonomy import ATTRIBUTES, CHANCE, LETTERS, WORDS, Attribute

CONDITIONS = ("V0", "V1", "V2", "V3", "V4")
SEED, CURVE_SEED = 1009, 1013
"""Neither the chart's seed nor the lessons'."""
STEPS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 200)
"""Pixels of a ring's diameter between which the curve counts answers together."""
LEAST_V3 = 0.9


class ExamAnswer(NamedTuple):
    """One answer: what was asked about how many pixels, and whether it is right."""

    condition: str
    attribute: Attribute
    shown: float
    letter: str
    right: bool


_Seen = tuple[Region, Pixels]


class _ExamItem(NamedTuple):
    """The question, the pixels of the ring in the raster that shows it best, and the right letter."""

    condition: str
    attribute: Attribute
    shown: float
    right: str
    asked: RasterPrompt


class AccuracyBin(NamedTuple):
    """Answers about rings between two numbers of pixels."""

    attribute: Attribute
    low: float
    high: float
    right: int
    answers: int


class ExamResult(NamedTuple):
    """Accuracies by condition, what the curve predicts of them, and what fails."""

    accuracies: Mapping[str, Estimate]
    predicted: Mapping[str, float]
    failures: tuple[str, ...]


def sit(reader: CheckpointReader, *, seed: int = SEED, pictures: int = PICTURES) -> list[ExamAnswer]:
    """Ask about a chart of another seed, both attributes under all conditions."""
    asked = (one for planned in plan_chart(seed, pictures) for one in _papers(planned))
    return _answered(reader, list(asked))


def measure(reader: CheckpointReader, *, seed: int = CURVE_SEED, pictures: int = 400) -> list[AccuracyBin]:
    """Return the share of right answers by pixels of the ring, in whole pictures as they are and made small."""
    asked = []
    for number in range(pictures):
        rng = np.random.default_rng([seed, number])
        lesson = draw_lesson(rng, parts=0, large=True)
        for condition, pixels in (("V2", lesson.whole), ("V1", lesson.small)):
            for attribute in ATTRIBUTES:
                words = rng.permutation(WORDS[attribute]).tolist()
                right = LETTERS[words.index(getattr(lesson.optotype, attribute))]
                asked.append(_paper(condition, attribute, words, right, lesson.optotype, [(WHOLE, pixels)]))
    return [*_steps(_answered(reader, asked))]


def judge(answers: Sequence[ExamAnswer], curve: Sequence[AccuracyBin]) -> ExamResult:
    """Compare accuracies with chance and with the curve."""
    accuracies, predicted, failures = {}, {}, []
    for condition in CONDITIONS:
        some = [one for one in answers if one.condition == condition]
        accuracies[condition] = wilson(sum(one.right for one in some) / len(some), len(some))
        predicted[condition] = sum(_expected(one, curve) for one in some) / len(some)
    value = accuracies["V3"].value or 0.0
    if value < LEAST_V3:
        failures.append(f"V3 is {value:.3f}, below {LEAST_V3}")
    for condition, expected in (("V0", CHANCE), ("V1", predicted["V1"]), ("V2", predicted["V2"])):
        found = accuracies[condition]
        if not (found.low or 0.0) <= expected <= (found.high or 0.0):
            failures.append(f"{condition} is {found.value:.3f}, and {expected:.3f} was expected")
    return ExamResult(accuracies, predicted, tuple(failures))


def _expected(one: ExamAnswer, curve: Sequence[AccuracyBin]) -> float:
    """Return what the curve says of rings of so many pixels: chance below all that it knows."""
    for step in curve:
        if step.attribute == one.attribute and step.low <= one.shown < step.high:
            return step.right / step.answers
    return CHANCE


def _steps(answers: Sequence[ExamAnswer]) -> Iterator[AccuracyBin]:
    def place(one: ExamAnswer) -> tuple[str, int]:
        return one.attribute, int(np.searchsorted(STEPS, one.shown, "right")) - 1

    for (_, at), group in groupby(sorted(answers, key=place), place):
        some = list(group)
        yield AccuracyBin(some[0].attribute, STEPS[at], STEPS[at + 1], sum(one.right for one in some), len(some))


def _papers(planned: ChartItem) -> Iterator[_ExamItem]:
    """Yield all that is asked about a picture of a chart."""
    painter = ScenePainter(draw_scene(planned.picture, planned.seed))
    whole, small = ([(WHOLE, pixels)] for pixels in render_whole(painter))
    part = [(planned.evidence, render(painter, planned.evidence))]
    ring = planned.picture.optotype
    for condition, views in zip(CONDITIONS, ([], small, whole, part, whole + part), strict=True):
        for attribute, options in planned.options.items():
            right = next(letter for letter, word in options.items() if word == getattr(ring, attribute))
            yield _paper(condition, attribute, list(options.values()), right, ring, views)


def _paper(
    condition: str, attribute: Attribute, words: Sequence[str], right: str, ring: Optotype, views: Sequence[_Seen]
) -> _ExamItem:
    text = lettered(attribute, read_texts("shown")[condition], words)
    shown = max((shown_pixels(ring, region, pixels.shape[0]) for region, pixels in views), default=0.0)
    return _ExamItem(condition, attribute, shown, right, RasterPrompt(text, tuple(pixels for _, pixels in views)))


def _answered(reader: CheckpointReader, papers: Sequence[_ExamItem]) -> list[ExamAnswer]:
    texts = reader.answer([paper.asked for paper in papers])
    return [ExamAnswer(*paper[:3], text, text == paper.right) for paper, text in zip(papers, texts, strict=True)]
