"""A report over recorded responses: a benchmark's tables and figures, and everything needed to trust or doubt them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.jobs import JUDGE, LIKELIHOOD, Cell, Job, JobSpec, OptionValue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import CellRules, ChatDetails, PaperSettings, ReaderVersions
from gigavqa.evaluation.cell_scores import CellScore, cells_table, score_cells
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.departures import Departure
from gigavqa.evaluation.errors import JudgesMixedError
from gigavqa.evaluation.metrics.accuracy import Strata
from gigavqa.evaluation.metrics.intervals import Indices
from gigavqa.evaluation.outcome_changes import Revision, readers_of, revisions_of
from gigavqa.evaluation.plans import select_cells
from gigavqa.evaluation.replies import Reply, reply_of
from gigavqa.evaluation.reply_costs import WorkTotals
from gigavqa.evaluation.sample_judges import SampleJudges
from gigavqa.evaluation.score_frame import CellKey, ScoreFrame
from gigavqa.evaluation.scores import AnyScores, Scores
from gigavqa.evaluation.tables import Caveat, Contents, Figure, Table
from gigavqa.evaluation.tally import Tally
from gigavqa.reports.caveats import collect_caveats
from gigavqa.reports.closing_table import closing_tables
from gigavqa.reports.judge_tables import judge_caveats, judgement_contents
from gigavqa.reports.leakage_table import find_leakage, leakage_caveats, leakage_tables
from gigavqa.reports.likelihood_tables import likelihood_contents
from gigavqa.reports.reading_rules import rules_table


class _ReportBase(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProvenanceEntry(_ReportBase):
    """The engine and settings that made some of a model's responses."""

    model: str
    responses: int
    engine: str | None
    version: str | None
    device: str | None
    model_revision: str | None
    simulated: bool
    prompt_version: str | None
    thumbnail: str | None = Field(description="sizing rule of downsampled views")
    sampling: dict[str, float | int | None]
    not_sent: tuple[str, ...] = Field(default=(), description="parameters that the server would refuse, or ignores")
    budget: str | None = Field(default=None, description="the visual budget: how its family shows it pictures")
    template: str | None = Field(default=None, description="arguments of the chat template, such as whether it thinks")
    detail: str | None = Field(default=None, description="what a server elsewhere was told of each picture")
    sent: str | None = Field(default=None, description="what else a server elsewhere was sent with every request")

    @property
    def settings(self) -> tuple[tuple[str, str | None], ...]:
        """Further settings by name, those that differ from the engine's own."""
        shown = (("thumbnail", self.thumbnail), ("budget", self.budget), ("detail", self.detail))
        return (*shown, ("template", self.template), ("also sent", self.sent))


class JobFacts(_ReportBase):
    """The specification and times of a job, for a report."""

    id: str
    status: str
    created_at: datetime
    finished_at: datetime | None
    models: tuple[str, ...]
    plan: str | None
    cells: tuple[str, ...] = Field(description="protocol, condition and rounds of each, where the job named no plan")
    rounds: int | None = Field(default=None, description="most answers of chats with a loop, where the job named it")
    samples: int | None = Field(description="how many samples it named; None for all")
    repeats: int
    seed: int
    options: dict[str, OptionValue]
    sampling: dict[str, Any] = Field(description="what it set besides the models' own decoding")
    closing: str | None = Field(default=None, description="kind of its closing turns; null where it had none")
    likelihood: str | None = Field(
        default=None, description="the mask behind which it weighed answers; null where it asked for them"
    )
    judges: tuple[str, ...] = Field(default=(), description="ids of the jobs whose answers its models judged")

    @classmethod
    def of(cls, job: Job) -> "JobFacts":
        """Describe a job."""
        spec, own = job.spec, {"cells", "samples"}
        return cls(
            **job.model_dump(include={"id", "status", "created_at", "finished_at"}),
            **spec.model_dump(include=cls.model_fields.keys() - own),
            cells=tuple(CellKey.of("", cell).how for cell in spec.cells),
            samples=len(spec.samples) or None,
            judges=spec.judge.jobs if spec.judge else (),
        )


class Report(_ReportBase):
    """Tables and figures of one data set's benchmark, with counts and 95 % intervals; rates are fractions."""

    benchmark: str
    title: str = Field(description="what the benchmark is called")
    dataset: str
    dataset_digest: str
    samples: int
    awaiting_expert: tuple[str, ...] = Field(description="samples without an answer, left out of every accuracy")
    versions: dict[str, str] = Field(description="versions of what read and judged the responses")
    revisions: tuple[Revision, ...] = Field(
        default=(), description="what other versions said of the same answers, where an earlier report was made by them"
    )
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    cells: tuple[CellScore, ...]
    caveats: tuple[Caveat, ...]
    provenance: tuple[ProvenanceEntry, ...]
    departures: tuple[Departure, ...] = Field(default=(), description="what is asked otherwise than the paper prints")
    jobs: tuple[JobFacts, ...] = Field(default=(), description="where the responses come from; none of files")
    work: WorkTotals = WorkTotals()

    def table(self, name: str) -> Table | None:
        """Return the table of that name; None where the responses fill none."""
        return next((table for table in self.tables if table.name == name), None)


