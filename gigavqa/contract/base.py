"""What everything is that crosses between rooms."""

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """Base of everything that crosses between rooms."""

    model_config = ConfigDict(frozen=True, extra="forbid")
