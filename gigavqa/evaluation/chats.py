"""Scenes and chats: what a sample can be shown, and the chat that a benchmark makes of that."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from gigavqa.contract.requests import Condition, Turn
from gigavqa.contract.tool_loops import ToolLoop
from gigavqa.evaluation.errors import AnnotationInvalidError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View

CONDITIONS: tuple[Condition, ...] = ("V0", "V1", "V2", "V3", "V4")
"""Those of benchmarks that name none; the others suit samples of some kinds alone, and a benchmark names them."""
LOCAL_CONDITIONS = frozenset({"V3", "V4"})
"""The conditions that show local evidence, so that a sample must have some."""
SOURCE_CONDITIONS = frozenset({"V5", "V6"})
"""The conditions that tell images with evidence from others: they leave them out, or show them alone."""
TEXT_CONDITIONS = frozenset({"V0", "V0F"})
"""The conditions that show nothing."""
FORCED: Condition = "V0F"
"""V0 whose prompt requires an answer, where that of V0 allows to give none."""

SizeOf = Callable[[str], Size]
"""Gives an image's level-0 size by its name."""


@dataclass(frozen=True)
class Scene:
    """The scene of a sample: its images as views name them, and what fixes every draw.

    `size_of` is asked for an image only where local evidence needs it. `thumbnail` is V1's longest side in pixels.
    `shared` is what the benchmark's `prepare` made for all samples of the job.
    """

    images: tuple[str, ...]
    size_of: SizeOf
    seed: str
    thumbnail: int = 1024
    shared: Any = None

    def thumbnails(self) -> tuple[View, ...]:
        """Return V1's views: every image downsampled."""
        return tuple(View(image=image, sizing=f"longest:{self.thumbnail}") for image in self.images)

    def full(self) -> tuple[View, ...]:
        """Return V2's views: every image natively."""
        return tuple(View(image=image) for image in self.images)

    def views(
        self,
        condition: Condition,
        local: Callable[[], tuple[View, ...]] = tuple,
        sources: Callable[[], Collection[int]] = tuple,
    ) -> tuple[View, ...]:
        """Return the views of a condition in order.

        `local` declares the local evidence, and is asked for V3 and V4 alone; `sources` tells which images hold
        evidence, counted from 0, and is asked for V5 and V6 alone.
        """
        if condition in SOURCE_CONDITIONS:
            held = {self.images[at] for at in sources()}  # one image may stand at several places
            return tuple(view for view in self.full() if (view.image in held) is (condition == "V6"))
        full = self.full() if condition in ("V2", "V4") else self.thumbnails() if condition == "V1" else ()
        found = tuple(local()) if condition in LOCAL_CONDITIONS else ()
        if wrong := [each for each in found if not isinstance(each, View)]:
            raise AnnotationInvalidError(
                f"the benchmark declares local evidence as {wrong[0]!r}, in place of View(image=..., region=...)"
            )
        return full + found


@dataclass(frozen=True)
class Chat:
    """The chat that asks one sample in one cell, whatever the model and the repeat.

    All views come before the first turn's text. `details` say what else is to be known of how it was asked; `loop`
    declares what may be asked of the worker from the last turn on.
    """

    views: tuple[View, ...]
    turns: tuple[Turn, ...]
    prompt_version: str
    details: dict[str, JsonValue] = field(default_factory=dict)
    system: str | None = None
    loop: ToolLoop | None = None
