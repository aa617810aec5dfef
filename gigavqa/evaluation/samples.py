"""The core's view of a sample: a question about images. Benchmarks add their own fields."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from gigavqa.tiling.errors import ImageAddressError
from gigavqa.tiling.remote.addresses import check_remote_name, is_remote_name


def _check_address(image: str) -> None:
    try:
        check_remote_name(image)
    except ImageAddressError as error:
        raise ValueError(str(error)) from error


class Sample(BaseModel):
    """One question about one image, or several.

    Names of images are relative to the data set's folder, or addresses of images elsewhere. `extra` keeps the record's
    other keys as they were.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[^\s/]+$", max_length=200)
    images: tuple[str, ...] = ()
    question: str = Field(min_length=1)
    options: dict[str, str] | None = None
    extra: dict[str, Any] = {}

    @property
    def truth(self) -> str:
        """The true answer as people read it; empty where it is not known."""
        return ""

    @property
    def scored(self) -> bool:
        """Whether the answer is known, so that replies count."""
        return bool(self.truth)

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
