"""Models: the catalogue, and who serves it now."""

import asyncio
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from catalogue.entry import CatalogueEntry, Decoding
from catalogue.errors import CatalogueError, ModelUnknownError
from jobs.errors import ServerUnavailableError
from jobs.fleet import EnginePhase
from service import examples
from service.gateway import CurrentGateway, Gateway
from service.openapi import example, problems

router = APIRouter(prefix="/v1/models", tags=["models"])
_SHOWN = frozenset({"id", "title", "family", "weights", "licence", "max_model_len", "random_weights"})


class Backlog(BaseModel):
    """Bundles of a model that wait for a worker, and that workers hold."""

    waiting: int
    leased: int


class ModelCard(BaseModel):
    """One model of the catalogue, its visual budget, and who serves it now."""

    id: str
    object: Literal["model"] = "model"
    title: str
    family: str
    weights: str
    licence: str
    max_model_len: int = Field(description="context, in tokens, prompt and answer together")
    max_visual_tokens: int = Field(description="the most visual tokens that one picture can cost")
    effective_resolution: int = Field(description="side, in pixels, of the largest square that keeps its resolution")
    random_weights: bool = Field(description="answers mean nothing")
    decoding: Decoding
    workers: int = Field(description="workers that announce themselves for this model, alone or among others")
    loaded: int = Field(description="those of them in whose engine it is now; workers of several models work in shifts")
    starting: list[EnginePhase] = Field(description="how far the engines are that start for it")
    queue: Backlog


class ModelList(BaseModel):
    """All models of the catalogue, by id."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


@router.get(
    "",
    summary="List models",
    responses={200: example(examples.MODELS), **problems(CatalogueError, ServerUnavailableError)},
)
async def list_models(gateway: CurrentGateway) -> ModelList:
    """List the catalogue with visual budgets, contexts, workers and backlogs."""
    catalogue = await asyncio.to_thread(gateway.models.catalogue)
    return ModelList(data=await _cards(gateway, [catalogue[model_id] for model_id in sorted(catalogue)]))


@router.get(
    "/{model_id}",
    summary="Get a model",
    responses={
        200: example(examples.MODEL_CARD),
        **problems(ModelUnknownError, CatalogueError, ServerUnavailableError),
    },
)
async def get_model(gateway: CurrentGateway, model_id: str) -> ModelCard:
    """Return one model of the catalogue."""
    catalogue = await asyncio.to_thread(gateway.models.catalogue)
    return (await _cards(gateway, [catalogue[model_id]]))[0]


async def _cards(gateway: Gateway, entries: list[CatalogueEntry]) -> list[ModelCard]:
    workers = await gateway.fleet.workers()
    depths = await asyncio.gather(*(gateway.queue.depth(entry.id) for entry in entries))
    return [
        ModelCard(
            **entry.model_dump(include=set(_SHOWN)),
            max_visual_tokens=entry.visual_budget.max_visual_tokens,
            effective_resolution=entry.visual_budget.effective_resolution,
            decoding=entry.decoding,
            workers=sum(entry.id in worker.models for worker in workers),
            loaded=sum(entry.id == worker.loaded for worker in workers),
            starting=[worker.phase for worker in workers if worker.phase and entry.id in worker.models],
            queue=Backlog(waiting=depth.waiting, leased=depth.leased),
        )
        for entry, depth in zip(entries, depths, strict=True)
    ]
