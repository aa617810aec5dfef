"""How the gateway is set: read once from the environment, checked, frozen."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, field_validator

from jobs.home import Home
from service.errors import SettingsInvalidError

PREFIX = "GIGAVQA_"


class Settings(BaseModel):
    """Address, folders and limits of one gateway.

    All but the folders can be set by a variable: `GIGAVQA_` and the field's name in capitals.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Home
    host: str = "127.0.0.1"
    port: int = Field(default=8470, ge=0, le=65535, description="0 takes any free one")
    allow_unauthenticated: bool = Field(
        default=False, description="listen beyond this machine though anybody who connects may do everything"
    )
    trusted_hosts: tuple[str, ...] = Field(
        default=(), description="names besides `localhost` and the address that clients call the gateway by"
    )
    max_body_bytes: PositiveInt = Field(default=8 << 20, description="largest body; 200,000 sample ids fit")
    body_seconds: float = Field(
        default=30.0, gt=0, description="how long a request's head, and then its body, may take"
    )
    keep_alive_seconds: PositiveInt = Field(default=75, description="how long a connection may be idle")
    inline_samples: PositiveInt = Field(
        default=1000, description="samples up to which a job is checked and queued before it is answered"
    )
    inline_requests: PositiveInt = Field(default=10_000, description="requests up to which the same holds")
    bundle_requests: PositiveInt = Field(default=64, description="most requests of a bundle, so that leases stay small")
    queue_requests: PositiveInt = Field(default=200_000, description="most requests that wait in the queue at a time")
    waiting_jobs: PositiveInt = Field(default=64, description="most jobs that wait in `validating` to be queued")
    header_threads: PositiveInt = Field(default=8, description="images whose headers are read at a time")
    watch_connections: PositiveInt = Field(
        default=64, description="connections to the server that event streams share; more streams take turns"
    )
    poll_seconds: float = Field(
        default=0.25, gt=0, description="least time between two looks at the jobs that are followed"
    )
    trim_seconds: float = Field(default=60.0, gt=0, description="how often the queue is trimmed")
    retention_days: float | None = Field(
        default=None,
        gt=0,
        description="days after its submission that a job which has ended is deleted; kept when unset",
    )
    resume_seconds: float = Field(default=30.0, gt=0, description="how often abandoned validations are looked for")

    @field_validator("trusted_hosts", mode="before")
    @classmethod
    def _listed(cls, given: object) -> object:
        return tuple(name.strip().lower() for name in given.split(",")) if isinstance(given, str) else given

    @property
    def data(self) -> Path:
        """The data root, which data sets and images are named relative to."""
        return self.home.data

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Read the folders as `Home` does and the numbers above; raises SettingsInvalidError naming the variables."""
        names = {f"{PREFIX}{field.upper()}": field for field in cls.model_fields if field != "home"}
        given = {field: environ[name] for name, field in names.items() if environ.get(name)}
        try:
            return cls.model_validate({"home": Home.from_environment(environ), **given})
        except ValidationError as error:
            wrong = "; ".join(f"{PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
            raise SettingsInvalidError(wrong) from error
