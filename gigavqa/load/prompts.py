"""What is asked: random words, or questions about regions of pictures. The same seed makes the same chats."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from gigavqa.load.errors import LoadSettingsError
from gigavqa.load.regions import RegionSequence
from gigavqa.load.service import Messages
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.geometry import Region, Size

_WORDS = (
    "river stone market window yellow seven paper north garden engine copper letter island winter bridge candle",
    "silver forest number harbor signal orange mirror valley pocket ribbon tunnel velvet wagon anchor basket cotton",
)
_REGION_QUESTION = "Describe what is to be seen here, in detail."

ShowRegion = Callable[["Picture", Region], str]
"""Returns the address of a region of a picture: a data URL of its pixels, or its name."""


class Prompts(Protocol):
    """The chats of a measurement, by number."""

    def messages(self, number: int) -> Messages:
        """Return the messages of one chat. Blocks where pictures are cut."""
        ...

    @property
    def most(self) -> int | None:
        """The number of chats that differ; None where there is no end of them."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether pictures are cut for each chat, in threads, ahead of it."""
        ...


class TextPrompts:
    """Chats of so many random words, each with its number in front, so that none shares a prefix with another."""

    most = None
    is_cut = False

    def __init__(self, words: int, seed: int) -> None:
        self._words, self._seed = words, seed

    def messages(self, number: int) -> Messages:
        """Return the messages of one chat."""
        drawn = random.Random(f"{self._seed}:{number}").choices(" ".join(_WORDS).split(), k=self._words)
        return _user([{"type": "text", "text": f"{self._seed}-{number}. Go on with this list: {' '.join(drawn)}"}])


@dataclass(frozen=True)
class Picture:
    """A picture that regions are cut of: its name for people and services, where it is, its size in pixels, and how its
    samples are shown, if not as they are.
    """

    name: str
    path: str
    size: Size
    show: str = ""


@dataclass(frozen=True)
class Question:
    """A question, and the picture that it is about, if any."""

    text: str
    picture: Picture | None = None


def questions_about(pictures: Sequence[Picture]) -> list[Question]:
    """Return one question about each picture, for pictures without any of their own."""
    return [Question(_REGION_QUESTION, picture) for picture in pictures]


def name_region(picture: Picture, region: Region) -> str:
    """Return the name by which a gateway of gigavqa finds a region of a picture in its own data root."""
    shown = f"&show={quote(picture.show)}" if picture.show else ""
    return f"gigavqa:{quote(picture.name)}?region={region}{shown}"


@dataclass(frozen=True)
class RegionOptions:
    """How many regions each chat shows, and their longest side; `repeated`: so many chats, again and again."""

    number: int = 1
    side: int = 1024
    repeated: int | None = None


class QuestionPrompts:
    """Chats of questions in a drawn order, round after round, each with other regions of its picture before it.

    Raises LoadSettingsError where a picture has too few regions for one round.
    """

    def __init__(self, questions: Sequence[Question], options: RegionOptions, seed: int, show: ShowRegion) -> None:
        self._questions = random.Random(seed).sample(questions, len(questions))
        self._options = options
        self._show = show
        self._regions: dict[str, RegionSequence] = {}
        self._ranks: list[int] = []
        asked: dict[str, int] = {}
        for question in self._questions:
            name = question.picture.name if question.picture else ""
            self._ranks.append(asked.get(name, 0))
            asked[name] = asked.get(name, 0) + 1
            if question.picture and name not in self._regions:
                self._regions[name] = RegionSequence(question.picture.size, options.side, f"{seed}:{name}")
        self._asked = asked
        self.is_cut = bool(self._regions) and options.number > 0
        self._rounds = self._most_rounds() if self.is_cut else None

    @property
    def most(self) -> int | None:
        """The number of chats whose regions differ; None where none is shown, or chats are repeated on purpose."""
        is_endless = self._rounds is None or self._options.repeated
        return None if is_endless else (self._rounds or 0) * len(self._questions)

    def messages(self, number: int) -> Messages:
        """Return the messages of one chat: its regions, then the question."""
        turn = number % self._options.repeated if self._options.repeated else number
        rounds, at = divmod(turn, len(self._questions))
        question = self._questions[at]
        parts: list[dict[str, Any]] = []
        if picture := question.picture if self.is_cut else None:
            first = (rounds * self._asked[picture.name] + self._ranks[at]) * self._options.number
            for place in range(first, first + self._options.number):
                address = self._show(picture, self._regions[picture.name][place])
                parts.append({"type": "image_url", "image_url": {"url": address}})
        return _user([*parts, {"type": "text", "text": question.text}])

    def _most_rounds(self) -> int:
        """Return how often every question can be asked before a region comes again."""
        rounds = {
            name: len(regions) // (self._options.number * self._asked[name]) for name, regions in self._regions.items()
        }
        name = min(rounds, key=rounds.__getitem__)
        wanted = -(-self._options.repeated // len(self._questions)) if self._options.repeated else 1
        if rounds[name] < wanted:
            there = count_noun(len(self._regions[name]), "different region")
            raise LoadSettingsError(
                f"{name} has {there} of {self._options.side} pixels, and "
                f"{self._options.number * self._asked[name] * wanted} are shown: choose a smaller side, fewer regions, "
                "or larger pictures"
            )
        return rounds[name]


def _user(parts: list[dict[str, Any]]) -> Messages:
    content = parts[0]["text"] if len(parts) == 1 else parts
    return [{"role": "user", "content": content}]
