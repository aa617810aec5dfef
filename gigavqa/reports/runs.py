"""Runs, a model as one job asked it: what a report over several jobs tells apart instead of counting it together."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.evaluation.plans import select_cells
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.tables import Caveat

TITLE = "title"
"""The pair of a job's metadata that says what a person calls it."""


@dataclass(frozen=True)
class Runs:
    """What models are called in one report, by job and model: `MODEL@JOB` where answers stand apart by their job.

    `known` is the catalogue, and `titles` say what people call those that stand apart: by their jobs' titles.
    """

    known: Mapping[str, CatalogueEntry]
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def apart(
        cls, jobs: Sequence[Job], benchmark: Benchmark[Any, Any], catalogue: Mapping[str, CatalogueEntry]
    ) -> "Runs":
        """Tell models apart that several of the jobs ask in the same cell about the same samples."""
        names: dict[str, dict[str, str]] = defaultdict(dict)
        titles = dict[str, str]()
        for model, several in _asked_by_several(jobs, benchmark).items():
            for job, title in zip(several, _titles(several), strict=True):
                name = names[job.id][model] = f"{model}@{job.id}"
                titles[name] = f"{title}: {catalogue[model].title if model in catalogue else model}"
        return cls(catalogue, names, titles)

    @cached_property
    def catalogue(self) -> Mapping[str, CatalogueEntry]:
        """The catalogue, with the models by their names here."""
        entries = {
            name: self.known[model].model_copy(update={"title": self.titles[name]})
            for named in self.names.values()
            for model, name in named.items()
            if model in self.known
        }
        return {**self.known, **entries} if entries else self.known

    def caveat(self, caveat: Caveat) -> Caveat:
        """Return a warning that calls models what people call them."""
        if not self.titles:
            return caveat
        # The longest first: one name may be the end of another.
        names = "|".join(re.escape(name) for name in sorted(self.titles, key=len, reverse=True))
        return caveat.model_copy(update={"text": re.sub(names, lambda found: self.titles[found[0]], caveat.text)})

    def spec(self, job: Job) -> JobSpec:
        """Return what a job asks, its models by their names here."""
        return job.spec.model_copy(update={"models": tuple(self._name(job.id, model) for model in job.spec.models)})

    def reply(self, reply: Reply) -> Reply:
        """Return a reply under its model's name here."""
        name = self._name(reply.job_id, reply.model)
        return reply if name == reply.model else reply._replace(labels=reply.labels.model_copy(update={"model": name}))

    def outcome(self, outcome: SampleOutcome) -> SampleOutcome:
        """Return an outcome under its model's name here."""
        name = self._name(outcome.job_id, outcome.model)
        return outcome if name == outcome.model else outcome.model_copy(update={"model": name})

    def tally(self, job_id: str, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a job's tally, as `dump_tally` writes it, under its models' names here."""
        if job_id not in self.names:
            return told
        by_model = ("cells", "provenance", "prompts", "sizes", "closing", "likelihoods")
        named = {key: [[self._name(job_id, model), *rest] for model, *rest in told[key]] for key in by_model}
        return {**told, **named}

    def _name(self, job_id: str, model: str) -> str:
        return self.names.get(job_id, {}).get(model, model)


def _asked_by_several(jobs: Sequence[Job], benchmark: Benchmark[Any, Any]) -> Mapping[str, Sequence[Job]]:
    """Return the models that more than one job asks in a cell about a sample, and all those jobs in their order."""
    asked: dict[CellKey, list[Job]] = defaultdict(list)
    for job in jobs:
        for cell in select_cells(benchmark, job.spec):
            for model in job.spec.models:
                asked[CellKey.of(model, cell)].append(job)
    found: dict[str, set[str]] = defaultdict(set)
    chosen = {job.id: frozenset(job.spec.samples) for job in jobs}
    for key, several in asked.items():
        for one, other in combinations([job.id for job in several], 2):
            if not chosen[one] or not chosen[other] or not chosen[one].isdisjoint(chosen[other]):
                found[key.model] |= {one, other}
    return {model: [job for job in jobs if job.id in ids] for model, ids in found.items()}


def _titles(jobs: Sequence[Job]) -> Sequence[str]:
    """Return what to call jobs: their titles where those differ, else also their ids."""
    titles = [job.spec.metadata.get(TITLE, "") for job in jobs]
    return [
        title if title and titles.count(title) == 1 else f"{title} {job.id}".strip()
        for title, job in zip(titles, jobs, strict=True)
    ]
