"""The interface of everything that generates text: a chat with rasters in, raw text and counts out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, OnTokens, TurnResponse
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.workers.engines.kv_admission import ChatSlots


@dataclass(frozen=True)
class PromptRaster:
    """One picture of a prompt: `pixels` is H x W x 3 uint8 RGB; `key` names content, region and size in every cache."""

    key: str
    pixels: NDArray[np.uint8]


@dataclass(frozen=True)
class Message:
    """One message of a chat: texts and rasters in the order in which the model gets them.

    Chats whose first messages differ in `salt` share nothing that is kept of their tokens.
    """

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | PromptRaster, ...]
    salt: str = ""

    @property
    def text(self) -> str:
        """Its texts, joined."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def rasters(self) -> tuple[PromptRaster, ...]:
        """Its rasters in order."""
        return tuple(part for part in self.parts if isinstance(part, PromptRaster))


def with_cache_salt(chat: Sequence[Message], salt: str) -> list[Message]:
    """Return the same chat under another salt."""
    first, *others = chat
    return [replace(first, salt=salt), *others]


def forced_answer(chat: Sequence[Message]) -> str | None:
    """Return the answer that a chat ends with, which the model is held to; None where it is to write its own."""
    return chat[-1].text if chat[-1].role == "assistant" else None


@dataclass(frozen=True)
class EngineStats:
    """Counters since start and gauges of now. Work is counted so that it can be compared with the unique work.

    `processed_rasters` counts what was made ready for the vision encoder, `encoder_runs` the rasters that went through
    it, and `primers` the beginnings of prompts that were asked for by themselves; their tokens count like all others.
    `retries` counts what was asked again: of an engine elsewhere that was away or had too much to do, and of any that
    ended an answer as none. `unanswered` are the requests that the engine was given and has not finished, and `steps`
    what it has told of doing; None where the engine does not step here, or cannot tell.
    """

    running: int = 0
    waiting: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    generated_tokens: int = 0
    processed_rasters: int = 0
    encoder_runs: int = 0
    primers: int = 0
    retries: int = 0
    unanswered: int = 0
    steps: int | None = None


class EngineError(Exception):
    """The engine could not answer this prompt; others are not affected."""

    is_retryable = False
    """Whether asking again later may help."""


class ContextExceededError(EngineError):
    """The prompt is longer than the model's context; `excess` counts the tokens too many, where they are known."""

    def __init__(self, message: str, excess: int | None = None) -> None:
        super().__init__(message)
        self.excess = excess


class AnswerUnweighableError(EngineError):
    """The likelihood of a forced answer cannot be told: of this answer, or by this engine."""


class ChatOverflowError(EngineError):
    """The model's own answers in earlier turns, and nothing else, made the chat longer than its context."""


class GenerationFailedError(EngineError):
    """The engine ended an answer for another reason than those of answers, as often as it was asked."""

    is_retryable = True


class EngineDeadError(Exception):
    """The engine is gone with everything that it was generating; a new one must be started."""


class Engine(Protocol):
    """One model, loaded. All methods belong to one event loop."""

    @property
    def info(self) -> EngineInfo:
        """The engine's name and version, for the provenance of responses."""
        ...

    @property
    def phase(self) -> EnginePhase | None:
        """The phase of the start, where the engine publishes it; None when it does not start.

        An engine elsewhere that was there and is away tells that it waits for it: it comes back by itself.
        """
        ...

    @property
    def places(self) -> ChatSlots | None:
        """The number of chats that may be played at once, as the engine knows once it has started; None for any
        number.
        """
        ...

    async def start(self) -> None:
        """Load the model; returns when the engine can answer. Raises EngineDeadError when it cannot be started."""
        ...

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer the chat's last message; lower `priority` goes first. Cancelling the task aborts the generation.

        `grow` is told the text piece by piece, in whole characters; joined, the pieces are the answer's text.
        A chat that ends with a message of the assistant's is answered by that text, and by the logprobs of its tokens
        as the model holds them at a temperature of 1, whatever the sampling.
        Raises EngineError for a prompt that cannot be answered and EngineDeadError when the engine is gone.
        """
        ...

    async def stats(self) -> EngineStats:
        """Counters and gauges of now."""
        ...

    async def healthy(self) -> bool:
        """Return whether the engine can answer."""
        ...

    async def sleep(self, host_bytes: int) -> int:
        """Free the device's memory, keeping the weights in at most `host_bytes` of host memory, until `wake`.

        Returns the bytes that are kept; 0 when the engine cannot sleep so, and goes on. To be called when nothing is
        being generated. Raises EngineDeadError.
        """
        ...

    async def wake(self) -> None:
        """Come back from `sleep` with empty caches. Raises EngineDeadError when the engine did not live through it."""
        ...

    async def stop(self) -> None:
        """End the engine and everything that it started; safe to call twice and after its death."""
        ...
