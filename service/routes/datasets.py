"""Data sets: what can be asked about."""

import asyncio
from collections import Counter
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from evaluation.datasets import Dataset
from evaluation.errors import DatasetInvalidError
from service.errors import DatasetNotFoundError
from service.http import examples
from service.http.openapi import example, problems
from service.http.parameters import part
from service.operations.datasets import Datasets, DatasetSummary

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])
CurrentDatasets = Annotated[Datasets, part(Datasets)]


class DatasetList(BaseModel):
    """All data sets of the data root, by name."""

    object: Literal["list"] = "list"
    data: list[DatasetSummary]


class DatasetCard(DatasetSummary):
    """A data set that was read whole."""

    digest: str = Field(description="identifies the records by content")
    num_samples: int
    num_images: int
    groups: dict[str, dict[str, int]] = Field(description="number of samples by group and subgroup of the benchmark")


@router.get("", summary="List data sets", responses={200: example(examples.DATASETS), **problems()})
async def list_datasets(datasets: CurrentDatasets) -> DatasetList:
    """List the data sets by what their dataset.toml says; records are not read."""
    return DatasetList(data=await asyncio.to_thread(datasets.summaries))


@router.get(
    "/{name}",
    summary="Get a data set",
    responses={200: example(examples.DATASET), **problems(DatasetNotFoundError, DatasetInvalidError)},
)
async def get_dataset(datasets: CurrentDatasets, name: str) -> DatasetCard:
    """Read a data set whole; bad records are named by file and line."""
    return _card(await asyncio.to_thread(datasets.load, name))


def _card(dataset: Dataset) -> DatasetCard:
    groups: dict[str, Counter[str]] = {}
    for sample in dataset.samples:
        group, subgroup = dataset.benchmark.grouping.place(sample)
        groups.setdefault(group, Counter())[subgroup] += 1
    return DatasetCard(
        name=dataset.name,
        benchmark=dataset.benchmark.name,
        title=dataset.title,
        description=dataset.description,
        digest=dataset.digest,
        num_samples=len(dataset.samples),
        num_images=len({image for sample in dataset.samples for image in sample.images}),
        groups={group: dict(counts) for group, counts in groups.items()},
    )
