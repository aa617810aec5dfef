"""Plays the rounds of a chat: what an answer asks for is told to the model, until one asks for nothing."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from gigavqa.catalogue.entry import MAX_PROMPT_IMAGES
from gigavqa.contract.requests import InferenceRequest, PriorMessage, Sampling
from gigavqa.contract.responses import RasterRecord, TurnResponse
from gigavqa.contract.tool_loops import CallStatus, StopReason, ToolCall, ToolLoop
from gigavqa.tiling.errors import ImageChangedError
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer, Generate, engine_message
from gigavqa.workers.engines.engine import ContextExceededError, PromptRaster
from gigavqa.workers.preparation import RequestRasters
from gigavqa.workers.responses import raster_record
from gigavqa.workers.tools.calls import Call, find_call
from gigavqa.workers.tools.toolbox import Toolbox, ToolContext, ToolResult

HoldRasters = Callable[[Sequence[View]], AbstractAsyncContextManager[RequestRasters]]
"""Holds the rasters of these views for one round."""


class ToolLoopPlayer:
    """Goes on with a chat from the last answer of its turns, which is the first round.

    The chat grows at its end alone: what was said stays word for word. Pictures of results are held for each round
    anew, with those of the request itself where `anew`, since their number changes all of them.
    """

    def __init__(
        self,
        request: InferenceRequest,
        loop: ToolLoop,
        player: ChatPlayer,
        rasters: Sequence[Raster],
        *,
        job_id: str,
        toolbox: Toolbox,
        hold: HoldRasters,
        generate: Generate,
        anew: bool = False,
    ) -> None:
        self._request = request
        self._loop = loop
        self._player = player
        self._toolbox = toolbox
        self._hold = hold
        self._generate = generate
        self._anew = anew
        self._shown = {raster.view: PromptRaster(raster.key, raster.pixels) for raster in rasters}
        self._digests = {raster.view.image: raster.digest for raster in rasters}
        self._scene = ToolContext(job_id, request.views, {raster.view.image: raster.source_size for raster in rasters})
        self._said: list[PriorMessage] = []
        self._rounds: list[TurnResponse] = []
        self.rasters: list[RasterRecord] = []
        """Where the pictures of results came from, in the order in which they were shown."""
        self.stop: StopReason | None = None
        """Why it ended."""

    @property
    def answers(self) -> tuple[TurnResponse, ...]:
        """The answers so far, in the order of turns and rounds."""
        turns = self._player.answers
        return (*turns[: len(turns) - 1], *self._rounds) if self._rounds else turns

    async def play(self) -> None:
        """Ask the turns, and go on until the chat stops.

        Raises what the engine raises, but for a context that is full behind the first round; RetrievalError, and
        TilingError subclasses.
        """
        turns = await self._player.play()
        self._rounds.append(turns[-1])
        self._said += self._player.said(len(self._request.turns) - 1)
        while self.stop is None:
            await self._go_on()

    async def ask_behind(self, text: str, sampling: Sampling) -> TurnResponse:
        """Ask one more turn behind the last answer; raises what the engine raises, and ImageChangedError."""
        number = len(self._request.turns) - 1 + len(self._rounds)
        said = [*self._said, self._last, PriorMessage(role="user", parts=(text,))]
        async with self._pictures(said) as rasters:
            return await self._answer(said, rasters, sampling, number)

    async def _go_on(self) -> None:
        call = find_call(self._rounds[-1].text, self._loop)
        if call is None or call.status == "malformed":
            self._tell(call)
            self.stop = "answered"
            return
        call = self._toolbox.check(call, self._scene, self._loop.errors)
        if len(self._rounds) == self._loop.max_rounds:
            self._tell(call, "not_run" if call.status == "ok" else call.status)
            self.stop = "rounds"
            return
        began = time.monotonic()
        result = await self._toolbox.answer(call, self._scene)
        views = [part for part in result.parts if isinstance(part, View)]
        if len(self._request.views) + len(self.rasters) + len(views) > MAX_PROMPT_IMAGES:
            self._tell(call)
            self.stop = "context"
            return
        self._tell(call, result=result, seconds=time.monotonic() - began)
        self._said.append(self._last)
        self._said.append(PriorMessage(role="user", parts=tuple(filter(None, result.parts)) or ("",)))
        await self._ask(views)

    async def _ask(self, new: Sequence[View]) -> None:
        number = len(self._request.turns) - 1 + len(self._rounds)
        async with self._pictures(self._said) as rasters:
            self.rasters += [raster_record(number, rasters[view]) for view in new]
            try:
                answer = await self._answer(self._said, rasters, self._request.sampling, number)
            except ContextExceededError:
                self.stop = "context"
                return
        self._rounds.append(answer)

    @asynccontextmanager
    async def _pictures(self, said: Sequence[PriorMessage]) -> AsyncIterator[Mapping[View, Raster]]:
        """Hold the rasters of what results showed, and those of the request itself where they change with them."""
        shown_before = [part for one in said for part in one.parts if isinstance(part, View)]
        later = shown_before[len(self._request.views) :]
        views = shown_before if self._anew else later
        async with self._hold(views) if later else nullcontext(RequestRasters((), 0.0)) as prepared:
            self._check(prepared.rasters)
            yield dict(zip(views, prepared.rasters, strict=True)) if later else {}

    async def _answer(
        self, said: Sequence[PriorMessage], rasters: Mapping[View, Raster], sampling: Sampling, number: int
    ) -> TurnResponse:
        shown = self._shown | {view: PromptRaster(each.key, each.pixels) for view, each in rasters.items()}
        chat = [engine_message(one, shown) for one in said]
        return await self._generate(chat, sampling, f"{self._request.id}/{number}")

    @property
    def _last(self) -> PriorMessage:
        return PriorMessage(role="assistant", parts=(self._rounds[-1].text,))

    def _check(self, rasters: Sequence[Raster]) -> None:
        for raster in rasters:
            if self._digests.setdefault(raster.view.image, raster.digest) != raster.digest:
                raise ImageChangedError(f"image '{raster.view.image}' was replaced between two rounds that show it")

    def _tell(
        self,
        call: Call | None,
        status: CallStatus | None = None,
        *,
        result: ToolResult | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Record the call of the last answer."""
        if call is None:
            return
        result = result or ToolResult(())
        first = len(self._request.views) + len(self.rasters)
        numbers = tuple(range(first, first + sum(isinstance(part, View) for part in result.parts)))
        names = iter(numbers)
        told = ToolCall(
            name=call.name,
            arguments=call.arguments,
            status=status or call.status,
            result="".join(part if isinstance(part, str) else f"[IMAGE {next(names)}]" for part in result.parts),
            rasters=numbers,
            documents=result.documents,
            source=result.source,
            cached=result.cached,
            seconds=seconds,
        )
        self._rounds[-1] = self._rounds[-1].model_copy(update={"call": told})
