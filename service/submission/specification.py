"""The specification that a client may submit, within bounds, so that no body costs more than its bytes."""

import re
from collections.abc import Callable, Sized
from typing import Annotated, Any

from pydantic import BeforeValidator, FailFast, Field, PositiveInt, model_validator

from gigavqa.contract.jobs import Cell, JobSpec, JudgeSpec, OptionValue
from gigavqa.contract.schema_versions import upgrade_spec_fields

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse_lone_surrogates(given: Any) -> Any:
    if isinstance(given, str) and _LONE_SURROGATE.search(given):
        raise ValueError("half of a surrogate pair is no character")
    return given


def _limit_entries(limit: int) -> Callable[[Any], Any]:
    """Bound what is looked at one by one, before it is: each thing that is wrong would be an error of its own."""

    def check(given: Any) -> Any:
        if isinstance(given, Sized) and len(given) > limit:
            raise ValueError(f"has {len(given)} entries; at most {limit} are accepted")
        return given

    return check


def _require_nonempty(given: Any) -> Any:
    # Not `min_length`, which would count what is left of a list with something wrong in it.
    if isinstance(given, Sized) and not given:
        raise ValueError("names none; at least one is needed")
    return given


def _require_scalar(given: Any) -> Any:
    if not isinstance(given, str | int | float | None):
        raise ValueError("is a list or an object; settings are numbers, texts, true, false or null")
    return given


_ValidText = BeforeValidator(_refuse_lone_surrogates)
_Name = Annotated[str, Field(max_length=1000)]
"""Its length is counted in characters, so that halves of one are no text to begin with."""
_Setting = Annotated[Any, _ValidText, BeforeValidator(_require_scalar)]
_MOST_SAMPLES = 200_000


class SubmittedSpec(JobSpec):
    """A job to be run. Fields left out of `sampling` take the model's own decoding from the catalogue."""

    dataset: _Name
    models: Annotated[tuple[_Name, ...], FailFast(), BeforeValidator(_require_nonempty)] = Field(
        max_length=64, json_schema_extra={"minItems": 1}
    )
    plan: _Name | None = Field(
        default=None, description="a named plan of the benchmark, its first one if omitted; or list `cells` instead"
    )
    cells: Annotated[tuple[Annotated[Cell, BeforeValidator(_limit_entries(10))], ...], FailFast()] = Field(
        default=(), max_length=64
    )
    repeats: PositiveInt = Field(default=1, le=1_000_000)
    sampling: Annotated[dict[Annotated[str, Field(max_length=64)], _Setting], BeforeValidator(_limit_entries(16))] = (
        Field(default_factory=dict, max_length=16, description="overrides of the model's decoding")
    )
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    options: Annotated[
        dict[
            Annotated[str, Field(max_length=64)], Annotated[OptionValue, _ValidText, BeforeValidator(_require_scalar)]
        ],
        BeforeValidator(_limit_entries(16)),
    ] = Field(
        default_factory=dict,
        max_length=16,
        description="choices of the conditions (`thumbnail`: longest side of V1 in pixels) and of the benchmark",
    )
    samples: Annotated[tuple[_Name, ...], FailFast()] = Field(
        default=(), max_length=_MOST_SAMPLES, description="ids of the samples to ask; all when empty"
    )
    metadata: Annotated[
        dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]],
        BeforeValidator(_limit_entries(16)),
    ] = Field(default_factory=dict, max_length=16, description="up to 16 pairs of your own, as OpenAI's batches have")
    judge: Annotated[JudgeSpec | None, BeforeValidator(_limit_entries(4))] = Field(
        default=None,
        description="makes the models judges of what finished jobs over the data set were answered: one request for "
        "every different answer; the job then has no plan, cells, samples or repeats",
    )

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, given: Any) -> Any:
        return upgrade_spec_fields(_limit_entries(64)(given))

    def spec(self) -> JobSpec:
        """Return the specification, as it is kept."""
        return JobSpec.model_construct(**dict(self))
