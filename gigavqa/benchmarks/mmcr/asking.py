"""Ask a question: one turn behind the pages, its options in one of their rotations.

A protocol is a letter and a rotation: `N2` asks without a chain of thought and shows the third option first, `C` asks
for a chain of thought, `I` does as InternVL2.5's developers do.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from gigavqa.benchmarks.mmcr.prompts import read_texts
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import MOST_OPTIONS
from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Condition, Turn
from gigavqa.evaluation.benchmark import FORCED, TEXT_CONDITIONS, Chat, Scene
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.tiling.views import View

PROMPT_FAMILIES = {
    "N": "without a chain of thought",
    "C": "with a chain of thought",
    "I": "with InternVL's chain of thought",
}
ANNOUNCED = frozenset("CI")
"""The families whose prompts ask for an announcement of the answer."""
ROTATIONS = range(MOST_OPTIONS)


class RotationProtocol(NamedTuple):
    """A protocol: the way of asking, and the number of places by which the options are shifted."""

    family: str
    rotation: int

    @classmethod
    def of(cls, name: str) -> "RotationProtocol":
        """Read a protocol's name, such as `C3`."""
        return cls(name[:1], int(name[1:]))

    def __str__(self) -> str:
        return f"{self.family}{self.rotation}"


def describe_protocols() -> dict[str, str]:
    """Return all protocols, in order, with a few words on each."""
    return {
        str(RotationProtocol(family, rotation)): f"{told}, options shifted by {rotation}" if rotation else told
        for family, told in PROMPT_FAMILIES.items()
        for rotation in ROTATIONS
    }


ShownWords = Literal["mmcr-shown/2", "mmcr-shown/1"]


class MMCROptions(BaseModel):
    """The options that a job may set: words, by version."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    i: Literal["mmcr-i/2", "mmcr-i/1"] = Field(
        default="mmcr-i/2", description="the words of InternVL's chain of thought (I), by version"
    )
    shown: ShownWords = Field(default="mmcr-shown/2", description="what prompts say of the pages, by version")


def ask(question: MMCRSample, cell: Cell, scene: Scene) -> Chat:
    """Ask a question in one turn behind what the condition shows. Raises EvidenceMissingError."""
    protocol = RotationProtocol.of(cell.protocol)
    views = scene.views(
        cell.condition,
        lambda: evidence_pages(question, scene, cell.condition),
        lambda: evidence_positions(question),
    )
    options: MMCROptions = scene.shared or MMCROptions()
    name = "i-1" if protocol.family == "I" and options.i == "mmcr-i/1" else protocol.family.lower()
    prompt, body, shown = read_texts(name), read_texts("body"), _shown_texts(options.shown)
    slots = {
        "shown": _options_text(question, scene, cell.condition, shown),
        "body": _question_text(question, protocol.rotation),
    }
    text = prompt["prompt"].format(**slots).strip()
    text = text if views else f"{text}\n\n{body['forced' if cell.condition == FORCED else 'abstention']}"
    return Chat(views, (Turn(parts=(text,)),), "+".join(texts["version"] for texts in (prompt, body, shown)))


def _question_text(question: MMCRSample, rotation: int) -> str:
    texts = read_texts("body")
    lines = (texts["option"].format(letter=at, text=text) for at, text in question.shown(rotation).items())
    body = texts["body"].strip().format(question=question.question.strip(), options="\n".join(lines))
    return f"{texts['hint'].format(hint=question.hint)}\n{body}" if question.hint else body


def _shown_texts(version: ShownWords) -> dict[str, str]:
    return {**read_texts("shown"), **(read_texts("shown-1") if version == "mmcr-shown/1" else {})}


def _options_text(question: MMCRSample, scene: Scene, condition: Condition, texts: Mapping[str, str]) -> str:
    count, pages = len(scene.images), question.evidence.pages
    if condition in TEXT_CONDITIONS:
        return texts["V0"]
    if condition == "V5":
        left_out = {question.images[page - 1] for page in pages}
        pages = tuple(page for page, image in enumerate(question.images, start=1) if image not in left_out)
    listed = texts["page" if len(pages) == 1 else "pages"].format(numbers=", ".join(map(str, pages)))
    name = f"one_{condition}" if count == 1 else condition
    return texts[name].format(count=count, count_all=count, pages=listed)


def evidence_pages(question: MMCRSample, scene: Scene, condition: str) -> tuple[View, ...]:
    """Return the annotated pages, whole and natively. Raises EvidenceMissingError for a question without any."""
    if not question.evidence.pages:
        raise EvidenceMissingError(describe_missing_evidence(question, condition))
    return tuple(View(image=scene.images[page - 1]) for page in question.evidence.pages)


def evidence_positions(question: MMCRSample) -> tuple[int, ...]:
    """Return which images hold the evidence, counted from 0."""
    return tuple(page - 1 for page in question.evidence.pages)


def describe_missing_evidence(question: MMCRSample, condition: str) -> str:
    """Say what keeps a question from a condition that shows its evidence."""
    return f"sample '{question.id}': no evidence pages, which {condition} shows"