def build_report(
    dataset: Dataset,
    responses: Iterable[Response],
    catalogue: Mapping[str, CatalogueEntry],
    *specs: JobSpec,
) -> Report:
    """Judge responses as they stream past, and fill the tables.

    With the jobs' `specs`, responses that are still missing are counted for every cell they asked for; without, only
    for cells of which a response exists. The order of responses changes nothing. Raises AnnotationInvalidError where a
    sample has an annotation that its replies cannot be judged by.
    """
    return report_on_replies(dataset, (reply_of(response) for response in responses), catalogue, *specs)


def report_on_replies(
    dataset: Dataset,
    replies: Iterable[Reply],
    catalogue: Mapping[str, CatalogueEntry],
    *specs: JobSpec,
) -> Report:
    """Fill the tables from replies, wherever they were read from."""
    tally = tally_replies(dataset, replies, catalogue)
    tally.rows.forget_copies()
    return report_on_tally(dataset, tally, catalogue, *specs)


def tally_replies(dataset: Dataset, replies: Iterable[Reply], catalogue: Mapping[str, CatalogueEntry]) -> Tally:
    """Judge replies, wherever they were read from, and count them."""
    judges = SampleJudges.of_dataset(dataset, catalogue)
    return Tally(dataset.samples, judges, replies, ChatDetails.of(dataset.benchmark).trait)


def report_on_tally(dataset: Dataset, tally: Tally, catalogue: Mapping[str, CatalogueEntry], *specs: JobSpec) -> Report:
    """Fill the tables from what was counted. Raises JudgesMixedError where replies of judges are among others."""
    benchmark = dataset.benchmark
    frame = tally.frame()
    kind = _kind_of(frame, specs)
    asked = (
        _count_recorded(dataset, frame)
        if kind
        else _count_asked(dataset, specs)
        if specs
        else _count_assumed(dataset, frame)
    )
    scores = Scores(
        dataset.samples,
        frame,
        _order_cells(benchmark, asked),
        catalogue,
        dataset.columns,
        dataset.panel.names,
        tally.rows.duplicates,
        tally.unknown,
    )
    cells = score_cells(scores, benchmark.grouping, Strata.of(scores.columns, benchmark.grouping))
    leakage = () if kind else find_leakage(scores)
    findings = _find(kind, scores, tally, benchmark)
    return Report(
        benchmark=benchmark.name,
        title=benchmark.title,
        dataset=dataset.name,
        dataset_digest=dataset.digest,
        samples=len(dataset.samples),
        awaiting_expert=tuple(dataset.samples[at].id for at in np.flatnonzero(~scores.scored).tolist()),
        versions=versions_of(dataset),
        revisions=revisions_of(tally.revised, ReaderVersions.of(benchmark).version_notes),
        tables=(
            *findings.tables,
            *leakage_tables(scores, leakage),
            *closing_tables(scores, tally.closing),
            cells_table(cells, benchmark.grouping),
            *rules_table(cells),
        ),
        figures=findings.figures,
        cells=cells,
        caveats=(
            *judge_caveats(dataset.panel, _ids_of(scores.models, catalogue), catalogue),
            *collect_caveats(tally, scores, cells, benchmark.name),
            *leakage_caveats(leakage),
            *findings.caveats,
        ),
        provenance=_provenance(tally),
        departures=tuple(PaperSettings.of(benchmark).departures),
        work=tally.work.total,
    )


def _find(kind: str, scores: AnyScores, tally: Tally, benchmark: Benchmark[Any, Any]) -> Contents:
    """Return what is special to the replies: of judges, of weighed answers, or of the benchmark's own."""
    if kind == JUDGE:
        return judgement_contents(scores)
    if kind == LIKELIHOOD:
        return likelihood_contents(scores, tally.likelihoods, benchmark.grouping)
    return benchmark.report(scores)


def versions_of(dataset: Dataset) -> dict[str, str]:
    """Versions of what reads and judges the replies to a data set, by what it reads; models that judge by name."""
    models = {"judge": ", ".join(dataset.panel.names)} if dataset.panel.judges else {}
    people = {"labels": dataset.labels[:12]} if dataset.labels else {}
    return {**readers_of(ReaderVersions.of(dataset.benchmark).versions), **models, **people}


