"""Contents of data sets, page by page: samples, and pictures as their headers tell."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from gigavqa.evaluation.capabilities import RecordLayout, whole_record
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.samples import Sample
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.service.errors import DatasetNotFoundError, SampleNotFoundError
from gigavqa.service.http import examples
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.image_headers import ImageHeaders, ImageInfo
from gigavqa.tiling.errors import quote_text

router = APIRouter(prefix="/v1", tags=["datasets"])
_LONGEST_ID = 200
CurrentDatasets = Annotated[Datasets, component(Datasets)]


class SampleCard(BaseModel):
    """One question, as the host knows it."""

    id: str
    images: tuple[str, ...] = Field(description="relative to the data set's folder")
    question: str
    options: dict[str, str] | None = None
    truth: str = Field(description="the true answer; empty where it is not known")
    groups: dict[str, str] = Field(description="what it belongs to, by level of the benchmark's grouping")


class SampleDetail(SampleCard):
    """One question with everything that its benchmark knows of it."""

    record: dict[str, Any] = Field(description="a record that reads as the same sample")


class SampleList(BaseModel):
    """Samples in the order of the data set; give `last_id` as `after` for the next page."""

    object: Literal["list"] = "list"
    data: list[SampleCard]
    has_more: bool
    last_id: str | None


class ImageCard(BaseModel):
    """One picture that samples are about, by its header; no pixel was looked at."""

    name: str = Field(description="relative to the data set's folder")
    width: int | None = Field(default=None, description="level-0 pixels, in the oriented frame")
    height: int | None = None
    format: str | None = Field(default=None, examples=["svs"])
    microns_per_pixel: tuple[float, float] | None = Field(
        default=None, description="width and height of a level-0 pixel on the specimen, where the file says it"
    )
    num_bytes: int | None = None
    num_samples: int = Field(description="samples that show it")
    show: str = Field(default="", description="the first display that a sample itself declares of it, if any does")
    error: str | None = Field(default=None, description="why it cannot be served")


class ImageList(BaseModel):
    """Pictures by name; give `last_id` as `after` for the next page."""

    object: Literal["list"] = "list"
    data: list[ImageCard]
    has_more: bool
    last_id: str | None


@router.get(
    "/datasets/{name}/samples",
    summary="List a data set's samples",
    responses={
        200: example(examples.SAMPLES),
        **problem_responses(DatasetNotFoundError, DatasetInvalidError, SampleNotFoundError),
    },
)
async def list_samples(
    datasets: CurrentDatasets,
    name: str,
    *,
    after: Annotated[str | None, Query(description="id of the last sample of the previous page")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    image: Annotated[str | None, Query(description="only samples that show this picture")] = None,
    group: Annotated[str | None, Query(description="only samples of this group or subgroup")] = None,
    search: Annotated[
        str | None, Query(max_length=200, description="only samples whose id or question holds this, in any case")
    ] = None,
) -> SampleList:
    """List samples in the order of the data set, without what only their benchmark knows."""
    dataset = await asyncio.to_thread(datasets.load, name)

    def matches(sample: Sample) -> bool:
        return _matches(sample, image, group, search)

    found = await asyncio.to_thread(_list_after, dataset, after, limit + 1, matches)
    page = found[:limit]
    return SampleList(
        data=[SampleCard(**_sample_fields(sample)) for sample in page],
        has_more=len(found) > limit,
        last_id=page[-1].id if page else None,
    )


@router.get(
    "/datasets/{name}/samples/{sample_id}",
    summary="Get a sample",
    responses={
        200: example(examples.SAMPLE),
        **problem_responses(DatasetNotFoundError, DatasetInvalidError, SampleNotFoundError),
    },
)
async def get_sample(datasets: CurrentDatasets, name: str, sample_id: str) -> SampleDetail:
    """Return a sample with everything that its benchmark knows of it: steps, evidence, whatever the record has."""
    dataset = await asyncio.to_thread(datasets.load, name)
    sample = await asyncio.to_thread(find_sample, dataset, sample_id)
    return SampleDetail(**_sample_fields(sample), record=whole_record(RecordLayout.of(dataset.benchmark), sample))


@router.get(
    "/datasets/{name}/images",
    summary="List a data set's pictures",
    responses={200: example(examples.IMAGES), **problem_responses(DatasetNotFoundError, DatasetInvalidError)},
)
async def list_images(
    datasets: CurrentDatasets,
    headers: Annotated[ImageHeaders, component(ImageHeaders)],
    name: str,
    *,
    after: Annotated[str | None, Query(description="name of the last picture of the previous page")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    image: Annotated[str | None, Query(description="only this picture")] = None,
) -> ImageList:
    """List the pictures that samples are about, with sizes and formats of their headers; unreadable ones say why."""
    dataset = await asyncio.to_thread(datasets.load, name)
    counts = await asyncio.to_thread(lambda: dataset.image_counts)
    counts = counts if image is None else [pair for pair in counts if pair[0] == image]
    first = 0 if after is None else bisect_right(counts, after, key=itemgetter(0))
    page = counts[first : first + limit]
    found = await asyncio.to_thread(headers.survey, [dataset.image_of(shown) for shown, _ in page], dataset.show_of)
    own = {image: shows[0] for image, shows in dataset.record_displays.items()}
    cards = [_image_card(shown, number, found[dataset.image_of(shown)], own.get(shown, "")) for shown, number in page]
    return ImageList(data=cards, has_more=len(counts) > first + limit, last_id=page[-1][0] if page else None)


def _image_card(image: str, num_samples: int, found: ImageInfo | str, show: str) -> ImageCard:
    card = ImageCard(name=image, num_samples=num_samples, show=show)
    if isinstance(found, str):
        return card.model_copy(update={"error": found})
    (width, height), microns = found.size, found.size.microns_per_pixel
    told = {"width": width, "height": height, "format": found.format, "microns_per_pixel": microns}
    return card.model_copy(update={**told, "num_bytes": found.num_bytes})


def _matches(sample: Sample, image: str | None, group: str | None, search: str | None) -> bool:
    shown = image is None or image in sample.images
    sorted_so = group is None or group in sample.groups.values()
    return shown and sorted_so and (search is None or search.lower() in f"{sample.id}\n{sample.question}".lower())


def _list_after(dataset: Dataset, after: str | None, most: int, matches: Callable[[Sample], bool]) -> Sequence[Sample]:
    if after is not None and after not in dataset.positions:
        raise SampleNotFoundError(f"the data set '{dataset.name}' has no sample '{quote_text(after)}'")
    first = 0 if after is None else dataset.positions[after] + 1
    behind = (dataset.samples[position] for position in range(first, len(dataset.samples)))
    return list(islice(filter(matches, behind), most))


def find_sample(dataset: Dataset, sample_id: str) -> Sample:
    """Return a sample of a data set by its id; raises SampleNotFoundError, which says what is close to it."""
    if sample_id not in dataset.positions:
        close = did_you_mean(sample_id[:_LONGEST_ID], dataset.positions)
        raise SampleNotFoundError(f"the data set '{dataset.name}' has no sample '{quote_text(sample_id)}'{close}")
    return dataset.samples[dataset.positions[sample_id]]


def _sample_fields(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "images": sample.images,
        "question": sample.question,
        "options": sample.options,
        "truth": sample.truth,
        "groups": dict(sample.groups),
    }
