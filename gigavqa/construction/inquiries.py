"""Inquiries: what recipes ask a model where people added nothing, and what of its replies becomes additions."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Omissions
from gigavqa.construction.calls.call_desk import CallDesk, CallOutcome, OpenCall
from gigavqa.construction.calls.model_call import CallPicture, ModelCall
from gigavqa.construction.calls.replies import ReplyReader
from gigavqa.construction.images import FolderImages
from gigavqa.construction.recipes.recipe import RecipeContext

T = TypeVar("T")
Images = Callable[[], Iterable[AnnotatedImage]]


class InquiryScope(NamedTuple):
    """What an inquiry asks with: a model, the annotated images, and a folder for pictures that are drawn for calls."""

    entry: CatalogueEntry
    images: FolderImages
    drawn: Path
    context: RecipeContext

    def picture(self, image: AnnotatedImage, region: str) -> CallPicture | None:
        """Return a region of an image as a call shows it, read from the image itself; None where it is no one file."""
        path = self.images.folder / image.image
        if not path.is_file():
            return None
        whole = _picture(path, tuple(self.images.version_of(image.image)))
        return replace(whole, region=region)


@dataclass
class ModelAdditions:
    """What a model added: attributes by object, landmarks by image, and the ids of calls that each rests on.

    `omissions` count what was asked and not kept, or not asked, by reason; `open` are questions that wait for answers.
    """

    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    landmarks: dict[str, list[Annotation]] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)
    omissions: Omissions = field(default_factory=Omissions)
    open: int = 0

    def added_to(self, images: Iterable[AnnotatedImage]) -> Iterator[AnnotatedImage]:
        """Yield images with what was added; what people said of the same stands."""
        for image in images:
            marks = tuple(
                replace(one, attributes={**self.attributes[one.id], **one.attributes})
                if one.id in self.attributes
                else one
                for one in image.annotations
            )
            yield replace(
                image, annotations=marks, landmarks=image.landmarks or tuple(self.landmarks.get(image.image, ()))
            )

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield each addition as JSON, with the calls that it rests on."""
        for one, attributes in self.attributes.items():
            yield {"object": one, "attributes": attributes, "calls": self.calls[one]}
        for image, marks in self.landmarks.items():
            for mark in marks:
                told = {"image": image, "id": mark.id, "box": list(mark.box), "attributes": dict(mark.attributes)}
                yield {**told, "calls": self.calls[mark.id]}

    def wait(self, inquiry: str, outcomes: Iterable[CallOutcome]) -> bool:
        """Return whether one of a question's calls is open, and count the question if so."""
        why = next((one.why for one in outcomes if isinstance(one, OpenCall)), None)
        if why is None:
            return False
        self.open += 1
        self.omissions.add(
            f"{inquiry}-open", f"{inquiry}: not answered yet: {why}; the same command again asks the rest"
        )
        return True


class Inquiry(Protocol):
    """A question to models about annotated images, in calls of its own stages."""

    version: str
    """Changes whenever calls or the reading of replies change: `cues/1`."""
    later: Sequence[str]
    """Stages whose calls hang on the answers of the first one."""

    def calls(self, images: Iterable[AnnotatedImage], scope: InquiryScope) -> Iterator[ModelCall]:
        """Yield the calls of the first stage. Raises BuildError where the model cannot be asked."""

    def ask(self, desk: CallDesk, images: Images, scope: InquiryScope, found: ModelAdditions) -> None:
        """Ask, as far as the desk's budget goes, and put into `found` what is kept, and why the rest is not."""


@runtime_checkable
class AskingRecipe(Protocol):
    """A recipe that can ask a model for what people would else add."""

    inquiries: Sequence[Inquiry]


def ask_in_groups(
    desk: CallDesk, groups: Iterable[tuple[T, Sequence[ModelCall]]], read: ReplyReader | None = None
) -> Iterator[tuple[T, list[CallOutcome]]]:
    """Yield what came of each group's calls, which are one question together; a group has a call at least.

    Groups of one wave of calls are in memory at a time.
    """
    waiting: deque[tuple[T, int]] = deque()

    def calls() -> Iterator[ModelCall]:
        for about, each in groups:
            waiting.append((about, len(each)))
            yield from each

    held: list[CallOutcome] = []
    for outcome in desk.ask(calls(), read):
        held.append(outcome)
        if len(held) == waiting[0][1]:
            yield waiting.popleft()[0], held
            held = []


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has just these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=1024)
def _picture(path: Path, version: tuple[str | int, ...]) -> CallPicture:
    """Digest an image once; one of another version is another."""
    return CallPicture.of(path)
