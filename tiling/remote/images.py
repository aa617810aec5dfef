"""The images elsewhere that this process reads: which version each is of, and what of it is here or under way."""

import json
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from blake3 import blake3
from cachetools import TTLCache

from gigavqa.tiling.errors import (
    ImageAddressError,
    ImageReplacedError,
    ImageTooLargeError,
    ImageUnavailableError,
    TilingError,
)
from gigavqa.tiling.files import write_whole
from gigavqa.tiling.remote.addresses import check_remote_name, local_name
from gigavqa.tiling.remote.blocks import PAGE, WHOLE, BlockStore, Span
from gigavqa.tiling.remote.reader import RangeReader, RemoteVersion

HEAD_BYTES = 64 * 1024
"""Read with the first look at a file: the header of most, and the index of tiles of those that put it first."""
GAP_BYTES = 16 * 1024
"""What lies between two spans that one request reads; more is not worth its transfer."""
RUN_BYTES = 4 * 2**20
"""The most that one request reads."""
PARALLEL = 8
"""Requests under way at a time, whose bytes are all that is held in memory: 32 MiB."""
LOOK_SECONDS = 10.0
"""What was found of a file, or of a host, is believed so long."""
_FAILURE_SECONDS = 10.0
_MOST_KNOWN = 100_000
_CHECKED_BYTES = 2**20


@dataclass(frozen=True)
class RemoteStats:
    """Counters since the start: requests, bytes that they fetched, and bytes that were read of what was here."""

    requests: int = 0
    fetched_bytes: int = 0
    kept_bytes: int = 0


