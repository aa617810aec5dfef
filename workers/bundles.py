"""Plays the requests of one leased bundle, and records each response the moment it is complete."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from gigavqa.contract.errors import ResponseUnrecordableError
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import GenerationConstraints, InferenceRequest, RequestLabels, Sampling
from gigavqa.contract.responses import ClosingAnswer, Response, TurnResponse
from gigavqa.retrieval.errors import RetrievalError, SourceChangedError
from gigavqa.runtime.logs import log_context
from gigavqa.store.chats import CHAT_ID_PREFIX
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.streaming import TokenPublisher
from gigavqa.tiling.errors import ImageChangedError, ImageUnavailableError, TilingError
from gigavqa.tiling.rendering import Raster
from gigavqa.workers.chat import ChatPlayer
from gigavqa.workers.closing_turn import ClosingTurn, can_close
from gigavqa.workers.engines.engine import EngineDeadError, EngineError, Message, forced_answer, with_cache_salt
from gigavqa.workers.engines.supervisor import EngineSupervisor
from gigavqa.workers.errors import EngineLostError
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.lanes import EnginePriorities, LaneSemaphore
from gigavqa.workers.preparation import RasterPreparation
from gigavqa.workers.responses import Outcome, make_failure, make_response, unrecordable_response
from gigavqa.workers.script import FixedTurns
from gigavqa.workers.stage_timer import RequestStage as StageName
from gigavqa.workers.store_outage import retry_until_up
from gigavqa.workers.tool_loop import ToolLoopPlayer
from gigavqa.workers.tools.toolbox import Toolbox
from gigavqa.workers.traces import StageMark, Traces

log = logging.getLogger(__name__)

PlayRequest = Callable[[InferenceRequest], Coroutine[None, None, None]]


class BundlePlayer:
    """Turns leased bundles into recorded responses. `max_requests` bounds the chats that are played at once.

    `in_history` makes of a raw answer what later turns of its chat repeat of it, and `unthinking` are arguments of the
    chat template by which an answer begins without a thought. Pictures of rounds come from `rounds`, so that no chat
    waits for room while it holds some of it.
    """

    def __init__(
        self,
        *,
        queue: JobQueue,
        results: ResultStore,
        keeper: EngineSupervisor,
        teller: TokenPublisher,
        preparation: RasterPreparation,
        rounds: RasterPreparation,
        toolbox: Toolbox,
        instruments: Instrumentation,
        traces: Traces | None,
        max_requests: int,
        in_history: Callable[[str], str],
        unthinking: Mapping[str, JsonValue],
    ) -> None:
        self._queue = queue
        self._results = results
        self._keeper = keeper
        self._teller = teller
        self._preparation = preparation
        self._rounds = rounds
        self._toolbox = toolbox
        self._instruments = instruments
        self._traces = traces
        self._in_history = in_history
        self._unthinking = unthinking
        self._precedence = EnginePriorities()
        self._slots = LaneSemaphore(max_requests)
        self.running = 0
        """Requests that are being played now."""

    async def play(self, lease: Lease, on_recorded: Callable[[int], None]) -> None:
        """Play what is not recorded yet of a bundle: all at once, or one by one when it is on probation.

        Tells `on_recorded` of how many further requests there is a response. Cancelling it aborts what the engine is
        generating for it. Raises EngineDeadError and EngineLostError when the engine did not live through it.
        """
        with self._precedence.of(lease.bundle) as priority:
            await self._play(lease, priority, on_recorded)

    async def _play(self, lease: Lease, priority: int, on_recorded: Callable[[int], None]) -> None:
        requests = lease.bundle.requests
        recorded = await retry_until_up(
            lambda: self._results.recorded(lease.job_id, [request.id for request in requests])
        )
        left = [request for request in requests if request.id not in recorded]
        on_recorded(len(recorded))

        async def play_request(request: InferenceRequest) -> None:
            ids = {"job_id": lease.job_id, "bundle_id": lease.bundle.id}
            with log_context(**ids, request_id=request.id, sample_id=request.sample_id):
                marks: list[StageMark] = []
                response = await self._play_request(lease, request, priority, marks)
                await _finish_despite_cancellation(self._record(lease, response, marks, on_recorded))

        if lease.probation:
            await self._play_one_by_one(lease, left, play_request)
        else:
            await _play_concurrently(left, play_request)

    async def _play_one_by_one(self, lease: Lease, requests: Sequence[InferenceRequest], play: PlayRequest) -> None:
        for request in requests:
            if not await retry_until_up(partial(self._queue.begin_probation, lease, request.id)):
                return  # lost: another worker goes on
            await play(request)

    async def _play_request(
        self, lease: Lease, request: InferenceRequest, priority: int, marks: list[StageMark]
    ) -> Response:
        outcome = Outcome()
        try:
            await self._play_chat(lease, request, priority, outcome, marks)
        except TilingError as error:
            may_mend = isinstance(error, ImageChangedError | ImageUnavailableError)
            outcome.failure = make_failure(error, retryable=may_mend)
        except EngineError as error:
            outcome.failure = make_failure(error, retryable=error.is_retryable)
        except EngineDeadError as error:
            if not lease.probation:
                raise
            # Alone with the engine, again and again: this request is what kills it, or the machine does.
            outcome.failure = make_failure(error, retryable=True)
        except RetrievalError as error:
            outcome.failure = make_failure(error, retryable=not isinstance(error, SourceChangedError))
        except EngineLostError:
            raise
        except Exception as error:
            log.exception("%s: unexpected error", _name(lease, request))
            self._instruments.unexpected.inc()
            outcome.failure = make_failure(error, retryable=True)
        return make_response(lease, request, outcome, self._keeper.info)

    async def _record(
        self, lease: Lease, response: Response, marks: Sequence[StageMark], on_recorded: Callable[[int], None]
    ) -> None:
        ended_ns = time.time_ns()
        try:
            new = await retry_until_up(lambda: self._results.record(response, lease))
        except ResponseUnrecordableError as error:
            log.error("%s: not recorded as it is: %s", _name(lease, response), error)
            self._instruments.unexpected.inc()
            response = unrecordable_response(response, error)
            new = await retry_until_up(partial(self._results.record, response, lease))
        self._instruments.count(response, new=new)
        if lease.job_id.startswith(CHAT_ID_PREFIX):  # of jobs there are too many
            log.info("%s: %s", _name(lease, response), response.failure.type if response.failure else "answered")
        if self._traces:
            self._traces.tell(response, marks, ended_ns)
        on_recorded(1)

    async def _play_chat(
        self, lease: Lease, request: InferenceRequest, priority: int, outcome: Outcome, marks: list[StageMark]
    ) -> None:
        urgent = lease.bundle.priority == "interactive" and len(lease.bundle.requests) == 1
        with self._instruments.stages.request() as move:

            def enter(stage: StageName) -> None:
                marks.append(StageMark(stage, time.time_ns()))
                move(stage)

            enter("pixels")
            async with self._preparation.rasters(request.views, urgent=urgent) as prepared:
                outcome.rasters, outcome.rendering_seconds = prepared.rasters, prepared.seconds
                player = self._player(lease, request, priority, prepared.rasters)
                shown = {raster.key: raster.visual_tokens for raster in prepared.rasters}
                enter("place")
                async with self._slots.of(lease.bundle.priority), self._keeper.place(shown):
                    enter("engine")
                    self.running += 1
                    try:
                        await player.play()
                        outcome.closing = await self._close(request, player)
                    finally:
                        self.running -= 1
                        outcome.turns = player.answers
                        if isinstance(player, ToolLoopPlayer):
                            outcome.in_rounds, outcome.stop = player.rasters, player.stop

    async def _close(self, request: InferenceRequest, player: ChatPlayer | ToolLoopPlayer) -> ClosingAnswer | None:
        """Ask the closing turn, where there is one to ask; whatever comes of it, the answers of the chat stay."""
        stop = player.stop if isinstance(player, ToolLoopPlayer) else None
        if request.closing is None or not can_close(player.answers, stop):
            return None
        engine = self._keeper.info
        turn = ClosingTurn(request.closing, self._unthinking if engine.chat_template else {}, bool(engine.remote))
        try:
            return turn.told(await player.ask_behind(request.closing.text, turn.sampling(request.sampling)))
        except EngineError as error:
            return turn.refused(error, partial(make_failure, retryable=False))

    def _without_thought(self, sampling: Sampling) -> Sampling:
        """Return the sampling of a given answer: no thought may come before it, where the engine takes that."""
        unthinking = self._unthinking if self._keeper.info.chat_template else {}
        if not unthinking:
            return sampling
        steering = sampling.steering or GenerationConstraints()
        template = {**unthinking, **steering.template}
        return sampling.model_copy(update={"steering": steering.model_copy(update={"template": template})})

    def _player(
        self, lease: Lease, request: InferenceRequest, priority: int, rasters: Sequence[Raster]
    ) -> ChatPlayer | ToolLoopPlayer:
        grow = self._teller.grow(request.listener, lease.job_id, request.id) if request.listener else None

        def generate(
            chat: Sequence[Message], sampling: Sampling, turn_id: str, *, first: bool
        ) -> Awaitable[TurnResponse]:
            # Rounds behind the first, and closing turns, go before all chats of their picture that are to begin.
            name = f"{lease.job_id}/{turn_id}"
            asked = with_cache_salt(chat, lease.bundle.cache_salt)
            if forced_answer(chat) is not None:
                sampling = self._without_thought(sampling)
            return self._keeper.generate(asked, sampling, name, 2 * priority + first, grow)

        script, behind = FixedTurns(request.turns), partial(generate, first=False)
        player = ChatPlayer(
            request, script, rasters, partial(generate, first=True), self._in_history, generate_behind=behind
        )
        if request.loop is None:
            return player
        return ToolLoopPlayer(
            request,
            request.loop,
            player,
            rasters,
            job_id=lease.job_id,
            toolbox=self._toolbox,
            hold=partial(self._rounds.rasters, urgent=True),  # a place waits for it
            generate=behind,
            anew=self._toolbox.budget.counts_images,
        )


async def _finish_despite_cancellation(work: Coroutine[None, None, None]) -> None:
    """Do `work` also when this task is cancelled meanwhile, which shows only then: what was generated is kept."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _play_concurrently(requests: Sequence[InferenceRequest], play: PlayRequest) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for request in requests:
                group.create_task(play(request))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors


def _name(lease: Lease, labels: RequestLabels) -> str:
    """Return what a line of the log is about; a chat's job is its id, which the gateway's line has, too."""
    return f"job {lease.job_id}, request {labels.request_id}, sample {labels.sample_id}"
