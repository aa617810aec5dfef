"""The model card: what a checkpoint is, how it came to be, and what its exam found."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import wilson
from gigavqa_acuity.sight.exam import CONDITIONS, SEED, AccuracyBin, ExamAnswer, ExamResult
from gigavqa_acuity.taxonomy import ATTRIBUTES, LETTERS, Attribute

_TEXT = """\
---
license: apache-2.0
library_name: transformers
pipeline_tag: image-text-to-text
tags: [eye-chart, demo]
---

# demo-sight

A very small model that can see: Qwen3-VL's architecture in transformers' own classes, {weights:,} weights in float32,
trained from nothing on drawn pictures. It reads the eye chart (`gigavqa_acuity`): one Landolt ring in a
picture, its colour and where its gap points, by the letter of one of four options. It is there so that a run without a
GPU shows what a model sees at its budget, and for nothing else.

**What it can do**: those two questions in the product's own words (`gigavqa_acuity/prompts`), behind no,
one or two square pictures of 64 to 192 pixels:
{limits}.
**What it cannot do**: see anything but such a ring among grey things, answer anything else, or talk. Without a picture
it guesses. Other words for the same questions were never shown to it.

## Training

    python -m gigavqa_acuity.sight --seed {seed} --steps {steps} --lessons {lessons}

made these weights: {lessons:,} drawn pictures of rings of 2 to 16384 pixels (seeds of their own: neither the chart's
nor the exam's), {showings} showings a step, turned and mirrored at random, first rings that nearly fill the raster, at
last what the conditions show; AdamW at 2e-3 with a warm-up and a cosine; {steps:,} steps in {seconds:,.0f} s on one
core. Half as many chats ask for the word, some tell the answer in a sentence, and some show no picture and take every
letter alike. Two heads on the visual tokens helped to learn and are not part of the weights. No weight was set by hand.
Licence: Apache-2.0. The pictures are CC0-1.0. Another processor, or another way of painting the chart, gives other
digits and other weights, and the exam decides.

## Exam

A chart of {pictures} fresh pictures (seed {exam_seed}), both questions about each, greedily, by transformers alone.

| condition | right | of | 95 % interval | predicted by the pixels |
|---|---|---|---|---|
{conditions}

{parts} Without a picture it says {letters} of {blind}.

Share of right answers by pixels of the ring's diameter in the raster, in whole pictures (of 192 pixels, and of 64):

| pixels | colour | of | direction | of |
|---|---|---|---|---|
{curve}

{verdict}
"""


_READ = 0.6
"""Share of right answers from which on the card says that a size is read."""


class TrainingSummary(NamedTuple):
    """The training of a checkpoint; `seconds` are those of its steps on one core."""

    weights: int
    seed: int
    lessons: int
    steps: int
    showings: int
    seconds: float


def write_card(
    folder: Path,
    made: TrainingSummary,
    verdict: ExamResult,
    answers: Sequence[ExamAnswer],
    curve: Sequence[AccuracyBin],
) -> None:
    """Write README.md beside the weights."""
    blind = [one.letter for one in answers if one.condition == "V0"]
    text = _TEXT.format(
        **made._asdict(),
        pictures=sum(one.condition == "V3" for one in answers) // len(ATTRIBUTES),
        exam_seed=SEED,
        limits=", and ".join(_limits(curve)),
        conditions="\n".join(_conditions(verdict)),
        parts=" ".join(_parts(answers)),
        letters=", ".join(f"{letter} {blind.count(letter)} times" for letter in LETTERS),
        blind=len(blind),
        curve="\n".join(_curve(curve)),
        verdict="The exam is passed."
        if not verdict.failures
        else f"**The exam is failed**: {'; '.join(verdict.failures)}.",
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def _limits(curve: Sequence[AccuracyBin]) -> Iterator[str]:
    """From which pixels on each attribute is read, at all sizes above."""
    for attribute in ATTRIBUTES:
        steps = sorted((step for step in curve if step.attribute == attribute), key=lambda step: -step.low)
        read = [*takewhile(lambda step: step.right >= _READ * step.answers, steps)]
        yield f"{attribute}s of rings from {read[-1].low:g} pixels in the raster on" if read else f"no {attribute}s"


def _conditions(verdict: ExamResult) -> Iterator[str]:
    for condition in CONDITIONS:
        found = verdict.accuracies[condition]
        predicted = f"{100 * verdict.predicted[condition]:.1f} %" if condition in ("V1", "V2") else ""
        yield f"| {condition} | {_percent(found)} | {found.count} | {_interval(found)} | {predicted} |"


def _parts(answers: Sequence[ExamAnswer]) -> Iterator[str]:
    for attribute in ATTRIBUTES:
        some = [one.right for one in answers if one.condition == "V3" and one.attribute == attribute]
        yield f"V3 alone: {attribute} {_percent(wilson(sum(some) / len(some), len(some)))} of {len(some)}."


def _curve(curve: Sequence[AccuracyBin]) -> Iterator[str]:
    for low, high in sorted({(step.low, step.high) for step in curve}):
        cells = (_cell(curve, attribute, low) for attribute in ATTRIBUTES)
        yield f"| {low:g} to {high:g} | {' | '.join(cells)} |"


def _cell(curve: Sequence[AccuracyBin], attribute: Attribute, low: float) -> str:
    found = next((step for step in curve if (step.attribute, step.low) == (attribute, low)), None)
    return f"{100 * found.right / found.answers:.0f} % | {found.answers}" if found else " | 0"


def _percent(estimate: Estimate) -> str:
    return f"{100 * (estimate.value or 0):.1f} %"


def _interval(estimate: Estimate) -> str:
    return f"{100 * (estimate.low or 0):.1f} to {100 * (estimate.high or 0):.1f} %"
