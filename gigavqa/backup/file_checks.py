"""Check the files that the state store names, as they were written, and find those that it does not name."""

import shutil
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from redis import Redis

from gigavqa.backup.archives import digest_of
from gigavqa.backup.findings import CheckFinding, damage, leftover, make_removal
from gigavqa.backup.job_checks import OnResponse, name_requests
from gigavqa.backup.state_reader import KeyInventory, ResultEntry, StateReader
from gigavqa.contract.errors import PartUnreadableError
from gigavqa.contract.schema_versions import read_response
from gigavqa.runtime.plurals import count_noun
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.redis_keys import KEYS
from gigavqa.tiling.roots import DIGESTS_FOLDER

YOUNG_SECONDS = 3600.0  # a part may be written and not yet named: decision 0016
"""A file that is younger may be named any moment, and an older one that nobody names is left over."""


class PartChecks:
    """Reads the parts of jobs; `hear` is told the job and the text of each response in a part that counts."""

    def __init__(self, reader: StateReader, live: Redis, parts: PartStore, hear: OnResponse) -> None:
        self._reader = reader
        self._live = live
        self._parts = parts
        self._hear = hear

    def of_job(self, job_id: str, recordings: list[ResultEntry]) -> Iterator[CheckFinding]:
        """Yield every part of a job that is gone or changed, and those that hold nothing which counts."""
        seals, pointed = self._reader.seals(job_id), defaultdict[str, list[ResultEntry]](list)
        for each in recordings:
            if each.part and each.cursor:
                pointed[each.part].append(each)
        for part, pointers in sorted(pointed.items()):
            yield from self._check(job_id, part, seals.get(part), pointers)
        there = self._parts.parts(job_id)
        yield from self._unnamed(job_id, sorted(set(there) - pointed.keys()))

    def of_no_job(self, inventory: KeyInventory) -> Iterator[CheckFinding]:
        """Folders of jobs that there are not."""
        deleting = {found.decode() for found in self._live.smembers(KEYS.deleting())}
        folders = [job_id for job_id in self._parts.jobs() if job_id not in inventory.jobs | deleting]
        if folders and not inventory.jobs:  # then they are all that is left
            told = f"knows no job, but there are parts of {count_noun(len(folders), 'job')}"
            yield damage("state-lost", "the state store", told)
            return
        for job_id in folders:
            if self._live.exists(KEYS.job(job_id)):
                continue
            number = len(self._parts.parts(job_id))
            told = f"is not there, but {count_noun(number, 'Parquet part')} of it"
            # Of a job that should be there they may be all that is left.
            is_missed = self._live.zscore(KEYS.jobs(), job_id) is not None
            remove = None if is_missed else make_removal(partial(self._parts.remove, job_id))
            yield leftover("job-folder", f"job {job_id}", told, remove)

    def _check(self, job_id: str, part: str, seal: str | None, pointers: list[ResultEntry]) -> Iterator[CheckFinding]:
        try:
            rows = self._parts.rows(job_id, part, seal)
        except PartUnreadableError as error:
            if self._live.exists(KEYS.job(job_id)):  # else it was deleted just now
                yield damage("part-damaged", f"job {job_id}", f"{error}; {count_noun(len(pointers), 'response')}")
            return
        texts = {(row, cursor): text for row, (cursor, text) in enumerate(rows)}
        astray = [each for each in pointers if (each.row, each.entry) not in texts]
        if astray:
            told = f"{count_noun(len(astray), 'response')} should stand in the Parquet part {part} where others do"
            yield damage("pointer-wrong", f"job {job_id}", told)
        broken = []
        for each in pointers:  # a part keeps what a retry took back, too
            text = texts.get((each.row or 0, each.entry))
            if text is None:
                continue
            if _is_read(text):
                self._hear(job_id, text)
            else:
                broken.append(each.request)
        if broken:
            told = f"the responses of {name_requests(broken)} in the Parquet part {part} cannot be read"
            yield damage("response-damaged", f"job {job_id}", told)

    def _unnamed(self, job_id: str, parts: list[str]) -> Iterator[CheckFinding]:
        for part in parts:
            if self._live.hexists(KEYS.parts(job_id), part) or not self._live.exists(KEYS.job(job_id)):
                continue
            try:
                is_old = self._parts.modified_at(job_id, part) < time.time() - YOUNG_SECONDS
            except FileNotFoundError:
                continue
            if is_old:
                told = f"no response is in the Parquet part {part}"
                remove = make_removal(partial(self._parts.remove, job_id, part))
                yield leftover("part-unnamed", f"job {job_id}", told, remove)


def _is_read(text: str) -> bool:
    try:
        read_response(text)
    except ValueError:
        return False
    return True


def check_uploads(reader: StateReader, inventory: KeyInventory, live: Redis, folder: Path) -> Iterator[CheckFinding]:
    """Files and pictures that clients sent: those that are gone or changed, and those that nobody knows."""
    known = {file.id: file for file in reader.files(inventory)}
    for file in known.values():
        path = folder / "files" / file.id
        size = path.stat().st_size if path.is_file() else None
        if size != file.bytes and live.exists(KEYS.file(file.id)):
            found = "its bytes are gone" if size is None else f"it has {size} bytes instead of {file.bytes}"
            yield damage("file-damaged", f"file {file.id}", found)
    for path in sorted(path for kind in ("files", DIGESTS_FOLDER) for path in (folder / kind).glob("*")):
        if path.name not in known and _is_old(path) and not live.exists(KEYS.file(path.name)):
            told = f"{count_noun(path.stat().st_size, 'byte')} of nobody's"
            yield leftover("file-unknown", f"file {path.name}", told, make_removal(path.unlink))
    for path in sorted((folder / "sha256").glob("??/*")):
        if digest_of(path) != path.name:
            yield damage("picture-damaged", f"picture {path.name}", "its bytes are not those that were sent")
    for path in sorted((folder / "batches").glob("*")):
        if path.name.split(".")[0] not in inventory.batches | inventory.jobs and _is_old(path):
            told = "is not there, but what was made of its lines"
            yield leftover("batch-folder", f"batch {path.name}", told, make_removal(partial(_remove, path)))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _is_old(path: Path) -> bool:
    # The times of uploads say nothing but when their entry in the folder changed.
    return path.stat().st_ctime < time.time() - YOUNG_SECONDS
