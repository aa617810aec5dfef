"""The options of a job: those of the conditions, which every benchmark has, and those of its own benchmark."""

from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gigavqa.contract.jobs import OptionValue
from gigavqa.evaluation.errors import OptionsInvalidError
from gigavqa.runtime.validation import describe_faults
from gigavqa.tiling.displays.display import canonical_display


class ViewOptions(BaseModel):
    """The options that a job may set of the conditions' views."""

    model_config = ConfigDict(frozen=True)

    thumbnail: int = Field(default=1024, ge=1, le=100_000, description="longest side of V1 in pixels")
    budget: Literal["entry", "published"] = Field(
        default="entry",
        description="whose visual budget: the catalogue entry's, or that of the checkpoint's own files",
    )
    show: str = Field(default="", description="how all images are shown, in place of what the data set declares")

    @field_validator("show")
    @classmethod
    def _known_display(cls, text: str) -> str:
        return canonical_display(text)


OptionsT = TypeVar("OptionsT", bound=BaseModel)


def read_options(given: Mapping[str, OptionValue], of_benchmark: type[OptionsT]) -> tuple[ViewOptions, OptionsT]:
    """Read a job's options; those left out have their defaults. Raises OptionsInvalidError naming every one."""
    known = sorted({*ViewOptions.model_fields, *of_benchmark.model_fields})
    if unknown := sorted(set(given) - set(known)):
        raise OptionsInvalidError(f"options has no {', '.join(unknown)}; it has {', '.join(known)}")
    return _read(given, ViewOptions), _read(given, of_benchmark)


def _read(given: Mapping[str, OptionValue], kind: type[OptionsT]) -> OptionsT:
    try:
        return kind.model_validate({name: value for name, value in given.items() if name in kind.model_fields})
    except ValidationError as error:
        raise OptionsInvalidError(describe_faults(error, "options")) from error
