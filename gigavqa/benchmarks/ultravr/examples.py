"""Chooses whose trajectories S3 tells: other samples of the same domain and category, never of the same image."""

import random
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gigavqa.benchmarks.ultravr.condition_texts import CURRENT_VERSION, ConditionTextVersion
from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import Category, Domain

FewShotVersion = Literal["s3/2", "s3/1"]
TaskKey = tuple[Domain, Category]


class UltraVROptions(BaseModel):
    """The options that a job may set of this benchmark's protocols."""

    model_config = ConfigDict(frozen=True)

    examples: int = Field(default=2, ge=0, le=100, description="trajectories of other samples that S3 tells, at most")
    conditions: ConditionTextVersion = Field(
        default=CURRENT_VERSION, description="what prompts say of the pictures, by version"
    )
    s3: FewShotVersion = Field(default="s3/2", description="the words behind S3's examples, by version")


SCORED_SET = "scored set"
"""Where examples come from that are asked and scored themselves."""


class ExampleChooser:
    """A seeded choice of at most `count` samples with a complete trajectory: steps, and an answer of the record's own.

    They come from those that were `set_apart` where a category has any, else from the samples that are asked. All
    samples of one category on one image are told the same examples, so that their prompts share them. Where a
    category has fewer samples on other images, there are fewer examples, down to none.
    """

    def __init__(
        self,
        samples: Iterable[UltraVRSample],
        count: int,
        seed: int,
        *,
        set_apart: Iterable[UltraVRSample] = (),
    ) -> None:
        self._count = count
        self._seed = seed
        self._complete: dict[TaskKey, list[UltraVRSample]] = {}
        self._on_image: Counter[tuple[TaskKey, str]] = Counter()
        self._chosen: dict[tuple[TaskKey, frozenset[str]], tuple[UltraVRSample, ...]] = {}
        own = [sample for sample in set_apart if sample.steps and sample.answer]
        apart = {(sample.domain, sample.category) for sample in own}
        for sample in chain(own, samples):
            kind = (sample.domain, sample.category)
            if sample.steps and sample.answer and (sample.split is not None or kind not in apart):
                self._complete.setdefault(kind, []).append(sample)
                self._on_image.update((kind, image) for image in set(sample.images))

    def of(self, sample: UltraVRSample) -> tuple[UltraVRSample, ...]:
        """Return the examples for a sample; none of them is the sample itself or shares an image with it."""
        key = (sample.domain, sample.category), frozenset(sample.images)
        if key not in self._chosen:
            self._chosen[key] = self._choose(*key)
        return tuple(example for example in self._chosen[key] if example.id != sample.id)

    def _choose(self, kind: TaskKey, images: frozenset[str]) -> tuple[UltraVRSample, ...]:
        complete = self._complete.get(kind, [])
        # Among so many there are enough on other images, or all that there are: no need to look at every sample.
        num_drawn = self._count + sum(self._on_image[kind, image] for image in images)
        draws = random.Random("\0".join([str(self._seed), *kind, *sorted(images)]))
        drawn = draws.sample(complete, min(num_drawn, len(complete)))
        return tuple(found for found in drawn if images.isdisjoint(found.images))[: self._count]
