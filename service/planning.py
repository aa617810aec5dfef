"""Checks a job whole, before anything of it is accepted, and then expands it as a stream. Blocking, without Redis."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalogue.entry import CatalogueEntry
from catalogue.load import Catalogue
from evaluation.datasets import Dataset
from evaluation.errors import EvaluationError
from evaluation.expansion import Expansion, prepare
from jobs.errors import JobTooLargeError
from jobs.models import JobSpec
from service.bundling import ImageRequest
from service.contexts import Contexts
from service.datasets import Datasets
from service.errors import MAX_FINDINGS, DatasetNotFoundError, Finding, SubmissionInvalidError
from service.images import Images
from tiling.errors import TilingError
from tiling.geometry import Size

_MOST_KEPT = 2000  # requests of a job, some 10 MB; those of a larger one are checked as a stream, and made again


@dataclass(frozen=True)
class Plan:
    """A job whose names all exist, and how much it asks for."""

    expansion: Expansion
    catalogue: Mapping[str, CatalogueEntry]

    @property
    def dataset(self) -> Dataset:
        """The data set that it asks about."""
        return self.expansion.dataset

    @property
    def num_requests(self) -> int:
        """How many requests the job has."""
        return self.expansion.num_requests


@dataclass(frozen=True)
class CheckedPlan:
    """A plan whose images were all looked at, and whose requests fit their models."""

    plan: Plan
    sizes: Mapping[str, Size]
    kept: Sequence[ImageRequest] = ()
    """All requests, where they are few enough to be kept since they were checked."""

    def requests(self, without: Container[str] = ()) -> Iterator[ImageRequest]:
        """Yield the requests one after the other, the same every time; `without` leaves out those of these ids."""
        for image, request in self.kept or self.plan.expansion.requests(self.sizes.__getitem__):
            if request.id not in without:
                yield image, request


class Planner:
    """Turns what a client asks for into requests, or into an error that names everything that is wrong."""

    def __init__(
        self, datasets: Datasets, images: Images, catalogue: Callable[[], Catalogue], max_requests: int
    ) -> None:
        self._datasets = datasets
        self._images = images
        self._catalogue = catalogue
        self._max_requests = max_requests

    def plan(self, spec: JobSpec) -> Plan:
        """Check everything but images: data set and its samples, models, plan, sampling, evidence.

        Raises SubmissionInvalidError, DatasetInvalidError (bad samples by file and line) and JobTooLargeError.
        """
        catalogue = self._catalogue()
        _require_models(spec, catalogue)
        try:
            dataset = self._datasets.load(spec.dataset)
        except DatasetNotFoundError as error:
            raise SubmissionInvalidError(str(error), [Finding(detail=str(error), pointer="#/dataset")]) from error
        try:
            expansion = prepare(dataset, spec, catalogue)
        except EvaluationError as error:
            raise _invalid(Finding(detail=line) for line in str(error).splitlines()) from error
        num_requests = expansion.num_requests
        if num_requests > self._max_requests:
            raise JobTooLargeError(f"the job has {num_requests} requests; the queue holds at most {self._max_requests}")
        return Plan(expansion, catalogue)

    def check(self, plan: Plan) -> CheckedPlan:
        """Look at every image and every chat. Raises SubmissionInvalidError naming samples and images."""
        sizes, repeats = self._sizes(plan.expansion), plan.expansion.spec.repeats
        contexts = Contexts(plan.catalogue, sizes.__getitem__, repeats)
        keeps = repeats == 1 and plan.num_requests <= _MOST_KEPT
        kept: list[ImageRequest] = []
        findings: list[Finding] = []
        try:
            for image, request in plan.expansion.requests(sizes.__getitem__, repeats=1):
                contexts.admits(request)
                if keeps:
                    kept.append((image, request))
        except (EvaluationError, TilingError) as error:
            findings.append(Finding(detail=str(error)))
        findings += contexts.findings()
        if findings:
            raise _invalid(findings)
        return CheckedPlan(plan, sizes, kept)

    def _sizes(self, expansion: Expansion) -> Mapping[str, Size]:
        image_of = expansion.dataset.image_of
        users = {image_of(image): sample.id for sample in expansion.samples for image in sample.images}
        survey = self._images.survey(users)
        if survey.errors:
            wrong = survey.errors.items()
            raise _invalid(Finding(detail=detail, image=name, sample=users[name]) for name, detail in wrong)
        return survey.sizes


def _require_models(spec: JobSpec, catalogue: Catalogue) -> None:
    unknown = [(place, model) for place, model in enumerate(spec.models) if model not in catalogue]
    if unknown:
        raise _invalid(Finding(detail=catalogue.lacks(model), pointer=f"#/models/{place}") for place, model in unknown)


def _invalid(findings: Iterable[Finding]) -> SubmissionInvalidError:
    found = list(dict.fromkeys(findings))
    more = "" if len(found) <= MAX_FINDINGS else f"; the first {MAX_FINDINGS} are listed"
    detail = found[0].detail if len(found) == 1 else f"{len(found)} things are wrong{more}"
    return SubmissionInvalidError(f"nothing of the job was accepted: {detail}", found[:MAX_FINDINGS])
