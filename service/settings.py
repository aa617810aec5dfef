"""Settings of the gateway."""

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, PositiveInt
from pydantic_settings import SettingsConfigDict

from gigavqa.runtime.home import Address
from gigavqa.runtime.settings import CommaSeparated, FieldSpelling
from gigavqa.store.api_keys import CacheSharing
from gigavqa.store.listen_settings import HttpServerSettings, lowercase_names


def _require_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not re.fullmatch(r"https?://[^/?#*@\s]+", origin):
            raise ValueError(
                f"'{origin}' is no origin: name each by scheme, host and port, as https://tool.example.org"
            )
    return lowercase_names(origins)


class GatewaySettings(HttpServerSettings):
    """One gateway of gigavqa: its address, its folders and its limits."""

    model_config = SettingsConfigDict(env_prefix="GIGAVQA_")
    program: ClassVar[str] = "python -m gigavqa.service"
    table: ClassVar[str] = "gateway"
    everybody_may: ClassVar[str] = "read, cancel and delete every job"

    port: int = Field(default=8470, ge=0, le=65535, description="its port; 0 takes any free one")
    audit_log: Annotated[str | None, FieldSpelling(metavar="FILE", default="stderr where keys are asked for")] = Field(
        default=None, description="file, or `stderr`, that is told who changed what, and who was refused"
    )
    traces: Annotated[Address | None, FieldSpelling(metavar="URL", default="none are sent")] = Field(
        default=None,
        description="OTLP over HTTP: where a span of each submission and each chat is sent, such as "
        "http://127.0.0.1:4318/v1/traces",
    )
    max_body_bytes: PositiveInt = Field(default=8 << 20, description="largest body; 200,000 sample ids fit")
    max_chat_bytes: PositiveInt = Field(
        default=256 << 20, description="largest body of a chat, pictures and all; without them `max_body_bytes` holds"
    )
    chat_room_seconds: float = Field(
        default=120.0,
        ge=0,
        le=3600,
        description="how long a chat that is no stream waits where the queue is full, before it is refused",
    )
    max_file_bytes: PositiveInt = Field(default=512 << 20, description="largest file that is uploaded")
    upload_bytes: PositiveInt = Field(
        default=32 << 30,
        description="pictures of chats that are kept, the last used ones; and files of one owner",
    )
    upload_hours: float = Field(
        default=48.0, gt=0, description="how long a picture of a chat is kept unused; longer than a batch may take"
    )
    image_hosts: Annotated[CommaSeparated, AfterValidator(lowercase_names), FieldSpelling("image-host", "NAME")] = (
        Field(default=(), description="hosts that pictures of chats may be fetched from; private addresses never")
    )
    cors_origins: Annotated[
        CommaSeparated, AfterValidator(_require_origins), FieldSpelling("cors-origin", "ORIGIN", "none")
    ] = Field(
        default=(),
        description="origins, as https://tool.example.org, whose pages may call the gateway in browsers",
    )
    webhook_hosts: Annotated[CommaSeparated, AfterValidator(lowercase_names), FieldSpelling("webhook-host", "NAME")] = (
        Field(default=(), description="hosts that webhooks may call though their addresses are private")
    )
    viewer_origins: Annotated[
        CommaSeparated, AfterValidator(lowercase_names), FieldSpelling("viewer-origin", "ORIGIN")
    ] = Field(
        default=("http://127.0.0.1:8471", "http://localhost:8471"),
        description="where this installation's pictures are served by IIIF, besides the gateway's own address",
    )
    cache_sharing: CacheSharing = Field(
        default="owners",
        description="where keys are asked for, who shares what engines keep of prompts: `owners` each alone, or `all`",
    )
    body_seconds: float = Field(
        default=30.0, gt=0, description="how long a request's head, and then its body, may take"
    )
    keep_alive_seconds: PositiveInt = Field(default=75, description="how long a connection may be idle")
    drain_seconds: float = Field(
        default=0.0,
        ge=0,
        description="how long a gateway that is told to end goes on listening though `/readyz` is 503, so that a "
        "balancer sends nothing more",
    )
    grace_seconds: float = Field(
        default=20.0, ge=0, description="how long its chats may take after that, before they are told to ask again"
    )
    inline_samples: PositiveInt = Field(
        default=1000, description="samples up to which a job is checked and queued before it is answered"
    )
    inline_requests: PositiveInt = Field(default=10_000, description="requests up to which the same holds")
    bundle_requests: PositiveInt = Field(default=64, description="most requests of a bundle, so that leases stay small")
    queue_requests: PositiveInt = Field(default=200_000, description="most requests that wait in the queue at a time")
    waiting_jobs: PositiveInt = Field(
        default=64, description="most jobs that wait in `validating` to be queued; more are a 429"
    )
    header_threads: PositiveInt = Field(default=8, description="images whose headers are read at a time")
    poll_seconds: float = Field(
        default=0.25, gt=0, description="least time between two looks at the jobs that are followed"
    )
    trim_seconds: float = Field(default=60.0, gt=0, description="how often the queue is trimmed")
    retention_days: Annotated[float | None, FieldSpelling(default="all are kept")] = Field(
        default=None, gt=0, description="days after its submission that a job which has ended is deleted"
    )
    viewer_url: Annotated[Address | None, FieldSpelling(metavar="URL", default="none: pages have no links to one")] = (
        Field(default=None, description="address that browsers reach the evidence viewer by (docs/viewer.md)")
    )
    resume_seconds: float = Field(default=15.0, gt=0, description="how soon a gateway goes on where another one died")
