"""Deletion of data sets: what it costs, and what stands against it."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from gigavqa.evaluation.dataset_deletion import measure_dataset
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.runtime.plurals import list_some
from gigavqa.service.errors import (
    DataRootUnwritableError,
    DatasetInUseError,
    DatasetNotFoundError,
    ForeignOriginError,
    RoleMissingError,
)
from gigavqa.service.http import examples
from gigavqa.service.http.auth import OperatorOnly
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import Registry, component
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.hidden_folders import hidden_folder, writing
from gigavqa.store.job_registry import JobRegistry

router = APIRouter(prefix="/v1/datasets", tags=["datasets"], dependencies=[OperatorOnly])
CurrentDatasets = Annotated[Datasets, component(Datasets)]
_COMMAND = "gigavqa dataset delete"
_MOST_NAMED = 5


class DatasetStakes(BaseModel):
    """What deleting a data set would cost: its files, and reports on the jobs over it."""

    name: str = Field(examples=["street"])
    files: int = Field(description="files of its folder; pictures that are linked elsewhere stay there")
    bytes: int
    ended_jobs: int = Field(description="jobs that keep their responses, but no report can be made of them any more")
    open_jobs: int = Field(description="jobs that ask it now: while there are any it is not deleted")


class DatasetDeletion(DatasetStakes):
    """The confirmation that a data set was deleted, and what that has cost."""

    object: Literal["dataset"] = "dataset"
    deleted: Literal[True] = True


@router.get(
    "/{name}/stakes",
    summary="See what deleting a data set would cost",
    responses={
        200: example(examples.DATASET_STAKES),
        **problem_responses(DatasetNotFoundError, RoleMissingError, StateStoreUnavailableError),
    },
)
async def get_dataset_stakes(datasets: CurrentDatasets, registry: Registry, name: str) -> DatasetStakes:
    """Count its files and the jobs over it, whoever submitted them: a key needs `operate`."""
    folder = await asyncio.to_thread(datasets.locate, name)
    return (await _stakes(folder, registry))[0]


@router.delete(
    "/{name}",
    summary="Delete a data set",
    responses={
        200: example(examples.DATASET_DELETION),
        **problem_responses(
            DatasetNotFoundError,
            DatasetInUseError,
            DataRootUnwritableError,
            RoleMissingError,
            ForeignOriginError,
            StateStoreUnavailableError,
        ),
    },
)
async def delete_dataset(datasets: CurrentDatasets, registry: Registry, name: str) -> DatasetDeletion:
    """Delete a data set with its pictures, unless a job over it runs. Nothing brings it back: a key needs `operate`."""
    folder = await asyncio.to_thread(datasets.locate, name)
    if folder.is_symlink():
        raise DataRootUnwritableError(f"the data set '{name}' is a link to another folder: delete both there")
    found, asking = await _stakes(folder, registry)
    if asking:
        raise DatasetInUseError(
            f"the data set '{name}' is being asked by {list_some(asking, _MOST_NAMED)}; cancel them, or wait"
        )
    with writing(_COMMAND):
        await asyncio.to_thread(_delete, folder)
    return DatasetDeletion(**found.model_dump())


async def _stakes(folder: Path, registry: JobRegistry) -> tuple[DatasetStakes, Sequence[str]]:
    """Return what is at stake, and the ids of jobs that have not ended; these are looked for last."""
    held = await asyncio.to_thread(measure_dataset, folder)
    have_ended: Mapping[str, bool] = {job.id: job.status.final async for job in registry.over(folder.name)}
    asking = [job_id for job_id, has_ended in have_ended.items() if not has_ended]
    found = DatasetStakes(
        name=folder.name,
        files=held.files,
        bytes=held.bytes,
        ended_jobs=len(have_ended) - len(asking),
        open_jobs=len(asking),
    )
    return found, asking


def _delete(folder: Path) -> None:
    """Delete a folder: from the first step on it is no data set any more, and a dead gateway leaves nothing of it."""
    with hidden_folder(folder.parent) as place:
        shutil.rmtree(folder.rename(place / folder.name))
