"""Chooses whose trajectories S3 tells: other samples of the same domain and category, never of the same image."""

import random
from collections.abc import Iterable

from evaluation.ultravr.samples import Sample
from evaluation.ultravr.taxonomy import Category, Domain


class Examples:
    """A seeded choice of at most `count` samples with a complete trajectory: steps, and a known answer.

    All samples of one category on one image are told the same examples, so that their prompts share them. Where a
    category has fewer samples on other images, there are fewer examples, down to none.
    """

    def __init__(self, samples: Iterable[Sample], count: int, seed: int) -> None:
        self._count = count
        self._seed = seed
        self._complete: dict[tuple[Domain, Category], list[Sample]] = {}
        self._chosen: dict[tuple[Domain, Category, frozenset[str]], tuple[Sample, ...]] = {}
        for sample in samples:
            if sample.steps and sample.scored:
                self._complete.setdefault((sample.domain, sample.category), []).append(sample)

    def of(self, sample: Sample) -> tuple[Sample, ...]:
        """Return the examples for a sample; none of them is the sample itself or shares an image with it."""
        key = (sample.domain, sample.category, frozenset(sample.images))
        if key not in self._chosen:
            self._chosen[key] = self._choose(*key)
        return tuple(example for example in self._chosen[key] if example.id != sample.id)

    def _choose(self, domain: Domain, category: Category, images: frozenset[str]) -> tuple[Sample, ...]:
        others = [found for found in self._complete.get((domain, category), ()) if images.isdisjoint(found.images)]
        draws = random.Random("\0".join([str(self._seed), domain, category, *sorted(images)]))
        return tuple(draws.sample(others, min(self._count, len(others))))
