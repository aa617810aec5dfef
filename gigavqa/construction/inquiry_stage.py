"""The stage of a build that asks a model, and what it keeps: images with additions, each addition, and what is not."""

from collections.abc import Iterator, Sequence
from typing import Any

from gigavqa.construction.annotation_lines import image_line, read_image_line
from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.construction.calls.estimates import StageForecast
from gigavqa.construction.errors import BuildError
from gigavqa.construction.inquiries import AskingRecipe, Images, Inquiry, InquiryScope, ModelAdditions
from gigavqa.construction.recipes.recipe import QuestionRecipe
from gigavqa.construction.recipes.registry import recipes_of

_IMAGES, _ADDITIONS, _LEFT = "asked.jsonl", "additions.jsonl", "asked.json"
INQUIRY_FILES = (_IMAGES, _ADDITIONS, _LEFT)


class InquiryStage:
    """The inquiries of a build's recipes."""

    def __init__(self, folder: BuildFolder, inquiries: Sequence[Inquiry]) -> None:
        self._folder = folder
        self._inquiries = inquiries

    @classmethod
    def wanted(cls, folder: BuildFolder, recipes: Sequence[QuestionRecipe], benchmark: str) -> "InquiryStage":
        """Return the stage of these recipes. Raises BuildError where none of them asks a model anything."""
        found = [one for recipe in recipes if isinstance(recipe, AskingRecipe) for one in recipe.inquiries]
        if not found:
            asking = [name for name, one in recipes_of(benchmark).items() if isinstance(one, AskingRecipe)]
            told = f"{', '.join(asking)} do" if asking else f"no recipe of {benchmark} does; leave --ask out"
            raise BuildError(f"--ask: no recipe of this build asks a model; {told}")
        return cls(folder, found)

    @property
    def versions(self) -> list[str]:
        """Of the inquiries: what calls and the reading of their replies hang on."""
        return [one.version for one in self._inquiries]

    def images(self) -> Iterator[AnnotatedImage]:
        """Yield the annotated images with what was added."""
        return map(read_image_line, self._folder.read_lines(_IMAGES))

    def is_there(self) -> bool:
        """Return whether images with additions were written, of whatever answers there were."""
        return self._folder.file(_IMAGES).is_file()

    def is_complete(self) -> bool:
        """Return whether no question waits for an answer."""
        return not self._folder.read_json(_LEFT)["open"]

    def omissions(self) -> dict[str, Any]:
        """Return the JSON of what was not kept, or not answered yet."""
        found: dict[str, Any] = self._folder.read_json(_LEFT)["omissions"]
        return found

    def forecast(self, desk: CallDesk, images: Images, scope: InquiryScope) -> list[StageForecast]:
        """Return what the calls take, as far as they are known before others are answered; asks nothing."""
        self._prepare(scope)
        first = (call for one in self._inquiries for call in one.calls(images(), scope))
        later = [
            StageForecast(stage, scope.entry.id, None, None, after=one.version.partition("/")[0])
            for one in self._inquiries
            for stage in one.later
        ]
        return desk.forecast(first, later)

    def ask(self, desk: CallDesk, images: Images, scope: InquiryScope) -> None:
        """Ask what is not answered yet, as far as the budget goes, and write what is known then."""
        self._prepare(scope)
        found = ModelAdditions()
        self.forecast(desk, images, scope)
        for inquiry in self._inquiries:
            inquiry.ask(desk, images, scope, found)
        self._folder.write_lines(_IMAGES, map(image_line, found.added_to(images())))
        self._folder.write_lines(_ADDITIONS, found.lines())
        self._folder.write_json(_LEFT, {"open": found.open, "omissions": found.omissions.document()})

    def _prepare(self, scope: InquiryScope) -> None:
        scope.drawn.mkdir(parents=True, exist_ok=True, mode=0o700)
