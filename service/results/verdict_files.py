"""Files of verdicts that are kept whole for a while: readers of Parquet ask for its end first, and then for parts."""

import asyncio
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path

_MOST_FILES = 16


class VerdictFiles:
    """The files that were asked for last, each by the ETag of its content."""

    def __init__(self, most: int = _MOST_FILES) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gigavqa-verdicts-")
        self._most = most
        self._kept: OrderedDict[str, Path] = OrderedDict()
        self._number = 0

    async def keep(self, tag: str, chunks: AsyncIterator[bytes]) -> Path:
        """Return the file of a tag, of these chunks where there is none yet. Raises what the chunks raise."""
        if tag not in self._kept:
            path = await self._write(chunks)
            if (twin := self._kept.get(tag)) is not None:  # somebody else asked for it meanwhile
                path.unlink()
                path = twin
            self._kept[tag] = path
        self._kept.move_to_end(tag)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)[1].unlink(missing_ok=True)
        return self._kept[tag]

    def close(self) -> None:
        """Forget all of them."""
        self._folder.cleanup()

    async def _write(self, chunks: AsyncIterator[bytes]) -> Path:
        self._number += 1
        path = Path(self._folder.name) / str(self._number)
        try:
            with path.open("wb") as file:
                async for chunk in chunks:
                    await asyncio.to_thread(file.write, chunk)
        except BaseException:
            path.unlink()
            raise
        return path