class RemoteImages:
    """Files elsewhere, read by `reader` and kept below `folder` within `capacity` bytes. Thread-safe.

    What can only be read whole is fetched up to `most_whole` bytes. A version that was found is believed to be the
    present one for `look_seconds`; each request for its bytes fails if it is not.
    """

    def __init__(
        self,
        folder: Path,
        reader: RangeReader,
        *,
        capacity: int,
        most_whole: int,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self.folder = folder
        self._reader = reader
        self._most_whole = most_whole
        self._store = BlockStore(folder, capacity)
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="ranges")
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}
        self._looked: TTLCache[str, Path | TilingError] = TTLCache(_MOST_KNOWN, look_seconds)
        self._failed: TTLCache[str, TilingError] = TTLCache(_MOST_KNOWN, _FAILURE_SECONDS)
        self._flights: dict[str, dict[Span, Future[None]]] = {}
        self._checked: set[Path] = set()
        self._requests = self._fetched = self._kept = 0

    def locate(self, url: str, pin: str = "") -> Path:
        """Return what stands for a file elsewhere here: for its version as it is now, or for the one called `pin`.

        Raises ImageAddressError, ImageNotFoundError, ImageUnavailableError; ImageReplacedError where it is another one.
        """
        self._reader.require_allowed(check_remote_name(url))
        if pin and _read_record(path := self._path(pin, url)):
            self._store.use(pin)
            return path
        path = self._look(url)
        if pin and digest_at(path) != pin:
            raise _replaced(url)
        return path

    def version_at(self, path: Path) -> RemoteVersion:
        """Return the version that a path stands for. Raises ImageAddressError where it is none, or no more allowed."""
        version = _read_record(path)
        if version is None or version.digest != digest_at(path):
            raise ImageAddressError(f"{path}: stands for no file elsewhere")
        self._reader.require_allowed(version.url)
        return version

    def begin(self, version: RemoteVersion, spans: Iterable[Span]) -> list["Future[None]"]:
        """Begin to fetch what is not here of these bytes, and return what must be waited for before they are read."""
        wanted = merge_spans(
            gap for span in spans for gap in self._store.missing(version.digest, _clip(span, version.size))
        )
        awaited: list[Future[None]] = []
        with self._lock:
            flights = self._flights.setdefault(version.digest, {})
            for span in wanted:
                meeting = {flown: flight for flown, flight in flights.items() if _meet(flown, span)}
                awaited += meeting.values()
                for part in _without(_clip(span, version.size), meeting):
                    flight: Future[None] = Future()
                    flights[part] = flight
                    awaited.append(flight)
                    self._pool.submit(self._fly, version, part, flight)
        return awaited

    def has(self, version: RemoteVersion, span: Span) -> bool:
        """Return whether these bytes of a version are here."""
        return not self._store.missing(version.digest, span)

    def read(self, version: RemoteVersion, span: Span) -> bytes:
        """Return these bytes of a version: of what is here, under way, or fetched now. Raises as the reader does."""
        found = self._store.read(version.digest, span)
        if found is None:
            for _ in range(3):  # others may be fetching a part of it, and what is fetched may leave at once
                awaited = self.begin(version, [span])
                wait(awaited)
                for flight in awaited:
                    flight.result()
                if (found := self._store.read(version.digest, span)) is not None:
                    return found
            return self._fetch(version, span)
        with self._lock:
            self._kept += len(found)
        return found

    def open_whole(self, version: RemoteVersion) -> int:
        """Fetch a file whole, once, and return a descriptor of it, which stays whatever leaves the disk for space.

        Raises ImageTooLargeError, and what the reader raises.
        """
        path = self.folder / version.digest / WHOLE
        with self._alone(version.digest), _translate_disk_errors(version.url, self.folder):
            if (kept := self._open_kept(path)) is not None:
                return kept
            self._require_fetchable(version)
            descriptor, partial_path = tempfile.mkstemp(prefix=f"{WHOLE}-", suffix=".partial", dir=path.parent)
            try:
                self._fill(descriptor, version)
                with suppress(FileNotFoundError):  # it left for space meanwhile, and is read all the same
                    _checksum_path(path).write_text(_checksum(descriptor), "ascii")
                    Path(partial_path).replace(path)
                    self._checked.add(path)
            except BaseException:
                os.close(descriptor)
                raise
            finally:
                Path(partial_path).unlink(missing_ok=True)
        return descriptor

    def _open_kept(self, path: Path) -> int | None:
        """Return a descriptor of a whole file that is here as it was written, which each process looks at once."""
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with suppress(OSError, UnicodeDecodeError):
            if path in self._checked or _checksum_path(path).read_text("ascii") == _checksum(descriptor):
                self._checked.add(path)
                os.utime(descriptor)  # used just now
                return descriptor
        os.close(descriptor)
        return None

    def stats(self) -> RemoteStats:
        """Return what was done so far."""
        return RemoteStats(self._requests, self._fetched, self._kept)

    def _path(self, digest: str, url: str) -> Path:
        return self.folder / digest / local_name(url)

    def _look(self, url: str) -> Path:
        with self._alone(url):
            known = self._looked.get(url)
            if isinstance(known, Path):
                self._store.use(digest_at(known))
            if known is None or (isinstance(known, Path) and not known.exists()):  # its record left for space
                try:
                    known = self._find(url)
                except TilingError as error:
                    known = error
                with self._lock:
                    self._looked[url] = known
        if isinstance(known, TilingError):
            raise type(known)(str(known)) from known
        return known

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Let nobody else in this process look for the same meanwhile."""
        with self._lock:
            lock = self._busy.setdefault(name, threading.Lock())
        try:
            with lock:
                yield
        finally:
            with self._lock:
                self._busy.pop(name, None)  # whoever comes now finds what was made

    def _find(self, url: str) -> Path:
        version, head = self._reader.look(url, HEAD_BYTES)
        self._count(len(head))
        path = self._path(version.digest, url)
        with _translate_disk_errors(url, self.folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not _read_record(path):
                write_whole(path, json.dumps(version.fields()))
        complete = len(head) if len(head) == version.size else len(head) // PAGE * PAGE
        self._store.put(version.digest, 0, head[:complete])
        return path

    def _fly(self, version: RemoteVersion, span: Span, flight: "Future[None]") -> None:
        error: BaseException | None = None
        try:
            self._store.put(version.digest, span[0], self._fetch(version, span))
        except BaseException as raised:  # noqa: BLE001 - handed on to everyone who waits
            error = raised
        with self._lock:
            flights = self._flights[version.digest]
            del flights[span]
            if not flights:
                del self._flights[version.digest]
        if error:
            flight.set_exception(error)
        else:
            flight.set_result(None)

    def _fetch(self, version: RemoteVersion, span: Span) -> bytes:
        """Fetch bytes; what a server did not give just now is not asked for again at once."""
        with self._lock:
            failed = self._failed.get(version.digest)
        if failed:
            raise type(failed)(str(failed)) from failed
        try:
            data = self._reader.read(version, *span)
        except TilingError as error:
            with self._lock:
                self._failed[version.digest] = error
                if isinstance(error, ImageReplacedError):
                    self._looked.pop(version.url, None)
            raise
        self._count(len(data))
        return data

    def _count(self, num_bytes: int) -> None:
        with self._lock:
            self._requests += 1
            self._fetched += num_bytes

    def _require_fetchable(self, version: RemoteVersion) -> None:
        if version.size > self._most_whole:
            raise ImageTooLargeError(
                f"{version.url}: its {version.size} bytes can only be read whole, and files are fetched whole up to "
                f"{self._most_whole}; GIGAVQA_REMOTE_FILE_BYTES sets it, and a tiled pyramid is read in parts"
            )
        if not self._store.make_room(version.size):
            raise ImageUnavailableError(
                f"{version.url}: there is no room for its {version.size} bytes in {self.folder}, of which "
                "GIGAVQA_REMOTE_BYTES sets the bound"
            )

    def _fill(self, descriptor: int, version: RemoteVersion) -> None:
        if not version.has_ranges:
            self._count(self._stream(descriptor, version))
            return

        def put(span: Span) -> None:
            gaps = merge_spans(_clip(gap, version.size) for gap in self._store.missing(version.digest, span))
            for gap in gaps:
                _write_all(descriptor, self._fetch(version, gap), gap[0])
            for part in _without(span, gaps):
                # Not by `read`, which waits for tasks of the pool that this is one of.
                data = self._store.read(version.digest, part) or self._fetch(version, part)
                _write_all(descriptor, data, part[0])

        spans = [_clip((at, at + RUN_BYTES), version.size) for at in range(0, version.size, RUN_BYTES)]
        parts = [self._pool.submit(partial(put, span)) for span in spans]
        wait(parts)
        for part in parts:
            part.result()

    def _stream(self, descriptor: int, version: RemoteVersion) -> int:
        at = 0
        for piece in self._reader.read_whole(version):
            _write_all(descriptor, piece, at)
            at += len(piece)
        if at != version.size:
            raise ImageUnavailableError(f"{version.url}: its server gave {at} of {version.size} bytes")
        return at


@contextmanager
def _translate_disk_errors(url: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ImageUnavailableError(f"{url}: {folder} takes nothing of it: {error.strerror or error}") from error


def _checksum_path(whole: Path) -> Path:
    return whole.with_name(f"{WHOLE}.blake3")


def _checksum(descriptor: int) -> str:
    digest, at = blake3(), 0
    while data := os.pread(descriptor, _CHECKED_BYTES, at):
        digest.update(data)
        at += len(data)
    return digest.hexdigest()


def digest_at(path: Path) -> str:
    """Return the digest of the version that a path stands for."""
    return path.parent.name


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return as few spans as requests are worth, which cover all of these: gaps of 16 KiB are read, none is above
    4 MiB.
    """
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1] + GAP_BYTES:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return [(at, min(at + RUN_BYTES, stop)) for start, stop in merged for at in range(start, stop, RUN_BYTES)]


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _without(span: Span, taken: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts of a span that none of the others takes."""
    at = span[0]
    for start, stop in sorted(taken):
        if at < start:
            yield at, start
        at = max(at, stop)
    if at < span[1]:
        yield at, span[1]


def _clip(span: Span, size: int) -> Span:
    return span[0], min(span[1], size)


def _read_record(path: Path) -> RemoteVersion | None:
    with suppress(OSError, ValueError, TypeError):
        return RemoteVersion(**json.loads(path.read_text(encoding="utf-8")))
    return None


def _replaced(url: str) -> ImageReplacedError:
    return ImageReplacedError(f"{url}: the image changed since the job was checked; submit it anew")


def _write_all(descriptor: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, at)
        view, at = view[written:], at + written
