"""The pictures that a build composes of the annotated ones: in a folder of their own, each written once."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gigavqa.construction.annotation_lines import image_line, read_image_line
from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.recipes.recipe import ComposingRecipe, QuestionRecipe

_LINES, _DOCUMENT = "composites.jsonl", "composition.json"
COMPOSITE_FILES = (_LINES, _DOCUMENT)


class Composites:
    """What a recipe composes for a build."""

    def __init__(self, folder: BuildFolder, recipe: ComposingRecipe) -> None:
        self._folder, self._recipe = folder, recipe
        self.path: Path = folder.file("composites")

    @classmethod
    def wanted(
        cls, folder: BuildFolder, recipes: Sequence[QuestionRecipe], first: AnnotatedImage
    ) -> "Composites | None":
        """Return what is to be composed of pictures such as this one; None where no recipe composes of them."""
        composing = (recipe for recipe in recipes if isinstance(recipe, ComposingRecipe) and recipe.takes(first))
        return next((cls(folder, recipe) for recipe in composing), None)

    @property
    def version(self) -> str:
        """Changes whenever other pictures are composed of the same ones."""
        return self._recipe.composition

    def images(self) -> Iterator[AnnotatedImage]:
        """Yield the composed pictures as annotated images."""
        return map(read_image_line, self._folder.read_lines(_LINES))

    def are_there(self) -> bool:
        """Return whether no file of a composed picture is missing."""
        return all((self.path / image.image).is_file() for image in self.images())

    def omissions(self) -> dict[str, Any]:
        """Return the JSON of what was not composed of."""
        found: dict[str, Any] = self._folder.read_json(_DOCUMENT)["omissions"]
        return found

    def compose(self, pictures: Iterator[AnnotatedImage], images: Path, seed: int) -> None:
        """Compose what is not there yet, and delete what is of other settings."""
        omissions = Omissions()
        self.path.mkdir(exist_ok=True)
        made = list(self._recipe.compose(pictures, images, self.path, omissions, seed))
        self._folder.write_lines(_LINES, (image_line(one.image) for one in made))
        documents = [one.document for one in made]
        self._folder.write_json(_DOCUMENT, {"pictures": documents, "omissions": omissions.document()})
        kept = {one.image.image for one in made}
        for path in self.path.iterdir():
            if path.name not in kept:
                path.unlink()
