"""Checks a job whole, before anything of it is accepted, and then expands it into bundles, as a stream.

Blocking, without Redis.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from gigavqa.catalogue.load import Catalogue
from gigavqa.contract.errors import JobTooLargeError
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.tool_loops import SearchTool
from gigavqa.evaluation.capabilities import ChatDetails, PaperSettings
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.evaluation.expansion import Expansion, prepare_expansion, read_choices, with_pins
from gigavqa.evaluation.judge_expansion import JudgingExpansion, judge_prompt_of, judging_of, prepare_judging
from gigavqa.evaluation.replies import Reply
from gigavqa.service.errors import MAX_FINDINGS, DatasetNotFoundError, ProblemFinding, SubmissionInvalidError
from gigavqa.service.operations.bundling import RequestOfImage
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.image_headers import ImageHeaders, ImageInfo
from gigavqa.service.submission.context_windows import ContextCheck
from gigavqa.store.worker_registry import WorkerStatus
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.geometry import Size

Found = TypeVar("Found")
# Requests of a job, some 10 MB; those of a larger one are checked as a stream, and made again: decision 0003.
_MOST_KEPT = 2000


@dataclass(frozen=True)
class ResolvedJob:
    """A job whose names all exist, and how much it asks for."""

    expansion: Expansion | JudgingExpansion
    catalogue: Catalogue

    @property
    def dataset(self) -> Dataset:
        """The data set that it asks about."""
        return self.expansion.dataset

    @property
    def digest(self) -> str:
        """Changes with what the requests are made from: the data set's records, and the answers that are judged."""
        return self.expansion.digest

    @property
    def num_requests(self) -> int:
        """The number of requests."""
        return self.expansion.num_requests


@dataclass(frozen=True)
class ValidatedJob:
    """A draft whose images were all looked at, and whose requests fit their models."""

    draft: ResolvedJob
    sizes: Mapping[str, Size]
    kept: Sequence[RequestOfImage] = ()
    """All requests, where they are few enough to be kept since they were checked."""
    warnings: Sequence[str] = ()
    """What a client should know of how the job asks."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """What workers' operators must have named, each with the first sample whose chat may search there."""
    pins: Mapping[str, str] = field(default_factory=dict)
    """The versions of images elsewhere that were looked at, which the job is asked about to its end."""

    def requests(self, without: Container[str] = ()) -> Iterator[RequestOfImage]:
        """Yield the requests one after the other, the same every time; `without` leaves out those of these ids."""
        for image, request in self.kept or self.draft.expansion.requests(self.sizes.__getitem__):
            if request.id not in without:
                yield image, with_pins(request, self.pins) if self.pins else request


class JobValidator:
    """Turns what a client asks for into requests, or into an error that names everything that is wrong."""

    def __init__(
        self, datasets: Datasets, images: ImageHeaders, catalogue: Callable[[], Catalogue], max_requests: int
    ) -> None:
        self._datasets = datasets
        self._images = images
        self._catalogue = catalogue
        self._max_requests = max_requests

    def named(self, spec: JobSpec) -> JobSpec:
        """Return the specification with its models by their ids, at the budget that is asked for.

        Unknown names stay.
        """
        catalogue = self._catalogue()
        models = tuple(map(catalogue.id_of, spec.models))
        if spec.options.get("budget") == "published":
            models = tuple(own.id if (own := catalogue.published(model)) else model for model in models)
        return spec.model_copy(update={"models": models})

    def draft(self, spec: JobSpec, judged: Iterable[Reply] = ()) -> ResolvedJob:
        """Check everything but images: data set and its samples, models, plan, sampling, evidence.

        `judged` are the replies that a job judges.

        Raises SubmissionInvalidError, DatasetInvalidError (bad samples by file and line) and JobTooLargeError.
        """
        catalogue = self._catalogue()
        _require_models(spec, catalogue)
        dataset = self._of_dataset(spec, self._datasets.load)
        with _refused_as_findings():
            if spec.judge is None:
                expansion: Expansion | JudgingExpansion = prepare_expansion(dataset, spec, catalogue)
            else:
                expansion = prepare_judging(dataset, spec, catalogue, judged, self._max_requests)
        num_requests = expansion.num_requests
        if num_requests > self._max_requests:
            raise JobTooLargeError(f"the job has {num_requests} requests; the queue holds at most {self._max_requests}")
        return ResolvedJob(expansion, catalogue)

    def is_large(self, spec: JobSpec) -> bool:
        """Return whether the job's data set takes long to read."""
        try:
            return self._datasets.is_large(spec.dataset)
        except DatasetNotFoundError:
            return False

    def require_choices(self, spec: JobSpec) -> None:
        """Check what can be of a job without its samples, or the replies that it judges; raises as `draft` does."""
        catalogue = self._catalogue()
        _require_models(spec, catalogue)
        head = self._of_dataset(spec, self._datasets.head)
        if spec.judge is None:
            with _refused_as_findings():
                read_choices(head, spec, catalogue)
            return
        try:
            judge_prompt_of(judging_of(head), spec.judge)
        except EvaluationError as error:
            raise _submission_error([ProblemFinding(detail=str(error), pointer="#/judge")]) from error

    def _of_dataset(self, spec: JobSpec, look: Callable[[str], Found]) -> Found:
        try:
            return look(spec.dataset)
        except DatasetNotFoundError as error:
            raise SubmissionInvalidError(
                str(error), [ProblemFinding(detail=str(error), pointer="#/dataset")]
            ) from error

    def check(self, draft: ResolvedJob) -> ValidatedJob:
        """Look at every image and every chat. Raises SubmissionInvalidError naming samples and images."""
        found, repeats = self._survey(draft.expansion), draft.expansion.spec.repeats
        sizes = {name: image.size for name, image in found.items()}
        contexts = ContextCheck(draft.catalogue, sizes.__getitem__, repeats)
        remark = ChatDetails.of(draft.dataset.benchmark).remark
        keeps = repeats == 1 and draft.num_requests <= _MOST_KEPT
        kept: list[RequestOfImage] = []
        sources: dict[str, str] = {}
        remarks: Counter[str] = Counter()
        findings: list[ProblemFinding] = []
        try:
            for image, request in draft.expansion.requests(sizes.__getitem__, repeats=1):
                contexts.admits(request)
                remarks[remark(request.details)] += repeats
                for source in _sources_of(request):
                    sources.setdefault(source, request.sample_id)
                if keeps:
                    kept.append((image, request))
        except (EvaluationError, TilingError) as error:
            findings.append(ProblemFinding(detail=str(error)))
        findings += contexts.findings()
        if findings:
            raise _submission_error(findings)
        told = (f"{number} of {draft.num_requests} requests: {text}" for text, number in remarks.items() if text)
        remarked = (*contexts.remarks(), *draft.expansion.remarks(), *told, *_budget_warnings(draft))
        pins = {name: image.pin for name, image in found.items() if image.pin}
        return ValidatedJob(draft, sizes, kept, remarked, sources, pins)

    def _survey(self, expansion: Expansion | JudgingExpansion) -> Mapping[str, ImageInfo]:
        image_of = expansion.dataset.image_of
        users = {image_of(image): sample.id for sample in expansion.samples for image in sample.images}
        found = dict(self._images.survey(users, expansion.show_of))
        further = {} if expansion.shown.show else expansion.dataset.further_displays()
        for show, others in further.items():
            shown = self._images.survey(others, dict.fromkeys(others, show).__getitem__)
            found |= {name: detail for name, detail in shown.items() if isinstance(detail, str)}
        images = {name: image for name, image in found.items() if not isinstance(image, str)}
        if len(images) < len(found):
            raise _submission_error(
                ProblemFinding(detail=detail, image=name, sample=users[name])
                for name, detail in found.items()
                if isinstance(detail, str)
            )
        return images


