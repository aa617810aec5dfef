"""Small JPEGs of rasters beside the Parquet parts: written once by workers, read by whoever shows what was seen."""

import re
import uuid

import fsspec
from fsspec.implementations.local import LocalFileSystem

from gigavqa.store.object_stores import translate_store_errors

_KEY = re.compile(r"[0-9a-f]{8,64}")


class PreviewStore:
    """Previews under `previews/` of a folder or fsspec address, named by raster key. All methods block.

    They are named by content and shared by all jobs, so that deleting a job leaves them; the folder may be deleted.
    """

    def __init__(self, uri: str) -> None:
        self._fs, root = fsspec.core.url_to_fs(uri)
        self._root = f"{root}/previews"

    @translate_store_errors()
    def exists(self, key: str) -> bool:
        """Return whether there is a preview of the raster."""
        return bool(self._fs.exists(self._path(key)))

    @translate_store_errors()
    def write(self, key: str, jpeg: bytes) -> None:
        """Write a preview, whole or not at all."""
        path = self._path(key)
        if isinstance(self._fs, LocalFileSystem):
            self._fs.makedirs(self._root, exist_ok=True)
            unfinished = f"{path}.{uuid.uuid4().hex}"
            self._fs.pipe_file(unfinished, jpeg)
            self._fs.mv(unfinished, path)
        else:
            self._fs.pipe_file(path, jpeg)  # object stores show an object when it is complete

    @translate_store_errors()
    def read(self, key: str) -> bytes | None:
        """Return a preview's JPEG; None where there is none, also for what is no key."""
        if not _KEY.fullmatch(key):
            return None
        try:
            content: bytes = self._fs.cat_file(self._path(key))
        except FileNotFoundError:
            return None
        return content

    @translate_store_errors()
    def keys(self) -> list[str]:
        """Return the keys of all rasters that have a preview."""
        try:
            found = self._fs.ls(self._root, detail=False)
        except FileNotFoundError:
            return []
        names = (path.rpartition("/")[2].removesuffix(".jpg") for path in found)
        return sorted(name for name in names if _KEY.fullmatch(name))

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}.jpg"
