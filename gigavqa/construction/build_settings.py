"""What a build is made of: sources, recipes, quotas and seed."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from gigavqa.construction.recipes.recipe import CategoryNames


class BuildSettings(BaseModel):
    """The settings of a build, as `build.json` keeps them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Path = Field(description="the file or folder of annotations")
    images: Path = Field(description="the folder of images")
    form: str | None = Field(default=None, description="the form of the annotations, where the content fits several")
    recipes: tuple[str, ...] = Field(default=(), description="which recipes; all that the annotations allow if empty")
    per_image: PositiveInt = Field(default=12, description="questions of an image at most")
    per_recipe: NonNegativeInt = Field(default=0, description="questions of a recipe at most; 0 is no bound")
    seed: NonNegativeInt = 0
    names: dict[str, CategoryNames] = Field(default={}, description="what categories are called: one, several")
    title: str = ""
