"""Check for images that are no longer what models were shown: replaced, or gone."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic_core import from_json

from gigavqa.backup.findings import CheckFinding
from gigavqa.runtime.plurals import count_noun
from gigavqa.tiling.digest import content_digest, is_sampled_digest, matches_digest
from gigavqa.tiling.errors import ImageAddressError, ImageUnavailableError, TilingError
from gigavqa.tiling.roots import ImageRoot

_OF_ALL_BYTES = 64


class ImageChecks:
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

    def check(self) -> Iterator[CheckFinding]:
        """Yield every picture that is not what it was."""
        for image, shown in sorted(self._shown.items()):
            for digest, number in shown.items():
                kind, became = self._became(image, digest)
                if kind:
                    jobs = ", ".join(sorted(self._jobs[image, digest]))
                    told = f"{became} since {count_noun(number, 'response')} of {jobs}"
                    yield CheckFinding(f"picture-{kind}", "changed", f"picture {image}", told)
        yield from self._confused()

    def _became(self, image: str, digest: str) -> tuple[str, str]:
        """Return what became of the picture that was shown, for scripts and for people; '' where it is the same."""
        try:
            path, stated = self._root.locate(image), self._root.stated_digest(image)
            if digest == stated or (stated and is_sampled_digest(digest)) or matches_digest(path, digest):
                return "", ""
        except (ImageAddressError, ImageUnavailableError):
            return "", ""  # it lies elsewhere, and nobody knows
        except (TilingError, OSError):
            return "gone", "is gone"
        return "replaced", "was replaced" if len(digest) == _OF_ALL_BYTES else "was replaced, copied or touched"

    def _confused(self) -> Iterator[CheckFinding]:
        """Pictures of different contents that an earlier release took for one, since it read samples of them."""
        images = defaultdict[str, list[str]](list)
        for image, shown in sorted(self._shown.items()):
            for digest in filter(is_sampled_digest, shown):
                images[digest].append(image)
        for digest, shared in images.items():
            if len({self._content(image) for image in shared} - {None}) > 1:
                jobs = {job for image in shared for job in self._jobs[image, digest]}
                told = f"were taken for one picture in responses of {', '.join(sorted(jobs))}: ask these again"
                yield CheckFinding("picture-confused", "changed", f"pictures {' and '.join(shared)}", told)

    def _content(self, image: str) -> str | None:
        try:
            return self._root.stated_digest(image) or content_digest(self._root.locate(image))
        except (TilingError, OSError):
            return None
