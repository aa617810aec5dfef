"""Plays one chat: asks the turns that its script tells, with a history of the model's own answers or of given ones."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from gigavqa.contract.requests import InferenceRequest, PriorMessage, Sampling, Turn
from gigavqa.contract.responses import TurnResponse
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.views import View
from gigavqa.workers.engines.engine import ChatOverflowError, ContextExceededError, Message, PromptRaster
from gigavqa.workers.script import Script

Generate = Callable[[Sequence[Message], Sampling, str], Awaitable[TurnResponse]]
"""Chat, sampling and an id in; the answer to the chat's last message out."""


class ChatPlayer:
    """One chat being played. `answers` holds what was answered so far, also when playing was broken off.

    `rasters` are those of the views that the script's turns show. `in_history` makes of an own answer's raw text what
    later turns repeat of it. A turn behind the last answer is asked by `generate_behind`, where it is another.
    """

    def __init__(
        self,
        request: InferenceRequest,
        script: Script,
        rasters: Sequence[Raster],
        generate: Generate,
        in_history: Callable[[str], str] = str,
        *,
        generate_behind: Generate | None = None,
    ) -> None:
        self._request = request
        self._script = script
        self._rasters = {raster.view: PromptRaster(raster.key, raster.pixels) for raster in rasters}
        self._generate = generate
        self._in_history = in_history
        self._generate_behind = generate_behind or generate
        self._turns: Sequence[Turn] = ()
        self._answered: dict[int, TurnResponse] = {}

    @property
    def answers(self) -> tuple[TurnResponse, ...]:
        """The answers so far, in the order of their turns."""
        return tuple(self._answered[index] for index in sorted(self._answered))

    async def play(self) -> tuple[TurnResponse, ...]:
        """Ask every turn as soon as the script tells it; those with given answers are told from the start.

        Raises what the engine raises: EngineError, EngineDeadError.
        """
        try:
            async with asyncio.TaskGroup() as group:
                self._go_on(group)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return self.answers

    async def ask_behind(self, text: str, sampling: Sampling) -> TurnResponse:
        """Ask one more turn behind the last answer; raises what the engine raises."""
        number = len(self._turns)
        said = [*self.said(number - 1), self._own(number - 1), PriorMessage(role="user", parts=(text,))]
        chat = [engine_message(one, self._rasters) for one in said]
        return await self._generate_behind(chat, sampling, f"{self._request.id}/{number}")

    def _go_on(self, group: asyncio.TaskGroup) -> None:
        """Ask the turns that the script tells beyond those that it told before."""
        begun = len(self._turns)
        self._turns = self._script.turns(self._answered)
        for index in range(begun, len(self._turns)):
            group.create_task(self._ask(index, group))

    async def _ask(self, index: int, group: asyncio.TaskGroup) -> None:
        try:
            chat = [engine_message(said, self._rasters) for said in self.said(index)]
            if (forced := self._turns[index].forced) is not None:
                chat.append(Message("assistant", (forced,)))
            answer = await self._generate(chat, self._request.sampling, f"{self._request.id}/{index}")
        except ContextExceededError as error:
            if self._wrote_too_much(index, error.excess):
                raise ChatOverflowError(
                    f"what the model wrote before turn {index + 1} fills its context: {error}"
                ) from error
            raise
        self._answered[index] = answer.model_copy(update={"asks": self._turns[index].asks})
        self._go_on(group)

    def _wrote_too_much(self, index: int, excess: int | None) -> bool:
        """Return whether the turn would have fitted without the answers of the model's own that stand before it."""
        own = [number for number in range(index) if self._turns[number].given is None]
        written = sum(self._answered[number].usage.completion_tokens for number in own)
        return bool(own) if excess is None else excess <= written

    def said(self, index: int) -> list[PriorMessage]:
        """Return what is said when a turn is asked, up to the turn itself."""
        system = self._request.system
        chat = [PriorMessage(role="system", parts=(system,))] if system is not None else []
        chat += self._request.before
        for number, turn in enumerate(self._turns[: index + 1]):
            chat.append(PriorMessage(role="user", parts=turn.parts))
            if number < index:
                chat.append(self._own(number))
        return chat

    def _own(self, number: int) -> PriorMessage:
        """Return what stands behind a turn: the model's own answer, or the one that is given."""
        turn = self._turns[number]
        answer = self._in_history(self._answered[number].text) if turn.given is None else turn.given
        return PriorMessage(role="assistant", parts=(answer,))


def engine_message(said: PriorMessage, shown: Mapping[View, PromptRaster]) -> Message:
    """Return the message that an engine gets, with what is shown of each view."""
    return Message(said.role, tuple(part if isinstance(part, str) else shown[part] for part in said.parts))
