"""What a build is made of: sources, recipes, quotas and seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.errors import BuildError
from gigavqa.construction.readers.reader import ReaderOptions
from gigavqa.construction.recipes.recipe import CategoryNames

SETTINGS = "build.json"
_OF_CALLS = frozenset({"ask", "at_most_calls", "at_most", "rates"})


class BuildSettings(BaseModel):
    """The settings of a build, as `build.json` keeps them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Path = Field(description="the file or folder of annotations")
    images: Path = Field(description="the folder of images")
    form: str | None = Field(default=None, description="the form of the annotations, where their content fits several")
    options: ReaderOptions = Field(default=ReaderOptions(), description="what readers must be told")
    benchmark: str = Field(default="questions", description="whose records the questions are")
    recipes: tuple[str, ...] = Field(default=(), description="which recipes; all that the annotations allow if empty")
    per_image: NonNegativeInt | None = Field(default=None, description="questions of an image at most; 0: no bound")
    per_recipe: NonNegativeInt | None = Field(default=None, description="questions of a recipe at most; 0: no bound")
    parameters: dict[str, str] = Field(default={}, description="what is chosen of recipes, by their parameters")
    examples: NonNegativeInt = Field(default=0, description="pictures of each category set apart as examples")
    seed: NonNegativeInt = 0
    landmarks: Path | None = Field(default=None, description="annotations of places that people describe")
    attributes: Path | None = Field(default=None, description="a table of further attributes, by the ids of objects")
    bundles: Path | None = Field(default=None, description="a file of bundles: objects by their attributes, with names")
    names: dict[str, CategoryNames] = Field(default={}, description="what categories are called: one, several")
    title: str = ""
    ask: str = Field(default="", description="the model that is asked for what people did not add; none if empty")
    at_most_calls: PositiveInt | None = Field(default=None, description="calls that the build ever asks at most")
    at_most: str = Field(default="", description="what the build's calls may cost at most, such as 20 EUR")
    rates: dict[str, float] = Field(default={}, description="what one of a currency is in US dollars")

    def document(self) -> dict[str, Any]:
        """Return them as JSON; those of calls where a model is asked alone."""
        return self.model_dump(mode="json", exclude=None if self.ask else set(_OF_CALLS))

    @classmethod
    def of(cls, folder: BuildFolder, given: Mapping[str, Any]) -> "BuildSettings":
        """Return the settings of the last time with what is given now. Raises BuildError where sources are missing."""
        before = folder.read_json(SETTINGS) if folder.file(SETTINGS).is_file() else {}
        both = {**before, **given, "options": {**before.get("options", {}), **given.get("options", {})}}
        if missing := [name for name in ("source", "images") if name not in both]:
            told = {"source": "--from FILE", "images": "--images FOLDER"}[missing[0]]
            raise BuildError(f"'{folder.name}' is a new build: give {told}")
        try:
            return cls.model_validate(both)
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"]))
            told = f"--{place.rpartition('.')[2].replace('_', '-')}: {wrong['msg']}"
            if wrong["loc"][0] not in given:
                told = f"{folder.file(SETTINGS)}: {place}: {wrong['msg']}; delete the file to begin anew"
            raise BuildError(told) from error
