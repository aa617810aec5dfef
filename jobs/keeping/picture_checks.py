"""Which pictures are not what models were shown: replaced or gone since they were asked about."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic_core import from_json

from jobs.keeping.findings import Finding, counted
from tiling.digest import content_digest
from tiling.errors import TilingError
from tiling.roots import ImageRoot


class PictureChecks:
    """Hears of responses, and then looks at the pictures that they were shown."""

    def __init__(self, data: Path, uploads: Path) -> None:
        self._root = ImageRoot(data, uploads)
        self._shown: dict[str, Counter[str]] = defaultdict(Counter)
        self._jobs: dict[tuple[str, str], set[str]] = defaultdict(set)

    def hear(self, job_id: str, text: str | bytes) -> None:
        """Note what the response of a job was shown."""
        rasters = from_json(text).get("rasters", ())
        for image, digest in {(raster["view"]["image"], raster["digest"]) for raster in rasters}:
            self._shown[image][digest] += 1
            self._jobs[image, digest].add(job_id)

    def check(self) -> Iterator[Finding]:
        """Every picture that is not what it was."""
        for image, shown in sorted(self._shown.items()):
            now = self._digest(image)
            for digest, number in shown.items():
                if digest == now:
                    continue
                kind, became = ("gone", "is gone") if now is None else ("replaced", "was replaced or touched")
                jobs = ", ".join(sorted(self._jobs[image, digest]))
                told = f"{became} since {counted(number, 'response')} of {jobs}"
                yield Finding(f"picture-{kind}", "changed", f"picture {image}", told)

    def _digest(self, image: str) -> str | None:
        try:
            return content_digest(self._root.locate(image))
        except (TilingError, OSError):
            return None
