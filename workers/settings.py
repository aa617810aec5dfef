"""Settings of a worker: the models that it serves, and its bounds in requests, bytes and seconds."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode, SettingsConfigDict

from gigavqa.runtime.home import Address, Home
from gigavqa.runtime.memory import usable_bytes
from gigavqa.runtime.settings import CommaSeparated, FieldSpelling
from gigavqa.tiling.decode_threads import usable_cores

_GIB = 2**30
_VERSION = "api-version"  # Azure's, of its API
_INTERACTIVE_SLICE_SECONDS = 60.0  # decision 0005


def _split_lines(given: object) -> object:
    # Not by commas: the value of an engine's argument may be JSON.
    return tuple(filter(None, map(str.strip, given.splitlines()))) if isinstance(given, str) else given


def _address(given: str | None) -> str | None:
    """Return a server's address; one without a path gets the one of OpenAI's API."""
    if given is None:
        return None
    try:
        url = urlsplit(given)
        is_whole = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise PydanticCustomError("address", "is to be an address such as http://127.0.0.1:8000/v1")
    if "@" in url.netloc:
        raise PydanticCustomError("address", "has a name or password in it; --api-key-env names a variable with a key")
    if url.fragment or any(name != _VERSION for name, _ in parse_qsl(url.query, keep_blank_values=True)):
        raise PydanticCustomError(
            "address", "has more behind its path than ?api-version=...; --api-key-env names a variable with a key"
        )
    return url._replace(path=url.path.rstrip("/") or "/v1").geturl()


def _default_interactive_slice(given: dict[str, Any]) -> float:
    return min(float(given["shift_seconds"]), _INTERACTIVE_SLICE_SECONDS)


class WorkerSettings(Home):
    """One worker of gigavqa: it plays the queued requests of one model, or of several in time slices."""

    model_config = SettingsConfigDict(env_prefix="GIGAVQA_WORKER_")
    program: ClassVar[str] = "python -m gigavqa.workers"
    table: ClassVar[str] = "worker"

    models: Annotated[CommaSeparated, FieldSpelling("model", "ID")] = Field(
        default=(),
        description="whose bundles are claimed; several models share the device, one in its memory at a time",
    )
    models_from: Annotated[CommaSeparated, FieldSpelling("model-from", "[ID=]NAME")] = Field(
        default=(),
        description="catalogue id, checkpoint folder or Hugging Face id to serve under ID; with several models say ID=",
    )
    engine: Literal["vllm", "remote", "simulated"] = Field(
        default="vllm",
        description="`remote` asks a server at `endpoint`; `simulated` answers nothing real: for tests of scale only",
    )
    engine_args: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(_split_lines), FieldSpelling("engine-arg", "NAME=VALUE")
    ] = Field(
        default=(),
        description="arguments of vLLM's AsyncEngineArgs, before those of the entries; one a line in the variable",
    )
    endpoint: Annotated[str | None, AfterValidator(_address), FieldSpelling(metavar="URL")] = Field(
        default=None,
        description="of the remote engine: any OpenAI-compatible server, `/v1` included where its addresses have it",
    )
    remote_models: Annotated[CommaSeparated, FieldSpelling("remote-model", "[ID=]NAME")] = Field(
        default=(), description="what the server calls a model, where that is neither its id nor its weights"
    )
    remote_dialect: Annotated[
        Literal["vllm", "sglang", "dynamo", "openai", "azure", "anthropic", "google"] | None,
        FieldSpelling(
            metavar="vllm|sglang|dynamo|openai|azure|anthropic|google", default="what the server shows itself to be"
        ),
    ] = Field(default=None, description="what kind of server it is")
    api_key_env: Annotated[str | None, FieldSpelling(metavar="NAME", default="OPENAI_API_KEY, or no key")] = Field(
        default=None, description="variable that the key for the endpoint is read from"
    )
    remote_pictures: Annotated[str, FieldSpelling(metavar="png|jpeg:QUALITY:CHROMA")] = Field(
        default="png",
        pattern=r"^(png|jpeg:(100|[1-9]\d?):(444|422|420))$",
        description="files that rasters are sent as: lossless, or such as jpeg:95:444",
    )
    requests_per_minute: Annotated[NonNegativeInt, FieldSpelling(default="any number")] = Field(
        default=0, description="requests that this worker sends the endpoint in a minute; 0: any number"
    )
    tokens_per_minute: Annotated[NonNegativeInt, FieldSpelling(default="any number")] = Field(
        default=0, description="tokens of prompts and answers between this worker and the endpoint in a minute"
    )
    answer_seconds: PositiveFloat = Field(
        default=3600.0,
        description="an answer of the endpoint may take so long, all of it, before it is asked for again",
    )
    speed: NonNegativeFloat = Field(default=1.0, description="of the simulated engine; 0 takes no time")
    script: Annotated[Path | None, FieldSpelling(metavar="FILE", default="letters of options")] = Field(
        default=None,
        description="what the simulated engine writes, which is called scripted then: a JSON list of lists of answers, "
        "of which each chat goes through one",
    )
    metrics_host: Annotated[str, FieldSpelling(metavar="ADDRESS")] = Field(
        default="127.0.0.1", description="address that metrics are shown at"
    )
    metrics_port: int = Field(default=0, ge=0, le=65535, description="its port; 0 takes any free one")
    traces: Annotated[Address | None, FieldSpelling(metavar="URL", default="none are sent")] = Field(
        default=None,
        description="OTLP over HTTP: where a trace of each request is sent, such as http://127.0.0.1:4318/v1/traces",
    )
    previews: bool = Field(default=True, description="keep small pictures of what the models saw, for reports")
    max_requests: PositiveInt = Field(
        default=64,
        description="chats that are played at once, unless a model's entry says `max_num_seqs`; as many may be claimed "
        "ahead of them",
    )
    ahead_bytes: ByteSize = Field(
        default=ByteSize(2 * _GIB), description="rasters that claimed requests hold, rendered ahead or in play"
    )
    round_bytes: ByteSize = Field(
        default=ByteSize(2 * _GIB),
        description="rasters that answers asked for and that chats hold while the next one is generated",
    )
    search: Annotated[Path | None, FieldSpelling(metavar="FILE", default="corpora alone")] = Field(
        default=None,
        validation_alias="gigavqa_search",
        description="TOML file of the sources that chats may search by name; see docs/retrieval.md",
    )
    cache_bytes: ByteSize = Field(default=ByteSize(_GIB), description="rasters that are kept for requests to come")
    raster_store_bytes: ByteSize = Field(
        default=ByteSize(8 * _GIB),
        description="rasters of large pictures that all workers of the machine keep on its disk, for jobs to come",
    )
    render_threads: Annotated[PositiveInt, FieldSpelling(default="the cores that it may use, 8 at most")] = Field(
        default=min(8, usable_cores()), description="threads that render, on what the engine leaves of the cores"
    )
    lease_seconds: Annotated[PositiveFloat, FieldSpelling("lease")] = Field(
        default=30.0, description="a lease that is not renewed for so long passes to another worker"
    )
    defer_seconds: Annotated[NonNegativeFloat, FieldSpelling("defer")] = Field(
        default=3.0,
        description="bundles of the batch lane wait so long, half a lease at most, for the worker with their picture "
        "in its caches before this one, idle, takes them; 0: not at all",
    )
    claim_block_seconds: PositiveFloat = Field(
        default=1.0, description="longest wait for new bundles before the claim is made again"
    )
    cancel_poll_seconds: PositiveFloat = Field(default=1.0, description="how often cancellations are looked for")
    probation_wait_seconds: NonNegativeFloat = Field(
        default=30.0, description="a bundle on probation waits no longer than this for the worker to be idle by itself"
    )
    shift_seconds: Annotated[NonNegativeFloat, FieldSpelling("shift")] = Field(
        default=600.0, description="a worker of several models plays one for so long at most while another one waits"
    )
    shift_bundles: PositiveInt = Field(default=100_000, description="or for so many of its bundles")
    interactive_shift_seconds: Annotated[
        NonNegativeFloat, FieldSpelling("interactive-shift", default="60, or the shift where that is shorter")
    ] = Field(
        default_factory=_default_interactive_slice,
        description="or for so long, when another model has interactive bundles",
    )
    sleep_bytes: Annotated[ByteSize, FieldSpelling(default="half of the memory that it may use")] = Field(
        default=ByteSize(usable_bytes() // 2),
        description="host memory for the weights of engines that sleep while another model plays, on a GPU; those that "
        "do not fit, and all with 0, are ended and started again",
    )
    set_aside_seconds: NonNegativeFloat = Field(
        default=60.0, description="how long a model is left out whose engine did not start, while there are others"
    )
    hang_seconds: Annotated[NonNegativeFloat | None, FieldSpelling(default="300, on a CPU 3600")] = Field(
        default=None,
        description="an engine that has requests and makes no step for so long, or is not asleep or awake after it, is "
        "killed and another one started; 0: never. Its start may take any time",
    )
    heartbeat_seconds: PositiveFloat = Field(
        default=3.0, description="how often the worker announces itself; it is forgotten after five times as long"
    )
    grace_seconds: Annotated[NonNegativeFloat, FieldSpelling("grace")] = Field(
        default=30.0, description="what is begun at SIGTERM may take so long to finish; the rest is handed back"
    )
    idle_seconds: Annotated[NonNegativeFloat, FieldSpelling(default="it stays")] = Field(
        default=0.0,
        description="a worker that had nothing to play for so long ends with status 0, or with 143 if it is told to "
        "end before; 0: it stays",
    )
    max_deaths: PositiveInt = Field(
        default=2, description="engine deaths that one turn lives through before its bundle is given up"
    )
    max_starts: NonNegativeInt = Field(
        default=5, description="attempts to start the engine again before the worker ends"
    )
    backoff_seconds: NonNegativeFloat = Field(
        default=1.0,
        description="before the first of these attempts, and before a server elsewhere is asked again; doubled before "
        "each further time, up to 30 s",
    )
