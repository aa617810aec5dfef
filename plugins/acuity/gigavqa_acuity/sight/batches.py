"""Batches of the small model's training: rasters, turned at random, and chats about them."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gigavqa.workers.checkpoints.qwen3_vl import FRAMES, MERGE
from gigavqa_acuity.sight.chats import ChatEncoder, open_question, questions, told
from gigavqa_acuity.sight.design import PATCH
from gigavqa_acuity.sight.lessons import Pixels
from gigavqa_acuity.sight.pool import Pool, PoolLesson, PoolRaster
from gigavqa_acuity.taxonomy import ATTRIBUTES, DIRECTIONS, WORDS, Attribute

ANYTHING = -1
"""The target of a chat that no letter answers: all are equally likely."""
Stage = Literal["close", "large", "all"]
"""What is shown: rings that nearly fill the raster, then large ones as well, then all as the conditions show them."""
_SHARES: Mapping[Stage, Mapping[str, float]] = {
    "close": {"close": 1.0},
    "large": {"close": 0.35, "V3": 0.5, "V2": 0.15},
    "all": {"V3": 0.60, "V2": 0.18, "V1": 0.08, "V4": 0.14},
}
_LEAST: Mapping[Stage, float] = {"close": 100.0, "large": 36.0, "all": 0.0}
"""Pixels that a ring has at least."""
_READABLE = 1.5
_UNREADABLE = 0.06
"""Share of whole pictures whose ring may be smaller than that many pixels."""
_PART_OF_DIRECTION = 0.58
_TOLD, _BLIND = 8, 6
"""Chats of a step without a picture: some tell the answer, some tell nothing."""


_Any = TypeVar("_Any")


class LessonRasters(NamedTuple):
    """Rasters of one lesson as a condition shows them, with the ring's colour and direction as they are in these."""

    condition: str
    pixels: tuple[Pixels, ...]
    colour: int
    direction: int
    shown: tuple[float, ...]

    def word(self, attribute: Attribute) -> str:
        """Return what is true of the ring."""
        return WORDS[attribute][self.colour if attribute == "colour" else self.direction]

    @property
    def visual_tokens(self) -> tuple[int, ...]:
        """Visual tokens of each raster."""
        return tuple(map(visual_tokens, self.pixels))


class TrainingChat(NamedTuple):
    """A prompt as token ids, the showing that it is about, and the token that answers it, or ANYTHING."""

    prompt: tuple[int, ...]
    about: int | None
    target: int


class Batch(NamedTuple):
    """The showings and chats of one step."""

    shown: Sequence[LessonRasters]
    chats: Sequence[TrainingChat]


def visual_tokens(picture: Pixels) -> int:
    """Tokens of a square raster."""
    cells: int = picture.shape[0] // (PATCH * MERGE)
    return cells * cells


def patches(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return a raster as rows of normalized patches, in the order of Qwen2VLImageProcessor."""
    cells = pixels.shape[0] // (PATCH * MERGE)
    normal = pixels.astype(np.float32).transpose(2, 0, 1) / 127.5 - 1
    split = normal.reshape(3, cells, MERGE, PATCH, cells, MERGE, PATCH).transpose(1, 4, 2, 5, 0, 3, 6)
    rows = split.reshape(-1, 3, 1, PATCH * PATCH)
    return np.repeat(rows, FRAMES, axis=2).reshape(len(rows), -1)


class BatchSampler:
    """Draws batches from a pool."""

    def __init__(self, pool: Pool, speech: ChatEncoder, seed: int) -> None:
        self._pool, self._speech = pool, speech
        self._rng = np.random.default_rng([seed, 1])
        rows = pool.rows
        self._seen = {"V2": [row for row in rows if row.whole.shown >= _READABLE],
                      "V1": [row for row in rows if row.small.shown >= _READABLE]}  # fmt: skip

    def batch(self, size: int, stage: Stage, *, apart: bool = False) -> Batch:
        """So many showings, a chat about each for its letter, for every second one for its word, and a few blind.

        `apart`: no chat is about a showing, and more of them tell the answer.
        """
        shares = _SHARES[stage]
        conditions = self._rng.choice(list(shares), size, p=list(shares.values()))
        shown = [self._shown(str(condition), _LEAST[stage]) for condition in conditions]
        blind = [self._blind() for _ in range(_BLIND)]
        if apart:
            return Batch(shown, [*(self._told() for _ in shown), *blind])
        chats = [self._lettered(each, number) for number, each in enumerate(shown)]
        chats += [self._worded(each, number) for number, each in enumerate(shown) if number % 2]
        return Batch(shown, [*chats, *(self._told() for _ in range(_TOLD)), *blind])

    def _shown(self, condition: str, least: float) -> LessonRasters:
        while True:
            row = self._row(condition)
            part = row.parts[int(self._rng.integers(len(row.parts)))]
            kept = {"V1": [row.small], "V2": [row.whole], "V3": [part], "V4": [row.whole, part], "close": [row.close]}
            if max(each.shown for each in kept[condition]) >= least:
                return self._turned("V3" if condition == "close" else condition, row, kept[condition])

    def _row(self, condition: str) -> PoolLesson:
        some = self._pool.rows
        if condition in self._seen and self._rng.random() >= _UNREADABLE:
            some = self._seen[condition]
        return some[int(self._rng.integers(len(some)))]

    def _turned(self, condition: str, row: PoolLesson, kept: Sequence[PoolRaster]) -> LessonRasters:
        """Rasters turned by quarters and mirrored, with the direction as it is then."""
        quarters, mirrored = int(self._rng.integers(4)), self._rng.random() < 0.5
        direction = (row.direction + quarters) % len(DIRECTIONS)  # clockwise, from up
        direction = -direction % len(DIRECTIONS) if mirrored else direction
        pixels = [np.rot90(self._pool.pixels(each), -quarters) for each in kept]
        pixels = [each[:, ::-1] if mirrored else each for each in pixels]
        return LessonRasters(condition, tuple(pixels), row.colour, direction, tuple(each.shown for each in kept))

    def _attribute(self) -> Attribute:
        return "direction" if self._rng.random() < _PART_OF_DIRECTION else "colour"

    def _lettered(self, shown: LessonRasters, number: int) -> TrainingChat:
        attribute = self._attribute()
        asked = self._one(questions(attribute, shown.condition))
        target = self._speech.letters[asked.words.index(shown.word(attribute))]
        return TrainingChat(self._speech.prompt(asked.text, shown.visual_tokens), number, target)

    def _worded(self, shown: LessonRasters, number: int) -> TrainingChat:
        attribute = self._attribute()
        text = open_question(attribute, shown.condition)
        return TrainingChat(
            self._speech.prompt(text, shown.visual_tokens), number, self._speech.word(shown.word(attribute))
        )

    def _told(self) -> TrainingChat:
        attribute = self._one(ATTRIBUTES)
        word = self._one(WORDS[attribute])
        asked = self._one(told(attribute, word))
        return TrainingChat(self._speech.prompt(asked.text), None, self._speech.letters[asked.words.index(word)])

    def _blind(self) -> TrainingChat:
        asked = self._one(questions(self._one(ATTRIBUTES), "V0"))
        return TrainingChat(self._speech.prompt(asked.text), None, ANYTHING)

    def _one(self, some: Sequence[_Any]) -> _Any:
        return some[int(self._rng.integers(len(some)))]
