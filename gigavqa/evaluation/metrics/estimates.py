"""A number with the count it rests on and its 95 % interval."""

from pydantic import BaseModel, ConfigDict, Field


class Estimate(BaseModel):
    """A rate or a difference of rates, as fractions (0.5 is 50 %); all None where nothing could be counted."""

    model_config = ConfigDict(frozen=True)

    value: float | None
    count: int = Field(description="samples, or responses, that the number rests on; 0 for one that is known")
    low: float | None = Field(default=None, description="lower end of the 95 % interval")
    high: float | None = Field(default=None, description="upper end of the 95 % interval")


NO_ESTIMATE = Estimate(value=None, count=0)
