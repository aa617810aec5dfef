"""The catalogue as the gateway sees it: read again when the operator's folder of entries changes."""

from pathlib import Path

from catalogue.load import Catalogue, load_catalogue
from service.http.freshness import Kept, stamp


class Models:
    """The models that can be asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = Kept[Catalogue](1)

    def catalogue(self) -> Catalogue:
        """The shipped entries and those of the folder as they are now; raises EntryInvalidError naming the file."""
        paths = sorted(self._folder.glob("*.toml"))
        return self._kept.get("catalogue", stamp(*paths), lambda: load_catalogue(self._folder))
