"""Batches: many chats in a file, played behind everything that somebody waits for."""

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from gigavqa.contract.errors import QueueFullError, QuotaExceededError
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import (
    BatchEndedError,
    BatchInvalidError,
    BatchMissingError,
    FileMissingError,
    ForeignOriginError,
    ProblemFinding,
)
from gigavqa.service.http.auth import Caller, CurrentCaller
from gigavqa.service.http.openapi import example, openai_error_responses
from gigavqa.service.http.parameters import CurrentSettings, component
from gigavqa.service.openai import examples
from gigavqa.service.openai.batch_input import ENDPOINT
from gigavqa.service.openai.batch_runner import BatchRunner
from gigavqa.service.openai.file_store import Files
from gigavqa.service.openai.lists import ListItem, ObjectList
from gigavqa.store.api_keys import NO_OWNER
from gigavqa.store.batches import BatchFault, BatchRegistry, BatchStatus, BatchUsage, StoredBatch, new_batch_id

router = APIRouter(prefix="/v1/batches", tags=["openai"])
_WINDOW_SECONDS = 24 * 3600
_TIMES = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")

CurrentBatchRegistry = Annotated[BatchRegistry, component(BatchRegistry)]
CurrentBatchRunner = Annotated[BatchRunner, component(BatchRunner)]


class ExpiresAfter(BaseModel):
    """The time at which the files of a batch expire."""

    anchor: Literal["created_at"] = "created_at"
    seconds: int = Field(ge=3600, le=2_592_000)


class BatchRequest(BaseModel):
    """A batch to be played."""

    model_config = ConfigDict(extra="forbid")

    input_file_id: str = Field(max_length=200)
    endpoint: str = Field(examples=[ENDPOINT], json_schema_extra={"enum": [ENDPOINT]})
    completion_window: Literal["24h"] = "24h"
    metadata: dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]] | None = Field(
        default=None, max_length=16
    )
    output_expires_after: ExpiresAfter | None = None


class BatchErrors(BaseModel):
    """Why a batch failed as a whole."""

    object: Literal["list"] = "list"
    data: list[BatchFault]


class BatchRequestCounts(BaseModel):
    """Lines by what became of them."""

    total: int
    completed: int
    failed: int


class BatchObject(ListItem):
    """A batch, as OpenAI tells it."""

    object: Literal["batch"] = "batch"
    endpoint: str
    model: str | None = None
    errors: BatchErrors | None = None
    input_file_id: str
    completion_window: str
    status: BatchStatus
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int
    in_progress_at: int | None = None
    expires_at: int
    finalizing_at: int | None = None
    completed_at: int | None = None
    failed_at: int | None = None
    expired_at: int | None = None
    cancelling_at: int | None = None
    cancelled_at: int | None = None
    request_counts: BatchRequestCounts
    usage: BatchUsage | None = None
    metadata: dict[str, str] | None = None


class BatchList(ObjectList[BatchObject]):
    """Batches, some at a time."""


