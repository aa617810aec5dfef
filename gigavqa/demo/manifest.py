"""The record of what is complete of the data set: `manifest.json`, written after every image."""

import json
from pathlib import Path
from typing import Any

from gigavqa.demo.canvas import replacing

_RECORDS = "records"


class DemoManifest:
    """The images that are complete for what they are made from, with their sizes in bytes."""

    def __init__(self, folder: Path, made_from: dict[str, Any], images: dict[str, int], *, records: bool) -> None:
        self.folder = folder
        self._made_from = made_from
        self._images = images
        self._records = records

    @classmethod
    def open(cls, folder: Path, generator: str, seed: int, scale: float = 1.0) -> "DemoManifest":
        """Read the folder's manifest; an empty one where there is none, or where it tells of other settings.

        `generator` is a version, raised whenever the same seed no longer gives the same records and pixels.
        """
        made_from = {"generator": generator, "seed": seed, "scale": scale}
        try:
            found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return cls(folder, made_from, {}, records=False)
        if not isinstance(found, dict) or found.get("made_from") != made_from:
            return cls(folder, made_from, {}, records=False)
        return cls(folder, made_from, found["images"], records=found[_RECORDS])

    def holds(self, image: str) -> bool:
        """Return whether the image is complete and its file is still as long as it was."""
        path = self.folder / image
        return image in self._images and path.is_file() and path.stat().st_size == self._images[image]

    def holds_records(self) -> bool:
        """Return whether the records are complete."""
        return self._records and (self.folder / "dataset.toml").is_file()

    def add(self, image: str) -> None:
        """Note that the image is complete; the records are to be checked again after it."""
        self._images[image] = (self.folder / image).stat().st_size
        self._records = False
        self._write()

    def add_records(self) -> None:
        """Note that the records are complete."""
        self._records = True
        self._write()

    def _write(self) -> None:
        content = {"made_from": self._made_from, "images": self._images, _RECORDS: self._records}
        with replacing(self.folder / "manifest.json") as temporary:
            temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
