"""Makes the record of what became of a request."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import ClosingAnswer, EngineInfo, Failure, RasterRecord, Response, TurnResponse
from gigavqa.contract.tool_loops import StopReason
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.rendering import Raster
from gigavqa.workers.engines.engine import ChatOverflowError

log = logging.getLogger(__name__)


@dataclass
class Outcome:
    """The outcome of one request so far: filled while it is played."""

    rasters: Sequence[Raster] = ()
    rendering_seconds: float = 0.0
    turns: Sequence[TurnResponse] = ()
    closing: ClosingAnswer | None = None
    in_rounds: Sequence[RasterRecord] = ()
    stop: StopReason | None = None
    failure: Failure | None = None


def make_failure(error: Exception, *, retryable: bool) -> Failure:
    """Name an error by its class; `retryable` says whether asking again may help."""
    return Failure(
        type=type(error).__name__,
        message=str(error) or repr(error),
        retryable=retryable,
        by_model=isinstance(error, ChatOverflowError),
    )


def make_response(lease: Lease, request: InferenceRequest, outcome: Outcome, engine: EngineInfo) -> Response:
    """Put request, outcome and provenance together."""
    return lease.respond(
        request,
        turns=tuple(outcome.turns),
        closing=outcome.closing,
        stop=outcome.stop,
        failure=outcome.failure,
        rasters=raster_records(request, outcome),
        engine=engine,
        rendering_seconds=outcome.rendering_seconds,
    )


def unrecordable_response(response: Response, error: Exception) -> Response:
    """Return what is recorded of a request whose response cannot be: a failure that says so, and is not asked again."""
    told = {"turns": (), "closing": None, "stop": None, "failure": make_failure(error, retryable=False)}
    return response.model_copy(update=told)


def raster_records(request: InferenceRequest, outcome: Outcome) -> tuple[RasterRecord, ...]:
    """Tell where the rasters of a request's views came from, those of each turn in order.

    What the engine says of its prompt goes before the plan: families may count otherwise when pictures are many.
    """
    in_turns = [number for number, turn in enumerate(request.turns) for _ in turn.views]
    turns = ([0] * (len(request.views) - len(in_turns)) + in_turns)[: len(outcome.rasters)]
    records = (*map(raster_record, turns, outcome.rasters), *outcome.in_rounds)
    planned = tuple(record.visual_tokens for record in records)
    # The prompt of a turn holds the rasters of all turns before it.
    counted = max((turn.usage.visual_tokens for turn in outcome.turns), key=len, default=())
    if len(counted) > len(planned):
        counted = ()
    if counted == planned[: len(counted)]:
        return records
    log.warning("the engine made %s visual tokens of rasters that were planned with %s", counted, planned)
    tokens = counted + planned[len(counted) :]
    return tuple(
        record.model_copy(update={"visual_tokens": number}) for record, number in zip(records, tokens, strict=True)
    )


def raster_record(turn: int, raster: Raster) -> RasterRecord:
    """Tell where a raster came from that a turn showed."""
    height, width = raster.pixels.shape[:2]
    return RasterRecord(
        view=raster.view,
        turn=turn,
        source_size=raster.source_size,
        source_format=raster.source_format,
        region=str(raster.region),
        level=raster.level,
        downsample=raster.downsample,
        raster_size=Size(width, height),
        visual_tokens=raster.visual_tokens,
        digest=raster.digest,
        key=raster.key,
        tone=raster.tone,
        ground=raster.ground,
        microns_per_pixel=raster.source_size.microns_per_pixel,
    )
