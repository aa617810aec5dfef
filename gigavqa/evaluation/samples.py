"""The core's view of a sample: a question about images. Benchmarks add their own fields."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from gigavqa.tiling.displays.display import canonical_display
from gigavqa.tiling.errors import ImageAddressError
from gigavqa.tiling.remote.addresses import check_remote_name, is_remote_name


def _check_address(image: str) -> None:
    try:
        check_remote_name(image)
    except ImageAddressError as error:
        raise ValueError(str(error)) from error


EXAMPLES: Literal["examples"] = "examples"
"""The split of samples that are set apart to be told as examples."""


class Sample(BaseModel):
    """One question about one image, or several.

    Names of images are relative to the data set's folder, or addresses of images elsewhere. `show` says of each image
    how its samples become colours, '' where the data set does; a record may say one for all. One whose `split` is
    `examples` is never asked: prompts may tell it as a worked example. `extra` keeps the record's other keys as they
    were.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[^\s/]+$", max_length=200)
    images: tuple[str, ...] = ()
    show: tuple[str, ...] | None = None
    split: Literal["examples"] | None = None
    question: str = Field(min_length=1)
    options: dict[str, str] | None = None
    extra: dict[str, Any] = {}

    def show_of(self, image: str) -> str:
        """Return how the record itself declares that one of its images is shown; nothing where it does not."""
        return next((show for name, show in zip(self.images, self.show or (), strict=False) if name == image), "")

    @property
    def truth(self) -> str:
        """The true answer as people read it; empty where it is not known."""
        return ""

    @property
    def awaited(self) -> bool:
        """Whether its record awaits an answer of people, also where they have given it since."""
        return False

    @property
    def scored(self) -> bool:
        """Whether the answer is known, so that replies count."""
        return bool(self.truth)

    @property
    def chance(self) -> float:
        """The share of blind guesses that are right: one in as many as there are options, and none without options."""
        return 1 / len(self.options) if self.options else 0.0

    @property
    def groups(self) -> Mapping[str, str]:
        """The groups of the sample: a name for each level of its benchmark's grouping, and whatever else sorts it."""
        return {}

    @field_validator("images")
    @classmethod
    def _images_stay_inside(cls, images: tuple[str, ...]) -> tuple[str, ...]:
        for image in images:
            if is_remote_name(image):
                _check_address(image)
            elif not image or image.startswith(("/", "\\", "~")) or ".." in image.replace("\\", "/").split("/"):
                raise ValueError(
                    f"image '{image}' does not lie in the data set's folder: absolute paths and '..' are refused"
                )
        return images

    @field_validator("show", mode="before")
    @classmethod
    def _one_for_each_image(cls, given: Any, info: ValidationInfo) -> Any:
        images = info.data.get("images", ())
        if isinstance(given, str):
            given = (given,) * len(images)
        if not isinstance(given, list | tuple) or not all(isinstance(show, str) for show in given):
            raise ValueError("show: is neither a display nor a list of them, one for each image")
        if len(given) != len(images):
            raise ValueError(f"show: has {len(given)} displays for {len(images)} images")
        shows = tuple(map(canonical_display, given))
        if again := [
            image
            for image in images
            if len({show for name, show in zip(images, shows, strict=True) if name == image}) > 1
        ]:
            raise ValueError(f"show: '{again[0]}' is shown in two ways; ask about it in two records")
        return shows if any(shows) else None
