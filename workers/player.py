"""Plays one chat: asks its turns, with a history of the model's own answers or of given ones."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from jobs.models import InferenceRequest, Sampling, TurnResponse
from tiling.rendering import Raster
from workers.engines.engine import ChatOverflowError, ContextExceededError, Message, PromptRaster

Generate = Callable[[Sequence[Message], Sampling, str], Awaitable[TurnResponse]]
"""Chat, sampling and an id in; the answer to the chat's last message out."""


class Player:
    """One chat being played. `answers` holds what was answered so far, also when playing was broken off.

    `in_history` makes of an own answer's raw text what later turns repeat of it.
    """

    def __init__(
        self,
        request: InferenceRequest,
        rasters: Sequence[Raster],
        generate: Generate,
        in_history: Callable[[str], str] = str,
    ) -> None:
        self._request = request
        self._rasters = [PromptRaster(raster.key, raster.pixels) for raster in rasters]
        self._generate = generate
        self._in_history = in_history
        self._answered: dict[int, TurnResponse] = {}

    @property
    def answers(self) -> tuple[TurnResponse, ...]:
        """The answers so far, in the order of their turns."""
        return tuple(self._answered[index] for index in sorted(self._answered))

    async def play(self) -> tuple[TurnResponse, ...]:
        """Ask every turn as soon as the answers that it builds on are there; given answers are there from the start.

        Raises what the engine raises: EngineError, EngineDeadError.
        """
        start = 0
        for end in self._pauses():
            await self._ask_together(range(start, end))
            start = end
        return self.answers

    def _pauses(self) -> list[int]:
        """Where playing must wait: after each turn whose own answer goes into the history, and at the end."""
        turns = self._request.turns
        return [index for index in range(1, len(turns)) if turns[index - 1].given is None] + [len(turns)]

    async def _ask_together(self, indices: range) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for index in indices:
                    group.create_task(self._ask(index))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _ask(self, index: int) -> None:
        try:
            answer = await self._generate(self._chat(index), self._request.sampling, f"{self._request.id}/{index}")
        except ContextExceededError as error:
            if self._wrote_too_much(index, error.excess):
                raise ChatOverflowError(
                    f"what the model wrote before turn {index + 1} fills its context: {error}"
                ) from error
            raise
        self._answered[index] = answer.model_copy(update={"step_id": self._request.turns[index].step_id})

    def _wrote_too_much(self, index: int, excess: int | None) -> bool:
        """Whether the turn would have fitted without the answers of the model's own that stand before it."""
        own = [number for number in range(index) if self._request.turns[number].given is None]
        written = sum(self._answered[number].usage.completion_tokens for number in own)
        return bool(own) if excess is None else excess <= written

    def _chat(self, index: int) -> list[Message]:
        turns = self._request.turns
        chat = [Message("system", self._request.system)] if self._request.system is not None else []
        for number, turn in enumerate(turns[: index + 1]):
            chat.append(Message("user", turn.text, self._rasters if number == 0 else ()))
            if number < index:
                chat.append(Message("assistant", self._said(number) if turn.given is None else turn.given))
        return chat

    def _said(self, number: int) -> str:
        return self._in_history(self._answered[number].text)
