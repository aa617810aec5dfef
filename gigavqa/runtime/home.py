"""The paths of an installation: one folder, and the few addresses that stand apart from it."""

import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, ByteSize, Field, PositiveFloat, StringConstraints

from gigavqa.runtime.logs import LogFormat
from gigavqa.runtime.settings import CommaSeparated, FieldSpelling, ProcessSettings


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s\"'<>]+$")]
"""Where browsers find something: http or https."""

Folder = Annotated[Path, AfterValidator(_absolute)]


def _with_scheme(url: str) -> str:
    if not url.startswith(("redis://", "rediss://", "unix://")):
        sentinel = "; in place of a Sentinel, name the primary or a proxy that follows it" if "sentinel" in url else ""
        raise ValueError(f"must begin with redis://, rediss:// or unix://{sentinel}")
    if not url.startswith("unix://"):
        _require_port_and_database(url)
    return url


def _require_port_and_database(url: str) -> None:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("has a port that is no number from 1 to 65535; write redis://HOST:6379")
    if (database := parts.path.strip("/")) and not database.isdecimal():
        raise ValueError(f"ends with '{database}' where the number of a database may stand; write redis://HOST:6379/0")


def _require_prefixes(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    for prefix in prefixes:
        if not _is_prefix(prefix):
            shown = re.sub(r"(?<=//)[^/@\s]*@", "...@", prefix)
            raise ValueError(
                f"'{shown}' is no beginning of addresses; write https://HOST/FOLDER/ or s3://, gs://, az://BUCKET/FOLDER/"
            )
    return prefixes


def _is_prefix(text: str) -> bool:
    """Return whether addresses can begin so: none has a password, a query, `.`, `..` or `//`, and none a pattern."""
    try:
        parts = urlsplit(text)
        is_place = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    told = re.fullmatch(r"(?:https?|s3|gs|az)://[^/?#@*\s]+(/[^?#*\s\\]*)?", text)
    folders = unquote(parts.path).strip("/").split("/")
    return is_place and told is not None and "//" not in parts.path and not {".", ".."} & set(folders)


StoreAddress = Annotated[str, AfterValidator(_with_scheme)]
"""Where a state store listens."""


def _below(name: str) -> Any:
    return lambda given: given["folder"] / name


class Home(ProcessSettings):
    """The data folder of an installation; single parts of it can be moved. Making one creates nothing."""

    folder: Annotated[Folder, FieldSpelling("home", "FOLDER", "~/.gigavqa")] = Field(
        default_factory=lambda: Path.home() / ".gigavqa",
        validation_alias="gigavqa_home",
        description="folder of the installation: state, results, logs, pyramids",
    )
    data: Annotated[Folder, FieldSpelling("data", "FOLDER", "`data` in the home")] = Field(
        default_factory=_below("data"),
        validation_alias="gigavqa_data",
        description="root that data sets and images are named relative to",
    )
    redis_url: Annotated[StoreAddress | None, FieldSpelling(metavar="URL", default="an embedded server")] = Field(
        default=None,
        validation_alias="redis_url",
        description="server of the operator's own: Redis 7 or Valkey, with `maxmemory-policy noeviction`",
    )
    results_uri: Annotated[str, FieldSpelling(metavar="URI", default="`results` in the home")] = Field(
        default_factory=lambda given: str(given["folder"] / "results"),
        validation_alias="results_uri",
        description="where Parquet parts of responses go: a folder or any fsspec address",
    )
    uploads: Annotated[Folder, FieldSpelling("uploads", "FOLDER", "`uploads` in the home")] = Field(
        default_factory=_below("uploads"),
        validation_alias="gigavqa_uploads",
        description="pictures and files that clients sent; workers on other machines need it, too",
    )

    remote_images: Annotated[
        CommaSeparated, AfterValidator(_require_prefixes), FieldSpelling(metavar="PREFIX", default="none")
    ] = Field(
        default=(),
        validation_alias="gigavqa_remote_images",
        description="addresses below which images elsewhere may be read: https://tiles.example.org/, s3://bucket/folder/",
    )
    remote_private_hosts: Annotated[CommaSeparated, FieldSpelling(metavar="NAME", default="none")] = Field(
        default=(),
        validation_alias="gigavqa_remote_private_hosts",
        description="hosts of these that may have private addresses",
    )
    remote_bytes: ByteSize = Field(
        default=ByteSize(8 * 2**30),
        validation_alias="gigavqa_remote_bytes",
        description="what is kept on this machine's disk of images elsewhere",
    )
    remote_file_bytes: ByteSize = Field(
        default=ByteSize(512 * 2**20),
        validation_alias="gigavqa_remote_file_bytes",
        description="largest image elsewhere that is fetched whole, if it cannot be read in parts",
    )
    remote_seconds: PositiveFloat = Field(
        default=60.0,
        validation_alias="gigavqa_remote_seconds",
        description="how long one read of an image elsewhere may take, with its retries",
    )
    log_format: LogFormat = Field(
        default="text",
        validation_alias="gigavqa_log_format",
        description="lines of the log for people, or `json`, with the ids of jobs and requests that they are about",
    )

    @property
    def server(self) -> Path:
        """Folder of the embedded server: its append-only file, socket and lock."""
        return self.folder / "server"

    @property
    def pyramids(self) -> Path:
        """Folder of the lossless pyramids that ingest makes of flat images."""
        return self.folder / "pyramids"

    @property
    def rasters(self) -> Path:
        """Folder of the rasters that the workers of this machine keep."""
        return self.folder / "rasters"

    @property
    def digests(self) -> Path:
        """Folder of the digests of large images, so that the processes of this machine read one once."""
        return self.folder / "digests"

    @property
    def indexes(self) -> Path:
        """Folder of the indexes that are made of corpora."""
        return self.folder / "indexes"

    @property
    def remote(self) -> Path:
        """Folder of what is kept of images elsewhere."""
        return self.folder / "remote"

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints that are built from code."""
        return self.folder / "checkpoints"

    @property
    def catalogue(self) -> Path:
        """Folder of the operator's own catalogue entries."""
        return self.folder / "catalogue"

    @property
    def logs(self) -> Path:
        """Folder of the logs of the processes that `gigavqa up` starts."""
        return self.folder / "logs"
