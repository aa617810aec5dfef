"""Stage 1: what a picture shows that has a name, in two passes over it; and the entities of the file that these are."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gigavqa.construction.calls.model_call import CallPicture, ModelCall
from gigavqa.construction.vistahop.dialogues import Dialogue, asked
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, KnownEntity
from gigavqa.construction.vistahop.names import folded_text
from gigavqa.construction.vistahop.picture_filter import LEAST_ENTITIES
from gigavqa.construction.vistahop.printed_prompts import printed_prompt
from gigavqa.tiling.geometry import Size, fit_longest_side

LONGEST_SIDE = 4096
SIZING = f"longest:{LONGEST_SIDE}"
"""How the picture of a call is shown, in both passes alike, so that its raster is rendered and encoded once."""

MOST_NAMES = 100
_LONGEST_NAME = 120
_BULLET = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_UNSEEN = "not clearly visible"


class VisualEntity(NamedTuple):
    """Something in a picture: its name as it was read, how it looks there, and the entity that it is."""

    name: str
    description: str
    entity: KnownEntity


class PictureEntities(NamedTuple):
    """What can be a seed in a picture, and how many of what came in between, by name.

    `is_rich` says whether there are as many as table 2 wants: at least two that are visible and linked.
    """

    entities: tuple[VisualEntity, ...]
    counts: Mapping[str, int]

    @property
    def is_rich(self) -> bool:
        """Whether the picture is kept."""
        return len(self.entities) >= LEAST_ENTITIES


@dataclass(frozen=True)
class NamesQuestion:
    """Pass 1: which named entities a picture shows. Answered by names, each once whatever its case."""

    picture: CallPicture
    size: Size

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        return printed_prompt("entity_names").call(model, _shown_size(self.size), pictures=(self.picture,))

    def read(self, value: Any) -> tuple[str, ...]:
        """Return the lines of a reply; what is too long for a name is none."""
        names: dict[str, str] = {}
        for line in value.splitlines():
            name = _BULLET.sub("", line.strip()).strip(" *\"'")
            if 0 < len(name) <= _LONGEST_NAME:
                names.setdefault(folded_text(name), name)
        return tuple(names.values())[:MOST_NAMES]


@dataclass(frozen=True)
class DescriptionsQuestion:
    """Pass 2: how entities look in the picture. Answered by a text each; empty of what is not clearly visible."""

    picture: CallPicture
    size: Size
    names: tuple[str, ...]

    def call(self, model: str) -> ModelCall:
        """Return the call."""
        values = {**_shown_size(self.size), "entities_str": "\n" + "\n".join(self.names)}
        return printed_prompt("descriptions").call(model, values, pictures=(self.picture,))

    def read(self, value: Any) -> tuple[str, ...]:
        """Return descriptions in the order of the names; of two lines for a name the first counts."""
        told: dict[str, str] = {}
        for line in value.splitlines():
            name, bar, text = _BULLET.sub("", line.strip()).partition("|")
            if bar:
                told.setdefault(folded_text(name.strip(" *")), text.strip())
        found = (told.get(folded_text(name), "") for name in self.names)
        return tuple("" if _UNSEEN in folded_text(text) else text for text in found)


def picture_entities(picture: CallPicture, size: Size, knowledge: KnowledgeIndex) -> Dialogue[PictureEntities]:
    """Find the entities of a picture; `size` is its own. A name that several entities have is no one's."""
    counts: Counter[str] = Counter()
    names: Sequence[str] = (yield from asked(NamesQuestion(picture, size))) or ()
    counts["named"] = len(names)
    if not names:
        return PictureEntities((), dict(counts))
    texts = yield from asked(DescriptionsQuestion(picture, size, tuple(names)))
    found: dict[str, VisualEntity] = {}
    for name, text in zip(names, texts or ("",) * len(names), strict=True):
        known = knowledge.find(name) if text else []
        if len(known) != 1:
            counts["not_visible" if not text else "ambiguous" if known else "unknown"] += 1
        elif found.setdefault(known[0].id, VisualEntity(name, text, known[0])).name != name:
            counts["twice"] += 1
    return PictureEntities(tuple(found.values()), dict(sorted(counts.items())))


def _shown_size(size: Size) -> dict[str, object]:
    shown = fit_longest_side(size, LONGEST_SIDE)
    return {"processed_width": shown.width, "processed_height": shown.height}
