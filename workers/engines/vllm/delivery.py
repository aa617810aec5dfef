"""Brings chats to vLLM's core: what shows rasters is rendered and sent before the next is, or leaves no trace.

vLLM's front end makes a raster ready once. As soon as one prompt with it is rendered, later ones are sent without it:
that the first is sent is taken for granted. One that is refused or cancelled never is, and the core then ends the next
prompt about the raster with an error (0.32: multimodal/cache/lru.py, v1/engine/core.py `_handle_mm_cache_miss`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar

from gigavqa.workers.engines.engine import GenerationFailedError
from gigavqa.workers.engines.vllm.prompts import end_of_views, visual_tokens
from gigavqa.workers.engines.vllm.sender_cache import restore_on_failure

T = TypeVar("T")
RenderPrompt = Callable[[], Awaitable[Any]]
"""Makes a prompt as vLLM takes it."""
_CACHE_MISS = "Expected a cached item"  # vLLM 0.32: multimodal/cache/


class _RehearsedError(Exception):
    """A prompt was rendered in order not to be sent."""


class CoreRequest:
    """A prompt that vLLM's core got, and what is generated for it.

    `visual_tokens` are those of each of its rasters; `end_of_views` counts its tokens up to the last of them.
    """

    def __init__(self, collector: Any, visual_tokens: tuple[int, ...], end_of_views: int) -> None:
        self.visual_tokens = visual_tokens
        self.end_of_views = end_of_views
        self.is_finished = False
        self._collector = collector

    @property
    def id(self) -> str:
        """The core's own name of it."""
        return str(self._collector.request_id)

    async def outputs(self) -> AsyncIterator[Any]:
        """Yield each output as it comes, up to the last."""
        while not self.is_finished:
            output = self._collector.get_nowait() or await self._collector.get()
            self.is_finished = output.finished
            yield output


@contextmanager
def _explain_assertions() -> Iterator[None]:
    """Say what it means that vLLM misses a raster that it has just made ready: one prompt's put out each other.

    Raises GenerationFailedError, of other assertions with what they say.
    """
    try:
        yield
    except AssertionError as error:
        if _CACHE_MISS not in str(error):
            raise GenerationFailedError(f"vLLM cannot make the prompt: {error}") from error
        raise GenerationFailedError(
            f"vLLM's raster cache does not hold what one prompt shows ({error}); `--engine-arg "
            "mm_processor_cache_gb=8` gives it 8 GiB"
        ) from error


class PromptDelivery:
    """The way of prompts to the core of `llm`, an AsyncLLM.

    Prompts with rasters go one at a time, in the order in which they are asked: so both sides of vLLM's raster cache
    see one order, and put out the same rasters when it is full.
    """

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self._order = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()

    @asynccontextmanager
    async def send(
        self, render: RenderPrompt, keys: Collection[str], params: Any, request_id: str, priority: int
    ) -> AsyncIterator[CoreRequest]:
        """Send what `render` makes of a chat with rasters of these keys, and abort what is not finished at the end.

        What is being rendered when this is cancelled is sent all the same, since vLLM's thread cannot be stopped.
        Raises what vLLM raises.
        """
        if keys:
            await self._order.acquire()
        sending = self._keep(self._send(render, keys, params, request_id, priority))
        if keys:
            sending.add_done_callback(lambda _: self._order.release())
        try:
            generation = await asyncio.shield(sending)
        except asyncio.CancelledError:
            sending.add_done_callback(self._abort_sent)
            raise
        try:
            yield generation
        finally:
            if not generation.is_finished:
                self._abort(generation)

    async def rehearse(self, render: RenderPrompt, keys: Collection[str]) -> Any:
        """Return what `render` makes, which is not sent and leaves no trace in figures or caches.

        Raises what vLLM raises.
        """
        async with self._order:
            with suppress(_RehearsedError), self._rendering(keys):
                prompt = await render()
                raise _RehearsedError
            self._llm.renderer.stat_mm_cache()
        return prompt

    async def forget_rasters(self) -> None:
        """Have both sides of vLLM forget every raster: what is shown next is sent anew. Raises what vLLM raises."""
        async with self._order:
            await self._llm.reset_mm_cache()

    async def _send(
        self, render: RenderPrompt, keys: Collection[str], params: Any, request_id: str, priority: int
    ) -> CoreRequest:
        with self._rendering(keys):
            prompt = await render()
            shown, end = visual_tokens(prompt), end_of_views(prompt)  # before the engine takes the prompt over
            collector = await self._llm.add_request(request_id, prompt, params, priority=priority)
        return CoreRequest(collector, shown, end)

    @contextmanager
    def _rendering(self, keys: Collection[str]) -> Iterator[None]:
        with restore_on_failure(self._llm.renderer.mm_processor_cache, keys), _explain_assertions():
            yield

    def _abort(self, generation: CoreRequest) -> None:
        self._keep(self._llm.abort(generation.id, internal=True))

    def _keep(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Begin `work`, which goes on whoever waits for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it is told; nobody may

    def _abort_sent(self, sending: "asyncio.Task[CoreRequest]") -> None:
        if not sending.cancelled() and sending.exception() is None:
            self._abort(sending.result())
