"""The texts of a page: each stands in it once and is known by its number, long ones are shortened in their middle."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from gigavqa.contract.requests import Turn
from gigavqa.contract.responses import TurnResponse
from gigavqa.evaluation.outcomes import PartOutcome

_LONGEST, _SHORTEST = 6000, 300
_ALL_CHARACTERS = 1_500_000
"""Characters of answers of one page together; each is shortened to its share, within these two."""
_CHAT_CHARACTERS = 1_500_000
"""Characters of prompts of one page together; chats beyond are left out."""
_ROUND_CHARACTERS = 3_000_000
"""Characters of rounds of one page together, with what describes their pictures; rounds beyond are left out."""
_OF_A_PICTURE = 500


_BETWEEN = "\n\n"


class PageTexts:
    """Numbers texts, from 0 for the empty one, and chats, from 1; `expected` answers share the page's characters.

    Texts of `rounds` share others.
    """

    def __init__(self, expected: int, rounds: int = 0) -> None:
        self._longest = _share(_ALL_CHARACTERS, expected)
        self._longest_of_rounds = _share(_ROUND_CHARACTERS, rounds)
        self._in_rounds = 0
        self._numbers: dict[str, int] = {"": 0}
        self._chats: dict[tuple[Any, ...], int] = {}
        self._prompted = 0
        self._steps: dict[tuple[Any, ...], int] = {}

    @property
    def all(self) -> list[str]:
        """The texts by their numbers."""
        return list(self._numbers)

    @property
    def chats(self) -> list[tuple[Any, ...]]:
        """The chats by their numbers, less one: of each turn its paragraphs, a given answer, and the step it asks."""
        return list(self._chats)

    @property
    def steps(self) -> list[tuple[Any, ...]]:
        """The parts of a question, by number: name, question, truth (as numbers), tags, true boxes."""
        return list(self._steps)

    def step(self, part: PartOutcome) -> int:
        """Return the number of what is the same of a part in all responses."""
        truth = self.clipped(written_value(part.truth))
        told = (part.name, self.number(part.question), truth, tuple(part.tags.items()), part.true_boxes)
        return self._steps.setdefault(told, len(self._steps))

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def clipped(self, text: str) -> int:
        """Return the number of a text that is shortened where it is long: its end, with the answer, stays."""
        return self._clipped(text, self._longest)

    def of_round(self, text: str) -> int:
        """Return the same of a text of a round."""
        return self._clipped(text, self._longest_of_rounds)

    def take_rounds(self, rounds: Sequence[TurnResponse]) -> bool:
        """Return whether there is room for the rounds of another chat, which then takes it."""
        if self._in_rounds >= _ROUND_CHARACTERS:
            return False
        calls = [turn.call for turn in rounds if turn.call]
        said = [turn.text for turn in rounds] + [text for call in calls for text in (call.arguments, call.result)]
        self._in_rounds += sum(min(len(text), self._longest_of_rounds) for text in said)
        self._in_rounds += _OF_A_PICTURE * sum(len(call.rasters) for call in calls)
        return True

    def _clipped(self, text: str, longest: int) -> int:
        if len(text) <= longest:
            return self.number(text)
        half = longest // 2
        left_out = f"[… {len(text) - 2 * half:,} characters left out here; the results hold them …]"
        return self.number(f"{text[:half]}\n\n{left_out}\n\n{text[-half:]}")

    def chat(self, turns: Sequence[Turn]) -> int:
        """Return the number of a chat; 0 for none, and for what the page has no more room for."""
        if not turns or self.left_out(turns):
            return 0
        pictures = count(1)
        told = tuple(
            (self._paragraphs(_format_turn(turn, pictures)), self.number(turn.given or ""), turn.asks) for turn in turns
        )
        return self._chats.setdefault(told, len(self._chats) + 1)

    def left_out(self, turns: Sequence[Turn]) -> str:
        """Why a chat is not shown; empty where it is."""
        if not turns or self._prompted < _CHAT_CHARACTERS:
            return ""
        return "left out, to keep this page small; `gigavqa prompt` prints it"

    def _paragraphs(self, text: str) -> tuple[int, ...]:
        """Prompts share most of their paragraphs, where not the whole."""
        parts = text.split(_BETWEEN)
        self._prompted += sum(len(part) for part in parts if part not in self._numbers)
        return tuple(map(self.number, parts))


def _share(characters: int, expected: int) -> int:
    return max(_SHORTEST, min(_LONGEST, characters // max(1, expected)))


def _format_turn(turn: Turn, pictures: Iterator[int]) -> str:
    """Return what a turn says, with the numbers of the pictures that it shows where they stand in it."""
    texts = (part if isinstance(part, str) else f"[picture {next(pictures)}]\n" for part in turn.parts)
    return "".join(texts)


def written_value(value: Any) -> str:
    """Write a truth, or what was read, as people read it."""
    return value if isinstance(value, str) else json.dumps(_rounded(value), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value
