"""Small JPEGs of rasters beside the Parquet parts: written once by workers, read by whoever shows what was seen."""

import re
import uuid
from contextlib import suppress

from fsspec.implementations.local import LocalFileSystem

from gigavqa.store.object_stores import open_results, translate_store_errors, write_object

_KEY = re.compile(r"[0-9a-f]{8,64}")


class PreviewStore:
    """Previews under `_previews/` of a folder or fsspec address, named by raster key. All methods block.

    They are named by content and shared by all jobs, so that deleting a job leaves them; the folder may be deleted.
    Readers of Parquet pass over what begins with `_`. Earlier versions wrote under `previews/`, which is still read.
    """

    def __init__(self, uri: str) -> None:
        self._fs, root = open_results(uri)
        self._root, self._earlier = f"{root}/_previews", f"{root}/previews"

    @translate_store_errors()
    def exists(self, key: str) -> bool:
        """Return whether there is a preview of the raster."""
        return any(self._fs.exists(path) for path in self._paths(key))

    @translate_store_errors()
    def write(self, key: str, jpeg: bytes) -> None:
        """Write a preview, whole or not at all."""
        path, _ = self._paths(key)
        if isinstance(self._fs, LocalFileSystem):
            self._fs.makedirs(self._root, exist_ok=True)
            unfinished = f"{path}.{uuid.uuid4().hex}"
            self._fs.pipe_file(unfinished, jpeg)
            self._fs.mv(unfinished, path)
        else:
            write_object(self._fs, path, jpeg)  # object stores show an object when it is complete

    @translate_store_errors()
    def read(self, key: str) -> bytes | None:
        """Return a preview's JPEG; None where there is none, also for what is no key."""
        if not _KEY.fullmatch(key):
            return None
        for path in self._paths(key):
            with suppress(FileNotFoundError):
                content: bytes = self._fs.cat_file(path)
                return content
        return None

    @translate_store_errors()
    def keys(self) -> list[str]:
        """Return the keys of all rasters that have a preview."""
        found: list[str] = []
        for folder in (self._root, self._earlier):
            with suppress(FileNotFoundError):
                found += self._fs.ls(folder, detail=False)
        names = {path.rpartition("/")[2].removesuffix(".jpg") for path in found}
        return sorted(name for name in names if _KEY.fullmatch(name))

    def _paths(self, key: str) -> tuple[str, str]:
        """Return where a preview is written, and where an earlier version wrote it."""
        return f"{self._root}/{key}.jpg", f"{self._earlier}/{key}.jpg"