@router.post(
    "",
    summary="Start a batch",
    responses={
        200: example(examples.BATCH),
        **openai_error_responses(
            BatchInvalidError,
            FileMissingError,
            ForeignOriginError,
            QueueFullError,
            QuotaExceededError,
            StateStoreUnavailableError,
            body=True,
        ),
    },
)
async def create_batch(
    *,
    registry: CurrentBatchRegistry,
    works: CurrentBatchRunner,
    files: Files,
    settings: CurrentSettings,
    caller: CurrentCaller,
    asked: BatchRequest,
) -> BatchObject:
    """Play the chats of an uploaded file; it is read in the background, and its errors stand in the batch."""
    if asked.endpoint != ENDPOINT:
        detail = f"batches are of {ENDPOINT}, not of '{asked.endpoint[:100]}'"
        raise BatchInvalidError(detail, [ProblemFinding(detail=detail, pointer="#/endpoint")])
    file = await files.get(asked.input_file_id, caller.sees)
    if file.purpose != "batch":
        detail = f"file {file.id} was uploaded for {file.purpose}, not for a batch"
        raise BatchInvalidError(detail, [ProblemFinding(detail=detail, pointer="#/input_file_id")])
    # An operator may start another's batch, which is then bounded by nothing but the gateway.
    owner = caller.as_owner if caller.owner == file.owner else NO_OWNER
    now = int(time.time())
    batch = StoredBatch(
        id=new_batch_id(),
        endpoint=asked.endpoint,
        input_file_id=file.id,
        completion_window=asked.completion_window,
        created_at=now,
        expires_at=now + _WINDOW_SECONDS,
        metadata=asked.metadata,
        output_expires_after=asked.output_expires_after.seconds if asked.output_expires_after else None,
        owner=file.owner,
        queued_limit=owner.queued_requests,
    )
    await registry.add(batch, limit=settings.waiting_jobs, owners_limit=owner.waiting_jobs)
    works.wake()
    return await _batch_object(batch, works)


@router.get(
    "",
    summary="List batches",
    responses={
        200: example(examples.BATCHES),
        **openai_error_responses(StateStoreUnavailableError),
    },
)
async def list_batches(
    registry: CurrentBatchRegistry,
    works: CurrentBatchRunner,
    caller: CurrentCaller,
    after: Annotated[str | None, Query(description="id of the last batch that is known")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> BatchList:
    """List the batches, newest first."""
    found, more = await registry.list(caller.sees, after=after, limit=limit)
    data = [await _batch_object(batch, works) for batch in found]
    return BatchList.of(data, more=more)


@router.get(
    "/{batch_id}",
    summary="Get a batch",
    responses={
        200: example(examples.BATCH),
        **openai_error_responses(BatchMissingError, StateStoreUnavailableError),
    },
)
async def get_batch(
    registry: CurrentBatchRegistry, works: CurrentBatchRunner, caller: CurrentCaller, batch_id: str
) -> BatchObject:
    """Return one batch."""
    return await _batch_object(await _get_batch(registry, caller, batch_id), works)


@router.post(
    "/{batch_id}/cancel",
    summary="Cancel a batch",
    responses={
        200: example(examples.BATCH),
        **openai_error_responses(BatchMissingError, BatchEndedError, ForeignOriginError, StateStoreUnavailableError),
    },
)
async def cancel_batch(
    registry: CurrentBatchRegistry, works: CurrentBatchRunner, caller: CurrentCaller, batch_id: str
) -> BatchObject:
    """Play no more of a batch; what was answered by then is in its files."""
    batch = await _get_batch(registry, caller, batch_id)
    if batch.final:
        raise BatchEndedError(f"batch {batch.id} is {batch.status}")
    await registry.cancel(batch.id)
    works.wake()
    return await _batch_object(await _get_batch(registry, caller, batch_id), works)


async def _get_batch(registry: BatchRegistry, caller: Caller, batch_id: str) -> StoredBatch:
    batch = await registry.get(batch_id, caller.sees)
    if batch is None:
        raise BatchMissingError(f"there is no batch {batch_id[:100]}")
    return batch


async def _batch_object(batch: StoredBatch, works: BatchRunner) -> BatchObject:
    is_cancelling = "cancelling" in batch.times and not batch.final
    times: dict[str, Any] = {f"{name}_at": batch.times.get(name) for name in _TIMES}
    shared = batch.model_dump(
        include={
            *("id", "endpoint", "model", "input_file_id", "completion_window", "output_file_id", "error_file_id"),
            *("created_at", "expires_at", "usage", "metadata"),
        }
    )
    return BatchObject(
        **shared,
        **times,
        status="cancelling" if is_cancelling else batch.status,
        errors=BatchErrors(data=list(batch.errors)) if batch.errors else None,
        request_counts=BatchRequestCounts.model_validate((await works.progress(batch)).model_dump()),
    )
