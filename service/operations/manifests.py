"""Manifests of data sets, as IIIF's viewers open them (Presentation API 3.0); the pictures come from our viewer."""

import asyncio
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.runtime.plurals import count_noun
from gigavqa.service.errors import DatasetNotFoundError, ViewerMissingError
from gigavqa.service.http import examples
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import CurrentSettings, component
from gigavqa.service.operations.dataset_contents import CurrentDatasets
from gigavqa.service.operations.image_headers import ImageHeaders, ImageInfo

router = APIRouter(prefix="/v1", tags=["datasets"])
_CONTEXT = "http://iiif.io/api/presentation/3/context.json"
_MEDIA_TYPE = f'application/ld+json;profile="{_CONTEXT}"'


class Manifest(BaseModel):
    """A manifest: a canvas for each picture, in the order of their names."""

    model_config = ConfigDict(populate_by_name=True)

    context: str = Field(alias="@context")
    id: str
    type: str
    label: dict[str, list[str]]
    summary: dict[str, list[str]]
    items: list[dict[str, Any]]


@router.get(
    "/datasets/{name}/manifest",
    summary="Get a data set's IIIF manifest",
    response_model=None,
    responses={
        200: {"model": Manifest, **example(examples.MANIFEST)},
        **problem_responses(DatasetNotFoundError, DatasetInvalidError, ViewerMissingError),
    },
)
async def get_manifest(
    *,
    request: Request,
    settings: CurrentSettings,
    datasets: CurrentDatasets,
    headers: Annotated[ImageHeaders, component(ImageHeaders)],
    name: str,
    after: Annotated[str | None, Query(description="name of the last picture of the manifest before")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="most pictures")] = 1000,
) -> JSONResponse:
    """Return the data set's pictures as Mirador and Universal Viewer open them, drawn by this installation's viewer."""
    if settings.viewer_url is None:
        raise ViewerMissingError("no viewer is known here that could draw the pictures; set GIGAVQA_VIEWER_URL")
    dataset = await asyncio.to_thread(datasets.load, name)
    counts = await asyncio.to_thread(lambda: dataset.image_counts)
    first = 0 if after is None else bisect_right(counts, after, key=itemgetter(0))
    page = [image for image, _ in counts[first : first + limit]]
    found = await asyncio.to_thread(headers.survey, [dataset.image_of(image) for image in page], dataset.show_of)
    address, viewer = str(request.url), str(settings.viewer_url).rstrip("/")
    content = _manifest(dataset, page, found, address, viewer)
    content["summary"] = {"en": [_summary(len(content["items"]), len(page), len(counts))]}
    return JSONResponse(content, media_type=_MEDIA_TYPE)


def _manifest(
    dataset: Dataset, images: Sequence[str], found: Mapping[str, ImageInfo | str], address: str, viewer: str
) -> dict[str, Any]:
    canvases = [
        _canvas(image, info, address, f"{viewer}/iiif/3/{quote(dataset.image_of(image), safe='')}")
        for image in images
        if not isinstance(info := found[dataset.image_of(image)], str)
    ]
    label = {"none": [dataset.title or dataset.name]}
    return {"@context": _CONTEXT, "id": address, "type": "Manifest", "label": label, "items": canvases}


def _canvas(image: str, info: ImageInfo, manifest: str, service: str) -> dict[str, Any]:
    address, size = f"{manifest.partition('?')[0]}/{quote(image, safe='')}", info.size._asdict()
    body = {
        "id": f"{service}/full/max/0/default.jpg",
        "type": "Image",
        "format": "image/jpeg",
        **size,
        "service": [{"id": service, "type": "ImageService3", "profile": "level2"}],
    }
    painting = {
        "id": f"{address}/image",
        "type": "Annotation",
        "motivation": "painting",
        "target": address,
        "body": body,
    }
    page = {"id": f"{address}/page", "type": "AnnotationPage", "items": [painting]}
    return {"id": address, "type": "Canvas", "label": {"none": [image]}, **size, "items": [page]}


def _summary(shown: int, asked: int, there_are: int) -> str:
    unreadable = f"; {count_noun(asked - shown, 'other')} cannot be read" if asked > shown else ""
    return f"{count_noun(shown, 'picture')} of {there_are}{unreadable}"
