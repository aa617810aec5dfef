"""Lists of what there is: the models of the catalogue, the workers that serve them, and the data sets of the data
root.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import BaseModel, Field, RootModel
from starlette.responses import RedirectResponse

from gigavqa.catalogue.entry import HUB_ID, CatalogueEntry, Decoding
from gigavqa.catalogue.errors import CatalogueError, ModelUnknownError
from gigavqa.catalogue.gpus import GpuRequirement
from gigavqa.catalogue.load import Catalogue, load_catalogue
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.installed import models_of_papers
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import DatasetNotFoundError
from gigavqa.service.http import examples
from gigavqa.service.http.freshness import StampedCache, file_stamp
from gigavqa.service.http.openapi import example, openai_error_responses, problem_responses
from gigavqa.service.http.parameters import Queue, Workers, component
from gigavqa.service.operations.datasets import SHOWN_PICTURES, Datasets, DatasetSummary
from gigavqa.store.queue import QueueDepth
from gigavqa.store.worker_registry import EnginePhase, WorkerStatus

router = APIRouter(prefix="/v1")
_SHOWN = frozenset(
    {
        "id",
        "title",
        "aliases",
        "family",
        "weights",
        "licence",
        "max_model_len",
        "random_weights",
        "billions",
        "gpus",
    }
)


class ModelInventory:
    """The models that can be asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = StampedCache[Catalogue](1)

    def catalogue(self) -> Catalogue:
        """Return the shipped entries and those of the folder as they are now.

        Raises EntryInvalidError naming the file.
        """
        paths = sorted(self._folder.glob("*.toml"))
        return self._kept.get("catalogue", file_stamp(*paths), lambda: load_catalogue(self._folder))


CurrentModels = Annotated[ModelInventory, component(ModelInventory)]
"""What a route declares to get the catalogue."""


class Backlog(BaseModel):
    """Bundles of a model that wait for a worker, and that workers hold."""

    waiting: int
    leased: int


class ModelCard(BaseModel):
    """One model of the catalogue, its visual budget, and who serves it now."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(default=0, description="when the first of its workers started, in Unix time; 0 without one")
    owned_by: str = Field(default="gigavqa", description="whose repository the weights are; else `gigavqa`")
    title: str
    aliases: tuple[str, ...] = Field(default=(), description="other names that chats may ask for it by")
    family: str
    weights: str
    licence: str
    max_model_len: int = Field(description="context, in tokens, prompt and answer together")
    max_visual_tokens: int = Field(description="the most visual tokens that one picture can cost")
    effective_resolution: int = Field(description="side, in pixels, of the largest square that keeps its resolution")
    random_weights: bool = Field(description="answers mean nothing")
    billions: float | None = Field(default=None, description="parameters of all its parts, in billions")
    gpus: GpuRequirement | None = Field(default=None, description="GPUs that hold it with its context")
    papers: tuple[str, ...] = Field(default=(), description="benchmarks whose papers ask it")
    decoding: Decoding
    workers: int = Field(description="workers that announce themselves for this model, alone or among others")
    loaded: int = Field(description="those whose engine holds it now; workers of several models take time slices")
    starting: list[EnginePhase] = Field(description="how far the engines are that start for it")
    queue: Backlog


class ModelList(BaseModel):
    """All models of the catalogue: those that workers serve first, then by id."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


@router.get(
    "/models",
    tags=["models"],
    summary="List models",
    responses={200: example(examples.MODELS), **openai_error_responses(CatalogueError, StateStoreUnavailableError)},
)
async def list_models(models: CurrentModels, queue: Queue, worker_registry: Workers) -> ModelList:
    """List the catalogue, served models first, with visual budgets, contexts, workers and backlogs."""
    catalogue = await asyncio.to_thread(models.catalogue)
    await asyncio.to_thread(models_of_papers)  # read once, from every benchmark
    workers, ids = await worker_registry.workers(), sorted(catalogue)
    depths = await asyncio.gather(*map(queue.depth, ids))
    cards = [_model_card(catalogue[id_], workers, depth) for id_, depth in zip(ids, depths, strict=True)]
    return ModelList(data=sorted(cards, key=lambda card: not card.workers))


@router.get("/models/", include_in_schema=False)
async def redirect_to_models() -> RedirectResponse:
    """Lead clients whose addresses end in a slash to the list; the next route would take it for a model's name."""
    return RedirectResponse("../models", HTTPStatus.TEMPORARY_REDIRECT)


