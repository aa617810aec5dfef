"""Checks a job whole and expands it, before anything of it is accepted. Blocking, and without Redis."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from catalogue.entry import CatalogueEntry
from catalogue.load import Catalogue
from evaluation.datasets import Dataset
from evaluation.errors import EvaluationError
from evaluation.expansion import expand
from evaluation.plans import cells_of
from evaluation.ultravr.samples import Sample
from jobs.errors import JobTooLargeError
from jobs.models import JobSpec
from service.bundling import ImageRequest
from service.contexts import Contexts
from service.datasets import Datasets
from service.errors import MAX_FINDINGS, DatasetNotFoundError, Finding, SubmissionInvalidError
from service.images import Images
from tiling.errors import TilingError
from tiling.geometry import Size


@dataclass(frozen=True)
class Plan:
    """A job whose names all exist: its data set and models, and how much it asks for."""

    spec: JobSpec
    dataset: Dataset
    samples: tuple[Sample, ...]
    catalogue: Mapping[str, CatalogueEntry]
    num_requests: int


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
            expand(dataset, spec, catalogue, _no_size)
            cells = cells_of(spec)
        except EvaluationError as error:
            raise _invalid(Finding(detail=line) for line in str(error).splitlines()) from error
        chosen = frozenset(spec.samples)
        samples = tuple(sample for sample in dataset.samples if not chosen or sample.id in chosen)
        num_requests = len(samples) * len(cells) * len(set(spec.models)) * spec.repeats
        if num_requests > self._max_requests:
            raise JobTooLargeError(f"the job has {num_requests} requests; the queue holds at most {self._max_requests}")
        return Plan(spec, dataset, samples, catalogue, num_requests)

    def requests(self, plan: Plan, without: Collection[str] = ()) -> list[ImageRequest]:
        """Check every image and expand the job; `without` leaves out the requests of these ids.

        Raises SubmissionInvalidError naming samples and images.
        """
        sizes = self._sizes(plan)
        contexts = Contexts(plan.catalogue, sizes.__getitem__)
        findings: list[Finding] = []
        kept: list[ImageRequest] = []
        try:
            for image, request in expand(plan.dataset, plan.spec, plan.catalogue, sizes.__getitem__):
                if contexts.admits(request) and request.id not in without:
                    kept.append((image, request))
        except (EvaluationError, TilingError) as error:
            findings.append(Finding(detail=str(error)))
        findings += contexts.findings()
        if findings:
            raise _invalid(findings)
        return kept

    def _sizes(self, plan: Plan) -> Mapping[str, Size]:
        users = {plan.dataset.image_of(image): sample.id for sample in plan.samples for image in sample.images}
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


def _no_size(image: str) -> Size:
    raise LookupError(f"no image is looked at before the job's names are checked, yet {image} is")
