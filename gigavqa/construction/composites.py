"""The pictures that a build composes of the annotated ones: in a folder of their own, each written once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.construction.annotation_lines import image_line, read_image_line
from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.errors import BuildError
from gigavqa.construction.images import FolderImages
from gigavqa.construction.readers.reader import ReaderOptions
from gigavqa.construction.readers.registry import find_reader
from gigavqa.construction.recipes.recipe import AdjustableRecipe, ComposingRecipe, Composite, QuestionRecipe
from gigavqa.construction.recipes.registry import installed_recipes
from gigavqa.reports.writers.verdict_files import open_whole_file

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


def compose_alone(
    source: Path, target: Path, parameters: Mapping[str, str], seed: int
) -> tuple[list[Composite], Omissions]:
    """Compose pictures of a folder of annotated ones into another folder, without a build, and say how beside them.

    What is there already of the same content is not written again. Raises BuildError where nothing composes of them.
    """
    omissions, images = Omissions(), FolderImages(source)
    pictures = list(find_reader(source).read(source, images, omissions, ReaderOptions()))
    recipes = (recipe for recipe in installed_recipes().values() if isinstance(recipe, ComposingRecipe))
    found = next((recipe for recipe in recipes if pictures and recipe.takes(pictures[0])), None)
    if found is None:
        raise BuildError(
            f"{source}: holds no pictures that grids are made of: give a product's folder of MVTec LOCO AD"
        )
    target.mkdir(parents=True, exist_ok=True)
    recipe = found.adjusted(parameters) if isinstance(found, AdjustableRecipe) else found
    made = list(recipe.compose(pictures, source, target, omissions, seed))
    document = {"pictures": [one.document for one in made], "omissions": omissions.document()}
    with open_whole_file(target / _DOCUMENT) as file:
        file.write(json.dumps(document, indent=1).encode() + b"\n")
    return made, omissions
