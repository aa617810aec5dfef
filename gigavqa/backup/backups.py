"""Makes a backup of an installation, which may run: the state store's state at one moment, and the files that it names.

What the state of a moment names was written before that moment, and stays while the backup is made.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from redis import Redis

from gigavqa.backup.archives import STATE, ArchiveWriter, Manifest, new_archive
from gigavqa.backup.snapshots import open_client, serve_snapshot, take_snapshot
from gigavqa.backup.state_reader import StateReader
from gigavqa.contract.errors import PartUnreadableError
from gigavqa.runtime.home import Home
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.previews import PreviewStore
from gigavqa.store.redis_keys import KEYS

_HOLD_SECONDS = 600


def back_up(url: str, home: Home, folder: Path) -> Manifest:
    """Back up the installation whose state store is at `url` into `folder`, which is new.

    Raises FileExistsError, SnapshotRefusedError, StateStoreUnavailableError, OSError.
    """
    live = open_client(url)
    try:
        with new_archive(folder) as archive, _hold_parts(live):
            return _Backup(archive, live, home).make(url)
    finally:
        live.close()


def uploaded_files(folder: Path) -> Iterable[Path]:
    """Return the files below a folder of uploads that have arrived whole."""
    found = (path for path in sorted(folder.rglob("*")) if path.suffix != ".partial" and path.is_file())
    return (path for path in found if path.relative_to(folder).parts[0] != "partial")


@contextmanager
def _hold_parts(live: Redis) -> Iterator[None]:
    """Let no part be removed; jobs may be deleted all the same, and their parts go later."""
    _renew_hold(live)
    try:
        yield
    finally:
        live.delete(KEYS.backup())


def _renew_hold(live: Redis) -> None:
    live.set(KEYS.backup(), "", ex=_HOLD_SECONDS)


class _Backup:
    """A backup that is being made of the installation whose state store is `live`."""

    def __init__(self, archive: ArchiveWriter, live: Redis, home: Home) -> None:
        self._archive = archive
        self._live = live
        self._home = home
        self._parts = PartStore(home.results_uri)
        self._damaged: list[str] = []
        self._gone: list[str] = []

    def make(self, url: str) -> Manifest:
        made_at = datetime.now(UTC)
        snapshot = take_snapshot(url, self._archive.folder / STATE)  # before the files: all that it names are there
        self._archive.take(STATE)
        with serve_snapshot(snapshot, self._archive.folder / "server") as frozen:
            reader = StateReader(open_client(frozen))
            inventory = reader.list_keys()
            for job_id in sorted(inventory.jobs):
                self._copy_parts(reader, job_id)
            self._copy_uploads({file.id for file in reader.files(inventory)})
        shutil.rmtree(self._archive.folder / "server")
        self._copy_others()
        return self._archive.close(
            release=version("gigavqa"),
            made_at=made_at,
            database=snapshot.database,
            jobs=len(inventory.jobs),
            responses=sum(inventory.responses[job_id] for job_id in inventory.jobs),
            damaged=self._damaged,
            gone=self._gone,
        )

    def _copy_parts(self, reader: StateReader, job_id: str) -> None:
        seals: dict[str, str | None] = {**reader.seals(job_id)}
        if set(self._parts.parts(job_id)) - seals.keys():  # of an older release, which sealed none; or made just now
            seals |= {each.part: None for each in reader.recordings(job_id) if each.part and each.part not in seals}
        for part, seal in sorted(seals.items()):
            _renew_hold(self._live)
            try:
                self._archive.put(f"results/{job_id}/{part}.parquet", self._parts.check(job_id, part, seal))
            except PartUnreadableError as error:
                self._damaged.append(f"job {job_id}: {error}")

    def _copy_uploads(self, known: set[str]) -> None:
        for path in uploaded_files(self._home.uploads):
            name = path.relative_to(self._home.uploads).as_posix()
            if path.parent.name != "files" or path.name in known:
                self._copy(f"uploads/{name}", path)
        for file_id in sorted(known):
            if (self._archive.folder / "uploads" / "files" / file_id).exists():
                continue
            if self._live.exists(KEYS.file(file_id)):
                self._damaged.append(f"file {file_id}: its bytes are gone")
            else:
                self._gone.append(file_id)

    def _copy_others(self) -> None:
        for path in sorted(self._home.catalogue.glob("*.toml")):
            self._copy(f"catalogue/{path.name}", path)
        previews = PreviewStore(self._home.results_uri)
        for key in previews.keys():  # noqa: SIM118 - no dictionary
            if (content := previews.read(key)) is not None:
                self._archive.put(f"previews/{key}.jpg", content)

    def _copy(self, name: str, path: Path) -> None:
        try:
            self._archive.copy(name, path)
        except FileNotFoundError:  # nobody needed it any more, or its owner deleted it
            return
