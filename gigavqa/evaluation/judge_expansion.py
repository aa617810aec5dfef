"""Expands a job that judges into requests: one for every different case that the replies of other jobs bring."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry, Decoding
from gigavqa.contract.errors import JobTooLargeError
from gigavqa.contract.jobs import JUDGE, JobSpec, JudgeSpec
from gigavqa.contract.requests import InferenceRequest, Sampling
from gigavqa.evaluation.capabilities import JobOptions, ModelJudging
from gigavqa.evaluation.chats import Scene, SizeOf
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import JudgeUnavailableError
from gigavqa.evaluation.expansion import decoding_of, request_seed, with_displays
from gigavqa.evaluation.judgements import JudgeCase
from gigavqa.evaluation.options import ViewOptions, read_options
from gigavqa.evaluation.packed_samples import ChosenSamples
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.samples import Sample

_UNUSED_FIELDS = ("plan", "cells", "rounds", "repeats", "samples", "closing", "likelihood")
"""What a job that judges does not choose: it asks about whatever the judged jobs were answered."""


@dataclass(frozen=True)
class JudgingExpansion:
    """A job that judges, ready to be expanded as often as wanted, into the same requests every time.

    `cases` are by the id of their sample, samples in the data set's order.
    """

    dataset: Dataset
    judging: ModelJudging[Any]
    spec: JobSpec
    prompt: str
    cases: Mapping[str, tuple[JudgeCase, ...]]
    decodings: Mapping[str, Decoding]
    shown: ViewOptions
    options: Any

    @cached_property
    def samples(self) -> Sequence[Sample]:
        """The samples of which there is something to judge, in the data set's order."""
        return ChosenSamples(self.dataset.samples, sorted(self.dataset.positions[name] for name in self.cases))

    @cached_property
    def num_requests(self) -> int:
        """The number of requests."""
        return sum(map(len, self.cases.values())) * len(self.decodings)

    @cached_property
    def digest(self) -> str:
        """The digest of what it is made from, besides the job and the images: the data set's records, and all cases."""
        digest = hashlib.sha256(f"{self.dataset.digest}\0".encode())
        for cases in self.cases.values():
            digest.update("".join(case.id for case in cases).encode())
        return digest.hexdigest()

    def show_of(self, image: str) -> str:
        """Return how an image is shown, by its name as views have it: as the job says, else as the data set does."""
        return self.dataset.show_of(image, self.shown.show)

    def remarks(self) -> Iterator[str]:
        """Nothing is to be known of how it asks."""
        return iter(())

    def requests(self, size_of: SizeOf, *, repeats: int | None = None) -> Iterator[tuple[str, InferenceRequest]]:
        """Yield (image, request) pairs as `Expansion.requests` does: those of one (model, image) are consecutive."""
        shared = self.dataset.prepare(self.options, self.spec.seed)
        for image, samples in self.dataset.by_image(self.samples).items():
            for model, decoding in self.decodings.items():
                for sample in samples:
                    images = tuple(map(self.dataset.image_of, sample.images))
                    scene = Scene(images, size_of, f"{self.spec.seed}:{sample.id}", self.shown.thumbnail, shared)
                    for case in self.cases[sample.id]:
                        yield image, self._request(sample, case, model, decoding, scene)

    def _request(
        self, sample: Sample, case: JudgeCase, model: str, decoding: Decoding, scene: Scene
    ) -> InferenceRequest:
        chat = self.judging.ask_judge(sample, case, self.prompt, scene)
        identity = f"{sample.id}:{JUDGE}-{case.id}:{model}"
        return InferenceRequest(
            request_id=identity,
            sample_id=sample.id,
            model=model,
            protocol=JUDGE,
            condition="V2" if any(turn.views for turn in chat.turns) else "V0",
            prompt_version=chat.prompt_version,
            system=chat.system,
            turns=tuple(with_displays(turn, self.dataset, self.shown, sample) for turn in chat.turns),
            details={"truth": case.truth, "answer": case.answer, **chat.details},
            sampling=Sampling(**decoding.model_dump(), seed=request_seed(self.spec.seed, identity)),
        )


def judging_of(dataset: Dataset) -> ModelJudging[Any]:
    """Return a data set's benchmark as one that models judge; raises JudgeUnavailableError where none does."""
    if judging := ModelJudging.found_in(dataset.benchmark):
        return judging
    raise JudgeUnavailableError(f"data set '{dataset.name}' is of {dataset.benchmark.title}, which no model judges")


def judge_prompt_of(judging: ModelJudging[Any], spec: JudgeSpec) -> str:
    """Return the prompt by which a job judges; raises JudgeUnavailableError where there is none of that name."""
    prompts = judging.judge_prompts
    prompt = spec.prompt or next(iter(prompts))
    if prompt not in prompts:
        raise JudgeUnavailableError(f"judge.prompt: there is no '{prompt}'; there is {', '.join(prompts)}")
    return prompt


def prepare_judging(
    dataset: Dataset, spec: JobSpec, catalogue: Mapping[str, CatalogueEntry], replies: Iterable[Reply], most: int
) -> JudgingExpansion:
    """Check everything of a job that judges `replies` but its images; `most` bounds the requests.

    Raises JudgeUnavailableError, also where nothing is left to judge, SamplingInvalidError, OptionsInvalidError and
    JobTooLargeError.
    """
    assert spec.judge is not None
    judging = judging_of(dataset)
    prompt = judge_prompt_of(judging, spec.judge)
    if chosen := [name for name in _UNUSED_FIELDS if getattr(spec, name) != JobSpec.model_fields[name].default]:
        raise JudgeUnavailableError(f"a job that judges has no {', '.join(chosen)}: it asks once about every answer")
    options = read_options(spec.options, JobOptions.of(dataset.benchmark).options)
    decodings = {model: decoding_of(catalogue[model], judging.judge_decoding, spec) for model in spec.models}
    cases = _collect_cases(dataset, judging, replies, most // len(decodings))
    if not cases:
        told = ", ".join(spec.judge.jobs)
        raise JudgeUnavailableError(
            f"nothing to judge: every answer of {told} is settled without a model, or there is none"
        )
    return JudgingExpansion(dataset, judging, spec, prompt, cases, decodings, *options)


def _collect_cases(
    dataset: Dataset, judging: ModelJudging[Any], replies: Iterable[Reply], most: int
) -> dict[str, tuple[JudgeCase, ...]]:
    """Return every different case of replies by its sample, in an order that does not depend on that of the replies."""
    found: dict[str, set[JudgeCase]] = {}
    number = 0
    for reply in replies:
        position = dataset.positions.get(reply.sample_id)
        for case in judging.cases(dataset.samples[position], reply) if position is not None else ():
            known = found.setdefault(case.sample, set())
            number += case not in known
            known.add(case)
            if number > most:
                raise JobTooLargeError(f"there are more than {most} answers to judge; the queue holds no more")
    return {name: tuple(sorted(found[name])) for name in sorted(found, key=dataset.positions.__getitem__)}