def _budget_warnings(draft: ResolvedJob) -> Iterator[str]:
    """Tell of models that are shown more or less than by their checkpoints' own files, as papers mostly had them."""
    if PaperSettings.of(draft.dataset.benchmark).budget == "entry":
        return
    for model in draft.expansion.spec.models:
        if own := draft.catalogue.published(model):
            yield (
                f"{model} is shown pictures at {draft.catalogue[model].visual_budget}; the checkpoint's own files say "
                f"{own.visual_budget}, which `--option budget=published` asks of {own.id}, if a worker serves it"
            )


def _require_models(spec: JobSpec, catalogue: Catalogue) -> None:
    unknown = [(place, model) for place, model in enumerate(spec.models) if model not in catalogue]
    if unknown:
        raise _submission_error(
            ProblemFinding(detail=catalogue.lacks(model), pointer=f"#/models/{place}") for place, model in unknown
        )


def require_schema_support(spec: JobSpec, workers: Iterable[WorkerStatus]) -> None:
    """Raise SubmissionInvalidError where closing turns are wanted of a model that no worker can hold to anything."""
    remote = [(model, worker.engine.remote) for worker in workers if worker.engine for model in worker.models]
    for place, model in enumerate(spec.models if spec.closing else ()):
        servers = [server for name, server in remote if name == model]
        if servers and not any(server is None or server.keeps_to_schemas for server in servers):
            kinds = ", ".join(sorted({server.dialect for server in servers if server}))
            detail = f"{model}: a server of the kind '{kinds}' holds no answer to a schema; ask it without closing"
            raise _submission_error([ProblemFinding(detail=detail, pointer=f"#/models/{place}")])


def require_sources(checked: ValidatedJob, announced: Container[str]) -> None:
    """Raise SubmissionInvalidError where a chat may search in what no worker has announced."""
    missing = [(source, sample) for source, sample in checked.sources.items() if source not in announced]
    if missing:
        raise _submission_error(
            ProblemFinding(
                detail=f"no worker has the source '{source}'; GIGAVQA_SEARCH names a worker's file", sample=sample
            )
            for source, sample in missing
        )


def _sources_of(request: InferenceRequest) -> Iterator[str]:
    """Return the sources that a chat may search, but for corpora, which all workers find below the data root."""
    tools = request.loop.tools if request.loop else ()
    return (tool.source for tool in tools if isinstance(tool, SearchTool) and "/" not in tool.source)


@contextmanager
def _refused_as_findings() -> Iterator[None]:
    try:
        yield
    except EvaluationError as error:
        raise _submission_error(ProblemFinding(detail=line) for line in str(error).split("\n")) from error


def _submission_error(findings: Iterable[ProblemFinding]) -> SubmissionInvalidError:
    found = list(dict.fromkeys(findings))
    more = "" if len(found) <= MAX_FINDINGS else f"; the first {MAX_FINDINGS} are listed"
    detail = found[0].detail if len(found) == 1 else f"{len(found)} things are wrong{more}"
    return SubmissionInvalidError(f"nothing of the job was accepted: {detail}", found[:MAX_FINDINGS])
