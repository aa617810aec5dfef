"""The paths of an installation: one folder, and the few addresses that stand apart from it."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from gigavqa.runtime.logs import LogFormat
from gigavqa.runtime.settings import FieldSpelling, ProcessSettings


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s\"'<>]+$")]
"""Where browsers find something: http or https."""

Folder = Annotated[Path, AfterValidator(_absolute)]


def _with_scheme(url: str) -> str:
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("must begin with redis://, rediss:// or unix://")
    return url


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
