"""Labels that people give to a job's responses, in the files from which their benchmark's reports are made."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from gigavqa.contract.errors import JobNotFoundError, TextMissingError
from gigavqa.contract.jobs import Job
from gigavqa.contract.responses import Response
from gigavqa.evaluation.capabilities import LabelKind, ReplyLabels
from gigavqa.evaluation.errors import DatasetInvalidError, ReviewRefusedError
from gigavqa.evaluation.label_files import LabelledReply, choice_in, read_labels, write_label
from gigavqa.evaluation.reviews import ANONYMOUS
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import DataRootUnwritableError, DatasetNotFoundError, ForeignOriginError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import JobId, Registry, Results
from gigavqa.service.operations.dataset_contents import CurrentDatasets
from gigavqa.service.operations.datasets import Datasets

router = APIRouter(prefix="/v1/jobs/{job_id}/labels", tags=["results"])
_READS = (JobNotFoundError, DatasetNotFoundError, DatasetInvalidError, StateStoreUnavailableError)


class LabelKindCard(BaseModel):
    """One thing that people say of a response."""

    name: str
    title: str
    choices: dict[str, str] = Field(description="what can be said, each in words")
    together: bool = Field(description="whether all people say one thing; else each his own")


class ReplyLabel(BaseModel):
    """What is said of a response, or of all of a sample by one model where the file knows no more."""

    kind: str
    choice: str
    request: str | None = None
    sample: str | None = None
    model: str | None = None


class LabelList(BaseModel):
    """What people can say of a job's responses, and what the caller, or all together, have said."""

    object: Literal["list"] = "list"
    kinds: list[LabelKindCard]
    data: list[ReplyLabel]


class LabelWish(BaseModel):
    """What is to be said of a response."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(max_length=100)
    request: str = Field(max_length=1000, description="`request_id` of the response")
    choice: str | None = Field(default=None, max_length=100, description="null takes back what was said")


@router.get(
    "",
    summary="List the labels of a job's responses",
    responses={200: example(examples.LABELS), **problem_responses(*_READS)},
)
async def list_labels(registry: Registry, datasets: CurrentDatasets, caller: CurrentCaller, job_id: JobId) -> LabelList:
    """Return what can be said of responses; kinds are empty where the benchmark reads no labels."""
    job, annotator = await registry.get(job_id), caller.owner or ANONYMOUS

    def look() -> LabelList:
        folder, kinds = _kinds_of(datasets, job)
        said = [label for kind in kinds for label in _labels(folder, kind, job, annotator)]
        return LabelList(kinds=[_card(kind) for kind in kinds], data=said)

    return await asyncio.to_thread(look)


@router.put(
    "",
    summary="Label a response",
    responses={
        200: example(examples.LABELS),
        **problem_responses(
            *_READS, ReviewRefusedError, TextMissingError, DataRootUnwritableError, ForeignOriginError, body=True
        ),
    },
)
async def set_label(
    *,
    registry: Registry,
    results: Results,
    datasets: CurrentDatasets,
    caller: CurrentCaller,
    job_id: JobId,
    wish: LabelWish,
) -> LabelList:
    """Write a label in place of the one before, and return all. It is in its file, on the disk, when this answers."""
    job, annotator = await registry.get(job_id), caller.owner or ANONYMOUS
    found = (await results.read_of(job_id, [wish.request])).get(wish.request)
    if not isinstance(found, Response):
        raise ReviewRefusedError(f"request: the job has no response to '{wish.request}' that can be read now")
    reply = LabelledReply(job_id, wish.request, found.sample_id, found.model, annotator)

    def write() -> None:
        folder, kinds = _kinds_of(datasets, job)
        kind = next((one for one in kinds if one.name == wish.kind), None)
        if kind is None:
            known = ", ".join(one.name for one in kinds) or "none of this benchmark"
            raise ReviewRefusedError(f"kind: '{wish.kind}' is not known; there is {known}")
        try:
            write_label(folder, kind, reply, wish.choice)
        except OSError as error:
            told = f"the gateway cannot write {folder.name}/{kind.file} ({error.strerror}): let its user write there"
            raise DataRootUnwritableError(told) from error

    await asyncio.to_thread(write)
    return await list_labels(registry, datasets, caller, job_id)


def _kinds_of(datasets: Datasets, job: Job) -> tuple[Path, Sequence[LabelKind]]:
    labels = ReplyLabels.found_in(datasets.head(job.spec.dataset).benchmark)
    return datasets.locate(job.spec.dataset), labels.label_kinds if labels else ()


def _labels(folder: Path, kind: LabelKind, job: Job, annotator: str) -> Iterator[ReplyLabel]:
    """Yield what a file says of the job's responses, by this annotator where each says his own."""
    for line in read_labels(folder, kind):
        named = {held: line.get(name) for name, held in kind.place.items()}
        choice = choice_in(kind, line)
        is_own = not kind.annotator or line.get(kind.annotator) == annotator
        if choice is not None and is_own and named.pop("job", job.id) == job.id:
            yield ReplyLabel(kind=kind.name, choice=choice, **named)


def _card(kind: LabelKind) -> LabelKindCard:
    return LabelKindCard(name=kind.name, title=kind.title, choices=dict(kind.choices), together=not kind.annotator)