@router.get(
    "/models/{model_id:path}",
    tags=["models"],
    summary="Get a model",
    responses={
        200: example(examples.MODEL_CARD),
        **openai_error_responses(ModelUnknownError, CatalogueError, StateStoreUnavailableError),
    },
)
async def get_model(models: CurrentModels, queue: Queue, worker_registry: Workers, model_id: str) -> ModelCard:
    """Return one model of the catalogue."""
    entry = (await asyncio.to_thread(models.catalogue)).find(model_id)
    await asyncio.to_thread(models_of_papers)
    return _model_card(entry, await worker_registry.workers(), await queue.depth(entry.id))


class WorkerList(BaseModel):
    """All workers that announce themselves, by name."""

    object: Literal["list"] = "list"
    data: list[WorkerStatus]


@router.get(
    "/workers",
    tags=["models"],
    summary="List workers",
    responses={200: example(examples.WORKERS), **problem_responses(StateStoreUnavailableError)},
)
async def list_workers(worker_registry: Workers) -> WorkerList:
    """List the workers with models, state, the phase of an engine that starts, and the requests that they hold."""
    return WorkerList(data=await worker_registry.workers())


class ScrapeTarget(BaseModel):
    """Workers that Prometheus is to scrape, as its HTTP service discovery reads them."""

    targets: list[str] = Field(description="addresses, each `host:port`")
    labels: dict[str, str] = Field(description="what every series of theirs is labelled with")


class ScrapeTargetList(RootModel[list[ScrapeTarget]]):
    """All workers that show metrics."""


@router.get(
    "/workers/targets",
    tags=["operations"],
    summary="List workers for Prometheus",
    responses={200: example(examples.TARGETS), **problem_responses(StateStoreUnavailableError)},
)
async def list_targets(worker_registry: Workers) -> ScrapeTargetList:
    """List the workers that show metrics, for Prometheus' HTTP service discovery."""
    return ScrapeTargetList([_target(worker) for worker in await worker_registry.workers() if worker.metrics_url])


def _target(worker: WorkerStatus) -> ScrapeTarget:
    url = urlsplit(worker.metrics_url or "")
    labels = {"worker": worker.worker, "device": worker.device, "models": ",".join(worker.models)}
    return ScrapeTarget(targets=[url.netloc], labels={**labels, "__scheme__": url.scheme, "__metrics_path__": url.path})


def _model_card(entry: CatalogueEntry, workers: Sequence[WorkerStatus], depth: QueueDepth) -> ModelCard:
    since = [worker.since.timestamp() for worker in workers if entry.id in worker.models]
    return ModelCard(
        created=int(min(since, default=0)),
        owned_by=entry.weights.partition("/")[0] if HUB_ID.fullmatch(entry.weights) else "gigavqa",
        **entry.model_dump(include=set(_SHOWN)),
        papers=tuple(paper for paper, models in models_of_papers().items() if entry.id in models),
        max_visual_tokens=entry.visual_budget.max_visual_tokens,
        effective_resolution=entry.visual_budget.effective_resolution,
        decoding=entry.decoding,
        workers=sum(entry.id in worker.models for worker in workers),
        loaded=sum(entry.id == worker.loaded for worker in workers),
        starting=[worker.phase for worker in workers if worker.phase and entry.id in worker.models],
        queue=Backlog(waiting=depth.waiting, leased=depth.leased),
    )


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


@router.get(
    "/datasets",
    tags=["datasets"],
    summary="List data sets",
    responses={200: example(examples.DATASETS), **problem_responses()},
)
async def list_datasets(datasets: Annotated[Datasets, component(Datasets)]) -> DatasetList:
    """List the data sets by what their dataset.toml says; records are not read."""
    return DatasetList(data=await asyncio.to_thread(datasets.summaries))


@router.get(
    "/datasets/{name}",
    tags=["datasets"],
    summary="Get a data set",
    responses={200: example(examples.DATASET), **problem_responses(DatasetNotFoundError, DatasetInvalidError)},
)
async def get_dataset(datasets: Annotated[Datasets, component(Datasets)], name: str) -> DatasetCard:
    """Read a data set whole; bad records are named by file and line."""
    return await asyncio.to_thread(lambda: _dataset_card(datasets.load(name)))


def _dataset_card(dataset: Dataset) -> DatasetCard:
    images = [image for image, _ in dataset.image_counts]
    groups: dict[str, Counter[str]] = {}
    for sample in dataset.samples:
        group, subgroup = dataset.benchmark.grouping.place(sample)
        groups.setdefault(group, Counter())[subgroup] += 1
    return DatasetCard(
        name=dataset.name,
        benchmark=dataset.benchmark.name,
        title=dataset.title,
        description=dataset.description,
        pictures=tuple(images[:SHOWN_PICTURES]),
        digest=dataset.digest,
        num_samples=len(dataset.samples),
        num_images=len(images),
        groups={group: dict(counts) for group, counts in groups.items()},
    )
