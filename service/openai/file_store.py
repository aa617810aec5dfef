"""Keep files: their bytes in a folder, what is known of them in the state store."""

import asyncio
import hashlib
import re
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Annotated

from gigavqa.contract.errors import QuotaExceededError
from gigavqa.service.errors import FileInvalidError, FileMissingError, ProblemFinding
from gigavqa.service.http.parameters import component
from gigavqa.store.files import FileRegistry, Purpose, StoredFile, new_file_id
from gigavqa.tiling.displays.proposals import propose_displays
from gigavqa.tiling.displays.samples import native_samples
from gigavqa.tiling.errors import ImageTooLargeError, ImageUnsupportedError, PixelTypeError, TilingError
from gigavqa.tiling.headers import read_stored_header
from gigavqa.tiling.roots import DIGESTS_FOLDER, UPLOAD_PREFIX
from gigavqa.tiling.versions import is_one_of_several

_FILE_ID = re.compile(r"file-[A-Za-z0-9_-]{1,64}")
_MOST_NAME = 255


class FileStore:
    """The files of the installation: bytes in a folder, and what is known of them on the server.

    `most_bytes` bounds what one owner may keep, and `most_files` how many.
    """

    def __init__(self, folder: Path, registry: FileRegistry, *, most_bytes: int, most_files: int = 10_000) -> None:
        self._folder = folder / "files"
        self._digests = folder / DIGESTS_FOLDER
        self._registry = registry
        self._most_bytes = most_bytes
        self._most_files = most_files

    async def add(
        self,
        source: IO[bytes] | Path,
        *,
        filename: str,
        purpose: Purpose,
        owner: str,
        expires_at: int | None = None,
        file_id: str | None = None,
        most_bytes: int | None = None,
    ) -> StoredFile:
        """Keep a file; its bytes are there before it is shown. With the `file_id` of before, it is the same one.

        Raises FileInvalidError where the owner has too many, or one for `vision` is no picture, QuotaExceededError
        where they have more than `most_bytes` together, and OSError.
        """
        number, held = await self._registry.totals(owner)
        if number >= self._most_files or held > self._most_bytes:
            raise FileInvalidError(
                f"there are {number} files of {held} bytes; at most {self._most_files} of {self._most_bytes} bytes are "
                "kept. Delete some"
            )
        file_id = file_id or new_file_id()
        size = await asyncio.to_thread(self._write, file_id, source)
        if purpose == "vision":
            await asyncio.to_thread(self._require_picture, file_id, filename)
        now = int(time.time())
        file = StoredFile(
            id=file_id,
            bytes=size,
            created_at=now,
            filename=filename[:_MOST_NAME],
            purpose=purpose,
            expires_at=expires_at,
            owner=owner,
        )
        try:
            await self._registry.add(file, most_bytes)
        except QuotaExceededError:
            await asyncio.to_thread(self._remove, file_id)
            raise
        return file

    async def get(self, file_id: str, owner: str) -> StoredFile:
        """Return a file; raises FileMissingError."""
        # Any other text could name another file of the folder.
        found = await self._registry.get(file_id, owner) if is_file_id(file_id) else None
        if found is None:
            raise file_missing(file_id)
        return found

    async def picture(self, file_id: str, owner: str) -> str:
        """Return the name that views know a file by. Raises FileMissingError."""
        return f"{UPLOAD_PREFIX}files/{(await self.get(file_id, owner)).id}"

    async def delete(self, file_id: str, owner: str) -> None:
        """Forget a file, and then remove its bytes. Raises FileMissingError and OSError."""
        await self.get(file_id, owner)
        if not await self._registry.remove(file_id):
            raise file_missing(file_id)
        await asyncio.to_thread(self._remove, file_id)

    async def remove_expired(self) -> None:
        """Remove the files whose time is over; to be run periodically."""
        for file in await self._registry.expired():
            await self._registry.remove(file.id)
            await asyncio.to_thread(self._remove, file.id)

    async def list(
        self, owner: str, *, after: str | None, limit: int, purpose: str | None, newest_first: bool
    ) -> tuple[Sequence[StoredFile], bool]:
        """Files of an owner's after one of them, and whether there are more."""
        return await self._registry.list(owner, after=after, limit=limit, purpose=purpose, newest_first=newest_first)

    def path(self, file_id: str) -> Path:
        """Return where the bytes of a file lie."""
        return self._folder / file_id

    def displays(self, file_id: str) -> Sequence[str]:
        """Return proposals of how a picture could be shown that is not shown as it is; none of others. Blocks."""
        path = self.path(file_id)
        try:
            read_stored_header(path)
        except PixelTypeError:
            found = read_stored_header(path, is_declared=True)
            return propose_displays(native_samples(found.pixel_type, has_table=found.has_table))
        except TilingError:  # no picture
            pass
        return []

    def _write(self, file_id: str, source: IO[bytes] | Path) -> int:
        """Write a file, and the SHA-256 of its bytes beside, by which it is the same picture as one in a body."""
        path, beside, digest = self.path(file_id), self._digests / file_id, hashlib.sha256()
        for folder in (path.parent, beside.parent):
            folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as sent, partial.open("wb") as file:
            while block := sent.read(1 << 20):
                digest.update(block)
                file.write(block)
        beside.unlink(missing_ok=True)
        partial.replace(path)
        beside.write_text(digest.hexdigest())
        return path.stat().st_size

    def _require_picture(self, file_id: str, filename: str) -> None:
        path = self.path(file_id)
        try:
            if is_one_of_several(filename):
                raise ImageUnsupportedError(
                    f"{path}: is one file of a slide that has several, which a data set can hold"
                )
            read_stored_header(path, is_declared=True)
        except TilingError as error:
            self._remove(file_id)
            told = str(error).replace(str(path), filename[:_MOST_NAME])
            if not isinstance(error, PixelTypeError | ImageTooLargeError):  # which say what helps
                told = f"{told}; models are shown JPEG, PNG, WebP, JPEG 2000 and TIFF files"
            raise FileInvalidError(told, [ProblemFinding(detail=told, pointer="#/file")]) from error

    def _remove(self, file_id: str) -> None:
        self.path(file_id).unlink(missing_ok=True)
        (self._digests / file_id).unlink(missing_ok=True)


Files = Annotated[FileStore, component(FileStore)]
"""What a route declares to get the files."""


def is_file_id(text: str) -> bool:
    """Return whether a text is an id as files have them; pictures of the data root have a folder in their names."""
    return bool(_FILE_ID.fullmatch(text))


def file_missing(file_id: str) -> FileMissingError:
    """Return the error of an id that stands for no file."""
    return FileMissingError(f"there is no file {file_id[:100]}")
