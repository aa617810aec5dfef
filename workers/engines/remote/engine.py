"""A model behind any OpenAI-compatible server: vLLM's router, SGLang, Dynamo, a commercial API. docs/remote.md."""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from typing import Any

from cachetools import LRUCache

from gigavqa.catalogue.entry import MIN_ANSWER_TOKENS, CatalogueEntry
from gigavqa.contract.requests import GenerationConstraints, Sampling
from gigavqa.contract.responses import EngineInfo, OnTokens, RemoteInfo, Timings, TurnResponse, Usage
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.engine import (
    AnswerUnweighableError,
    ContextExceededError,
    EngineDeadError,
    EngineError,
    EngineStats,
    Message,
    forced_answer,
)
from gigavqa.workers.engines.kv_admission import ChatSlots
from gigavqa.workers.engines.prefix_warmup import PrefixWarmer
from gigavqa.workers.engines.remote.answers import RemoteAnswer
from gigavqa.workers.engines.remote.bodies import BodyWriter
from gigavqa.workers.engines.remote.dialects import DIALECTS
from gigavqa.workers.engines.remote.discovery import discover_model
from gigavqa.workers.engines.remote.endpoint_client import EndpointClient
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.engines.remote.forced_answers import (
    ANSWER_PARAMETERS,
    PROMPT_PARAMETERS,
    PromptQuestion,
    read_forced,
)
from gigavqa.workers.engines.remote.generation_constraints import constraint_parameters
from gigavqa.workers.engines.remote.raster_encoding import RasterEncoder
from gigavqa.workers.engines.remote.rate_limiter import RateLimiter
from gigavqa.workers.engines.remote.replies import bare_model_name
from gigavqa.workers.engines.remote.streaming import STREAM_PARAMETERS

log = logging.getLogger(__name__)

# Smaller pictures are sent again sooner than somebody waits for the first to have arrived: decision 0009.
_WARMUP_PIXELS = 2**20
_LETTERS_A_TOKEN = 4
_BYTES_A_TOKEN, _MARKS_A_MESSAGE = 2, 64  # hardly any text has shorter tokens, or any template more marks
_LETTERS, _MOST_LETTERS_A_TOKEN = 2**16, 128  # runs of blanks are the longest tokens
_MAX_CACHED_RASTERS = 10_000
_MISSES, _ANSWERS_A_MISS = 8, 16
_MAX_TRIES_WITHOUT = 2  # a picture may have been put out since it was sent


