"""The work of every contender: the same pictures, questions and lengths, written once for all of them."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.tiling.geometry import Size

_QUESTION = (
    "Question {number} of picture {picture}: how many bright squares lie in row {number}, and which colour has the "
    "largest of them? Answer with a number and a colour."
)


@dataclass(frozen=True)
class Workload:
    """Requests on a model: each question is asked of its picture, `max_tokens` are answered, `at_once` are in flight.

    With `caches` off nothing is kept between requests: neither prefixes nor preprocessed or encoded pictures.
    """

    entries: tuple[dict[str, Any], ...]
    folder: str
    pictures: tuple[str, ...]
    warm_picture: str
    questions: int
    max_tokens: int
    at_once: int = 64
    caches: bool = True

    @property
    def entry(self) -> CatalogueEntry:
        """The first model's entry, with its caches as they are wanted."""
        return self.models[0]

    @property
    def models(self) -> tuple[CatalogueEntry, ...]:
        """The entries of all models."""
        off = {} if self.caches else {"enable_prefix_caching": False, "mm_processor_cache_gb": 0}
        entries = (CatalogueEntry.model_validate(entry) for entry in self.entries)
        return tuple(entry.model_copy(update={"engine": {**entry.engine, **off}}) for entry in entries)

    @property
    def requests(self) -> list[tuple[str, str]]:
        """Picture and question of each request, one picture after the other."""
        return [(picture, text) for picture in self.pictures for text in questions_of(picture, self.questions)]

    @property
    def repeated_tokens(self) -> int:
        """Visual tokens of the prompts that were in one before: who prefills all others once does no work twice."""
        budget, found = self.entry.visual_budget, 0
        for path in self.pictures:
            with Image.open(path) as picture:
                found += (self.questions - 1) * budget.plan(Size(*picture.size)).visual_tokens
        return found

    @classmethod
    def read(cls, path: Path) -> "Workload":
        """Read what `write` wrote."""
        fields = json.loads(path.read_text())
        return cls(**fields | {name: tuple(fields[name]) for name in ("entries", "pictures")})

    def write(self, path: Path, **changes: Any) -> None:
        """Write it, changed, for a process that plays it."""
        path.write_text(json.dumps(asdict(replace(self, **changes))))


def questions_of(picture: str, number: int) -> list[str]:
    """Return the questions of one picture."""
    return [_QUESTION.format(number=each + 1, picture=Path(picture).stem) for each in range(number)]


def draw_pictures(folder: Path, number: int, side: int) -> list[str]:
    """Draw JPEGs at a model's own budget, where its preprocessing leaves every pixel; nothing is alike in any two."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for each in range(number):
        path = folder / f"p{each:03d}.jpg"
        if not path.exists():
            draw = np.random.default_rng(each)
            squares = draw.integers(0, 255, (side // 32, side // 32, 3), np.uint8)
            Image.fromarray(squares).resize((side, side), Image.Resampling.BICUBIC).save(path, quality=92)
        paths.append(str(path))
    return paths
