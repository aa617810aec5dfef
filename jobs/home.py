"""Where this installation keeps things: one folder, and the few addresses that environment variables set."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    """The data folder of an installation. Environment variables move single parts of it.

    `GIGAVQA_HOME` the folder itself (default `~/.gigavqa`), `GIGAVQA_DATA` the root that image and data set names are
    relative to, `REDIS_URL` a server of the operator's own, `RESULTS_URI` where Parquet parts go (a folder or any
    fsspec address).
    """

    folder: Path
    data: Path
    redis_url: str | None
    results_uri: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> "Home":
        """Read the variables above; creates nothing."""
        folder = Path(environ.get("GIGAVQA_HOME") or Path.home() / ".gigavqa").expanduser().absolute()
        return cls(
            folder=folder,
            data=Path(environ.get("GIGAVQA_DATA") or folder / "data").expanduser().absolute(),
            redis_url=environ.get("REDIS_URL") or None,
            results_uri=environ.get("RESULTS_URI") or str(folder / "results"),
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