class RemoteEngine:
    """One model, asked over HTTP. What this worker renders is what is sent; the server does the rest.

    A server that is away, or closed to the worker, is waited for; nothing is given up meanwhile.
    """

    def __init__(self, entry: CatalogueEntry, settings: RemoteSettings) -> None:
        self._entry = entry
        self._settings = settings
        self._dialect = settings.known_dialect or DIALECTS["openai"]
        self._version: str = self._dialect.name
        self._name = settings.name or entry.remote_names[0]
        self._context = entry.max_model_len
        self._ends: Mapping[str, Any] = {}
        self._tokens = RateLimiter(settings.tokens_a_minute)
        self._primers = PrefixWarmer(self._prefill, _is_large)
        self._kept = _ServerRasterCache()
        self._asked = 0
        self._starting = False
        self._prompt_tokens = self._cached_tokens = self._generated_tokens = 0
        self._pictures: RasterEncoder | None = None
        self._server: EndpointClient | None = None

    @property
    def info(self) -> EngineInfo:
        """The engine's name and version, for the provenance of responses."""
        remote = RemoteInfo(
            endpoint=self._settings.endpoint,
            model=self._name,
            dialect=self._dialect.name,
            pictures=self._settings.pictures,
            detail=self._entry.remote.detail,
            not_sent=self._dialect.not_sent(self._entry),
            extra=self._entry.remote.extra,
            keeps_to_schemas=self._dialect.schemas,
        )
        return EngineInfo(
            name="remote",
            version=self._version,
            device="remote",
            budget=str(self._entry.visual_budget),
            chat_template=self._entry.chat_template or None if self._dialect.templates else None,
            remote=remote,
        )

    @property
    def phase(self) -> EnginePhase | None:
        """The reason to wait, while the server does not answer."""
        waits = self._server.standing.waits if self._server else None
        if waits is None and self._starting:
            waits = f"waiting for {self._settings.endpoint}"
        return EnginePhase(name=waits) if waits else None

    @property
    def places(self) -> ChatSlots | None:
        """Any number: the worker's own bound is the only one."""
        return None

    async def start(self) -> None:
        """Wait until the server answers, takes the key and lists the model.

        Raises EngineDeadError when it is not to be had there.
        """
        settings = self._settings
        if settings.key and settings.endpoint.startswith("http:") and not _is_local(settings.host):
            log.warning("the key in %s goes to %s unencrypted", settings.key_name, settings.endpoint)
        self._pictures = RasterEncoder(settings.pictures)
        self._server = EndpointClient(settings, context=self._context)
        self._starting = True
        try:
            met = await discover_model(self._server, self._entry, settings)
        finally:
            self._starting = False
        self._name, self._dialect, self._version = met.name, met.dialect, met.version
        self._context = min(self._context, met.context or self._context)
        self._ends = met.ends
        self._server.model = bare_model_name(met.name)

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer the chat's last message; `grow` is told its text as the server streams it.

        Cancelling the task closes the connection, which servers take as an abort. Raises EngineError for a prompt that
        the server refuses, or does not answer however often it is asked. While it refuses the key, everything waits.
        """
        self._asked += 1
        began = time.monotonic()
        forced = forced_answer(chat)
        try:
            if forced is not None:
                turn, seconds = await self._weigh(chat, forced, sampling, priority)
            else:
                turn, seconds = await self._ask(chat, sampling, priority, grow)
        finally:
            self._asked -= 1
        self._count(turn)
        queued = max(0.0, time.monotonic() - began - seconds)
        return turn.model_copy(update={"timings": Timings(queued=queued, decode=seconds)})

    async def stats(self) -> EngineStats:
        """Counters and gauges of now; what waits to be sent, or to be sent again, is `waiting`."""
        sent = self._server.on_the_wire if self._server else 0
        in_vain = self._server.in_vain if self._server else Usage()
        return EngineStats(
            running=sent,
            waiting=max(0, self._asked - sent),
            prompt_tokens=self._prompt_tokens + in_vain.prompt_tokens,
            cached_prompt_tokens=self._cached_tokens + in_vain.cached_tokens,
            generated_tokens=self._generated_tokens + in_vain.completion_tokens,
            processed_rasters=self._pictures.encoded if self._pictures else 0,
            primers=self._primers.count,
            retries=self._server.retries if self._server else 0,
        )

    async def healthy(self) -> bool:
        """Return whether the server answered when it was asked last."""
        return self._server is not None and self._server.standing.is_open

    async def sleep(self, host_bytes: int) -> int:
        """Return 0: there is nothing here that could be freed."""
        return 0

    async def wake(self) -> None:
        """Do nothing: it never sleeps."""

    async def stop(self) -> None:
        """Close the connections; safe to call twice."""
        server, self._server = self._server, None
        if server is not None:
            await server.close()
        if self._pictures is not None:
            self._pictures.close()

    async def _weigh(
        self, chat: Sequence[Message], text: str, sampling: Sampling, priority: int
    ) -> tuple[TurnResponse, float]:
        """Tell how likely the server holds the answer that a chat ends with."""
        if not self._dialect.weighs:
            raise AnswerUnweighableError(
                f"a server of the kind '{self._dialect.name}' does not tell how likely it holds a given answer; ask "
                "an engine of this service, or a vLLM server"
            )
        template = sampling.steering.template if sampling.steering else {}
        shortest = Sampling(temperature=0.0, max_tokens=1, steering=GenerationConstraints(template=template))
        prompt, answered = PromptQuestion(PROMPT_PARAMETERS), PromptQuestion(ANSWER_PARAMETERS)
        first, seconds = await self._ask(chat[:-1], shortest, priority, None, prompt)
        self._count(first)
        turn, more = await self._ask(chat, shortest, priority, None, answered)
        told = read_forced(prompt.reply, answered.reply, text)
        usage = turn.usage.model_copy(update={"completion_tokens": 0})
        changes = {"text": text, "finish_reason": "stop", "forced": True, "logprobs": told, "usage": usage}
        return turn.model_copy(update=changes), seconds + more

    async def _ask(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        priority: int,
        grow: OnTokens | None,
        question: PromptQuestion | None = None,
    ) -> tuple[TurnResponse, float]:
        """Ask with pictures left out that the server keeps; with all of them when it does not, after all."""
        tries = _MAX_TRIES_WITHOUT if self._dialect.keeps and self._kept.are_worth_it else 0
        for _ in range(tries):
            async with self._primers.primed(chat, priority):
                with suppress(_RasterMissingError):
                    return await self._send(chat, sampling, leaves_out=True, grow=grow, question=question)
        return await self._send(chat, sampling, leaves_out=False, grow=grow, question=question)

    async def _send(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        *,
        leaves_out: bool,
        grow: OnTokens | None = None,
        question: PromptQuestion | None = None,
    ) -> tuple[TurnResponse, float]:
        server, pictures = self._running()
        keys = {raster.key for message in chat for raster in message.rasters}
        left_out = self._kept.of(keys) if leaves_out else {}
        sent = await pictures.of(chat, left_out)
        room = max(min(MIN_ANSWER_TOKENS, self._context), self._context - _max_prompt_tokens(chat, self._entry))
        asked = self._dialect.parameters(sampling, self._entry, room)
        parameters = {
            "model": self._name,
            **asked,
            **constraint_parameters(sampling.steering, self._dialect, asked, self._ends),
        }
        parameters |= STREAM_PARAMETERS if grow else {}
        parameters |= question.parameters if question else {}
        body = BodyWriter(self._dialect, pictures.name, self._entry.remote.detail).write(chat, parameters, sent)
        tokens = _estimate_tokens(chat, self._entry) if self._settings.tokens_a_minute else 0
        await self._tokens.take(tokens)
        begin = partial(
            question.begin if question else RemoteAnswer,
            self._entry,
            self._settings.key,
            num_rasters=sum(len(message.rasters) for message in chat),
            most_characters=_LETTERS + _MOST_LETTERS_A_TOKEN * sampling.max_tokens,
            wants_logprobs=sampling.steering is not None and sampling.steering.logprobs is not None,
            grow=grow,
        )
        try:
            turn, seconds = await server.complete(body, begin)
        except ContextExceededError:
            raise
        except EngineError as error:
            if not left_out or error.is_retryable:
                raise
            if self._kept.miss(left_out):  # whatever the server's words for it are
                self._primers.forget(chat)
            raise _RasterMissingError from error
        if self._dialect.keeps:
            self._kept.add(keys)
        counted = min(turn.usage.prompt_tokens + turn.usage.completion_tokens, self._context)  # more is no count
        self._tokens.correct(counted - tokens)
        return turn, seconds

    async def _prefill(self, chat: Sequence[Message], priority: int) -> int:
        """Have the server keep the pictures of `chat`, and what it makes of them."""
        sampling = Sampling(temperature=0.0, max_tokens=1)
        try:
            turn, _ = await self._send(chat, sampling, leaves_out=True)
        except _RasterMissingError:
            turn, _ = await self._send(chat, sampling, leaves_out=False)
        self._count(turn)
        return 0

    def _running(self) -> tuple[EndpointClient, RasterEncoder]:
        if self._server is None or self._pictures is None:
            raise EngineDeadError("the engine is not running")
        return self._server, self._pictures

    def _count(self, turn: TurnResponse) -> None:
        self._prompt_tokens += turn.usage.prompt_tokens
        self._cached_tokens += turn.usage.cached_tokens
        self._generated_tokens += turn.usage.completion_tokens


class _RasterMissingError(Exception):
    """The server has not got a picture that was left out."""


class _ServerRasterCache:
    """Pictures that a server keeps, each with the number of the answer that showed it."""

    def __init__(self) -> None:
        self._shown: LRUCache[str, int] = LRUCache(_MAX_CACHED_RASTERS)
        self._answers = self._misses = 0

    @property
    def are_worth_it(self) -> bool:
        """Whether it pays to leave them out: not behind a router that brings every request to another server."""
        return self._misses <= _MISSES + self._answers // _ANSWERS_A_MISS

    def of(self, shown: Iterable[str]) -> dict[str, int]:
        """Return those that the server keeps."""
        return {key: self._shown[key] for key in shown if key in self._shown}

    def add(self, shown: Iterable[str]) -> None:
        """Remember that the server has them."""
        self._answers += 1
        for key in shown:
            self._shown[key] = self._answers

    def miss(self, left_out: Mapping[str, int]) -> bool:
        """Forget those that it has lost; returns whether there were any, and they had not been sent again since."""
        lost = [key for key, number in left_out.items() if self._shown.get(key) == number]
        for key in lost:
            del self._shown[key]
        self._misses += bool(lost)
        return bool(lost)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_large(beginning: Sequence[Message]) -> bool:
    return sum(raster.pixels.size // 3 for message in beginning for raster in message.rasters) >= _WARMUP_PIXELS


def _estimate_tokens(chat: Sequence[Message], entry: CatalogueEntry) -> int:
    """Tokens of the prompt, as far as they are known beforehand."""
    return _visual_tokens(chat, entry) + sum(len(message.text) for message in chat) // _LETTERS_A_TOKEN


def _max_prompt_tokens(chat: Sequence[Message], entry: CatalogueEntry) -> int:
    """Tokens that the prompt hardly exceeds, whatever the language and the template."""
    letters = sum(len(message.text.encode(errors="replace")) for message in chat)
    return _visual_tokens(chat, entry) + letters // _BYTES_A_TOKEN + _MARKS_A_MESSAGE * len(chat)


def _visual_tokens(chat: Sequence[Message], entry: CatalogueEntry) -> int:
    rasters = [raster for message in chat for raster in message.rasters]
    sizes = [Size(*raster.pixels.shape[1::-1]) for raster in rasters]
    return sum(entry.visual_budget.plan(size, len(sizes)).visual_tokens for size in sizes)