def _kind_of(frame: ScoreFrame[Any], specs: Sequence[JobSpec]) -> str:
    """Return the protocol of replies that answer nothing: those of judges, and those that weigh answers; else ''.

    Raises JudgesMixedError where some do, and others do not.
    """
    kinds = {key.protocol if key.protocol in (JUDGE, LIKELIHOOD) else "" for key in frame.cells}
    kinds |= {JUDGE if spec.judge else LIKELIHOOD if spec.likelihood else "" for spec in specs}
    if len(kinds) > 1 and JUDGE in kinds:
        raise JudgesMixedError("some responses are a judge's; name them as `judge`, and what was judged beside")
    if len(kinds) > 1:
        raise JudgesMixedError(
            "some responses tell how likely a given answer is, and others are answers; report on them apart"
        )
    return next(iter(kinds), "")


def _ids_of(models: Iterable[str], catalogue: Mapping[str, CatalogueEntry]) -> set[str]:
    """Return the ids of models, whatever they are called in this report."""
    return {catalogue[model].id if model in catalogue else model for model in models}


def _count_recorded(dataset: Dataset, frame: ScoreFrame[Any]) -> dict[CellKey, Indices]:
    """As often as there are replies: how often a judge is asked about a sample, its answers decide."""
    return {key: np.bincount(frame.of_cell(key).sample, minlength=len(dataset.samples)) for key in frame.cells}


def _count_asked(dataset: Dataset, specs: Sequence[JobSpec]) -> dict[CellKey, Indices]:
    """Return how often each sample was asked in each cell of the jobs."""
    asked: dict[CellKey, Indices] = {}
    for spec in specs:
        chosen = spec.samples or None
        times = _applying(dataset, select_cells(dataset.benchmark, spec), chosen)
        for model in spec.models:
            for cell, applies in times.items():
                if applies.any():
                    key = CellKey.of(model, cell)
                    asked[key] = asked.get(key, 0) + spec.repeats * applies
    return asked


def _applying(dataset: Dataset, cells: Iterable[Cell], chosen: Collection[str] | None = None) -> dict[Cell, Indices]:
    """Return to which of the samples that are chosen, by their ids, each cell applies, as 0 and 1."""
    rules, samples, known = CellRules.of(dataset.benchmark), dataset.samples, dataset.positions
    found = {cell: np.zeros(len(samples), dtype=np.intp) for cell in cells}
    asked = range(len(samples)) if chosen is None else sorted(known[name] for name in chosen if name in known)
    if rules.applies_always:
        for applies in found.values():
            applies[asked] = 1
        return found
    for at in asked:
        sample = samples[at]
        for cell, applies in found.items():
            applies[at] = rules.applies(sample, cell)
    return found


def _order_cells(benchmark: Benchmark[Any, Any], asked: Mapping[CellKey, Indices]) -> dict[CellKey, Indices]:
    """Return the cells of each model in the benchmark's own order, whatever jobs or files they come from."""
    models = list(dict.fromkeys(key.model for key in asked))
    protocols, conditions = [*benchmark.protocols], [*benchmark.conditions]

    def place(key: CellKey) -> tuple[Any, ...]:
        protocol, condition = _cell_position(key.protocol, protocols), _cell_position(key.condition, conditions)
        return models.index(key.model), protocol, condition, key.rounds

    return {key: asked[key] for key in sorted(asked, key=place)}


def _cell_position(name: str, known: Sequence[str]) -> tuple[int, str]:
    return known.index(name) if name in known else len(known), name


def _count_assumed(dataset: Dataset, frame: ScoreFrame[Any]) -> dict[CellKey, Indices]:
    """Without jobs: every sample in every cell of which there are replies and that applies, as often as any sample."""
    applying = _applying(dataset, dict.fromkeys(key.cell for key in frame.cells))
    recorded = _count_recorded(dataset, frame)
    return {key: max(1, recorded[key].max(initial=0)) * applying[key.cell] for key in frame.cells}


def _provenance(tally: Tally) -> tuple[ProvenanceEntry, ...]:
    """One line for every distinct (model, engine, prompt, sampling), with the number of its responses."""
    return tuple(
        ProvenanceEntry(
            model=model,
            responses=responses,
            engine=made.engine,
            version=made.version,
            device=made.device,
            model_revision=made.revision,
            simulated=made.simulated,
            prompt_version=made.prompt_version,
            thumbnail=made.thumbnail,
            sampling=dict(made.sampling),
            not_sent=made.not_sent,
            budget=made.budget,
            template=made.template,
            detail=made.detail,
            sent=made.sent,
        )
        for model, counts in sorted(tally.provenance.items())
        for made, responses in sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    )
