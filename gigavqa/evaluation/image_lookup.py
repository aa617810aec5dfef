"""The images at hand for an import: in a folder, in the records themselves, or pages of documents."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gigavqa.evaluation.record_context import stored_image_name
from gigavqa.evaluation.records import RECORD_SUFFIXES
from gigavqa.evaluation.sample_files import PAGE_SUFFIXES, list_files, order_pages
from gigavqa.tiling.errors import TilingError, quote_text
from gigavqa.tiling.image_folders import folder_kind
from gigavqa.tiling.opening import locate_remote
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.versions import files_of

LONGEST_NAME, _SHOWN = 1024, 60
_SLIDE_SUFFIXES = (".svs", ".ndpi", ".mrxs", ".vms", ".vmu", ".scn", ".bif", ".czi", ".svslide", ".dcm", ".zarr")
IMAGE_SUFFIXES = (*sorted(PAGE_SUFFIXES), *_SLIDE_SUFFIXES)
"""Of names of pictures."""


@dataclass(frozen=True)
class DocumentRendering:
    """The rendering of document files into images: `render` writes the pages of one into a folder, at `dpi` dots per
    inch.
    """

    render: Callable[[Path, Path, int], Sequence[Path]]
    dpi: int


class _ImagesByStem(Mapping[str, str]):
    """Images by stem; a slide's name also finds the one file whose name it begins, as TCGA's files are called."""

    def __init__(self, folder: Path) -> None:
        self._names: dict[str, str] = {}
        by_file: dict[str, list[str]] = {}
        by_stem: dict[str, list[str]] = {}
        for name in list_files(folder):
            file = PurePosixPath(name)
            if file.suffix.lower() in RECORD_SUFFIXES or any(part.endswith(".zarr") for part in file.parts):
                continue
            self._names.setdefault(file.stem, name)
            if file.suffix.lower() in IMAGE_SUFFIXES:
                by_file.setdefault(file.name, []).append(name)
                by_stem.setdefault(file.stem, []).append(name)
        self._by_file = {file: names for file, names in by_file.items() if len(names) > 1}
        self._by_stem = {stem: names for stem, names in by_stem.items() if len(names) > 1}
        self._sorted = sorted(self._names)

    def alike(self, name: str) -> Sequence[str]:
        """Return the pictures of a file's name in several folders; of a name without an ending, of whatever ending.

        None where there is only one.
        """
        file = PurePosixPath(name)
        return (self._by_file if file.suffix else self._by_stem).get(file.name, ())

    def __getitem__(self, stem: str) -> str:
        if stem in self._by_stem:
            raise KeyError(stem)
        if stem in self._names:
            return self._names[stem]
        longer = [name for mark in "-._" for name in self._begun_by(f"{stem}{mark}")]
        if len(longer) != 1:
            raise KeyError(stem)
        return self._names[longer[0]]

    def _begun_by(self, beginning: str) -> Iterator[str]:
        """Yield the stems that begin so, two at most."""
        at = bisect_left(self._sorted, beginning)
        return (name for name in self._sorted[at : at + 2] if name.startswith(beginning))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class ImageLookup:
    """The images at hand, in a folder and in the records: finds them by the names that records use, looks at each once.

    What lies in records is written into the `draft` of the data set as it is read.
    """

    def __init__(
        self,
        folder: Path | None,
        draft: Path,
        check_image: Callable[[Path, str], object],
        rendering: DocumentRendering | None = None,
        *,
        follows_links: bool = False,
    ) -> None:
        self._is_told = folder is not None
        self._folder = folder = folder or draft
        self._draft = draft
        self._check = check_image
        self._rendering = rendering
        self._follows_links = follows_links
        self._documents: dict[Path, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self.by_stem = _ImagesByStem(folder)

    def keep(self, content: bytes) -> str:
        """Write a picture that lies in a record, once; returns its name in the data set."""
        name = stored_image_name(content)
        path = self._draft / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return name

    @property
    def rendered_at(self) -> int:
        """Dots per inch of the pages that were rendered; 0 where none was."""
        return self._rendering.dpi if self._rendering and self._documents else 0

    def pages(self, name: str) -> tuple[str, ...]:
        """Names in the data set of the images of a folder, or of the pages of a document file, rendered once.

        Raises ValueError for a document that cannot be rendered, and for links that lead out of the folder.
        """
        if len(name) > LONGEST_NAME:
            raise ValueError(f"a name has {len(name)} characters, and {LONGEST_NAME} at most")
        for short in _name_endings(name):
            path = self._folder / short
            if _is_folder(path):
                found = sorted((one for one in path.iterdir() if one.suffix.lower() in PAGE_SUFFIXES), key=order_pages)
                if outside := next(filter(self._leads_out, found), None):
                    raise ValueError(self._outside(outside.relative_to(self._folder).as_posix()))
                return tuple(f"images/{one.relative_to(self._folder).as_posix()}" for one in found)
            if _is_file(path):
                if path not in self._documents:
                    self._documents[path] = self._rendered(path, PurePosixPath(short).with_suffix(""))
                return self._documents[path]
        return ()

    def _rendered(self, document: Path, place: PurePosixPath) -> tuple[str, ...]:
        if self._rendering is None:
            raise ValueError(f"{document.name} is a document, whose pages nothing here renders")
        try:
            pages = self._rendering.render(document, self._draft / "images" / place, self._rendering.dpi)
        except TilingError as error:
            raise ValueError(str(error)) from error
        return tuple(page.relative_to(self._draft).as_posix() for page in pages)

    def find(self, name: str, show: str = "") -> tuple[str, str | None]:
        """Return an image's name in the data set, and what is wrong with it as its record declares that it is shown.

        It is looked for below the folder by the whole name, and then by ever less of its beginning.
        """
        if len(name) > LONGEST_NAME:
            told = f"the image's name has {len(name)} characters, and may have {LONGEST_NAME}"
            return f"{name[:_SHOWN]}...", told
        if is_remote_name(name):
            return name, self._verdict(name, lambda: locate_remote(name), show)
        if (message := self._ambiguous(name)) or not (place := self._place_of(name)):
            return name, message or self._missing(name)
        candidate, path = place
        if any(map(self._leads_out, files_of(path))):
            return name, self._outside(name)
        return f"images/{candidate}", self._verdict(f"images/{candidate}", lambda: path, show)

    def _place_of(self, name: str) -> tuple[str, Path] | None:
        """Return where an image lies, by its name below the folder; that of a record in the draft."""
        places = [(other, self._folder / other) for other in _name_endings(name)]
        for candidate, path in [(name.removeprefix("images/"), self._draft / name), *places]:
            if _is_file(path) or _is_image_folder(path):
                return candidate, path
        alone = self.by_stem.get(PurePosixPath(name).stem, "")
        known = PurePosixPath(name).name in (PurePosixPath(alone).name, PurePosixPath(alone).stem)
        return (alone, self._folder / alone) if alone and known else None

    def _ambiguous(self, name: str) -> str:
        """Say which pictures a name may mean that is in another folder there; nothing where one is meant."""
        place, alike = self._place_of(name), self.by_stem.alike(name)
        by_path = place[0] if place and place[0] in _name_endings(name) else ""
        if len(alike) < 2 or "/" in by_path or (by_path and "/" not in name.removeprefix("images/")):
            return ""
        more = f" and {len(alike) - 2} more" if len(alike) > 2 else ""
        return f"image '{name}' may be {alike[0]} or {alike[1]}{more}: write its folder, or give `--images` that folder"

    def _missing(self, name: str) -> str:
        if not self._is_told:
            return f"image '{name}' is a file: name the folder of the images, --images FOLDER"
        return f"there is no image '{quote_text(name)}' in {self._folder}"

    def _outside(self, name: str) -> str:
        return f"image '{name}' is a link that leads out of {self._folder}; `cp -rL` copies what links name"

    def _leads_out(self, path: Path) -> bool:
        """Return whether a file lies elsewhere: it would be brought into a data root, where all may see it."""
        if self._follows_links:
            return False
        where = path.resolve()
        return not any(where.is_relative_to(folder.resolve()) for folder in (self._folder, self._draft))

    def check(self, images: Sequence[str], shows: Sequence[str] = ()) -> Sequence[str]:
        """Tell what is wrong with the images of a record, which declares of each how it is shown, or of none."""
        found = map(self.find, images, shows or ("",) * len(images))
        wrong = [message for _, message in found if message]
        return [f"images: {self._by_number(message, images)}" for message in wrong]

    def _by_number(self, message: str, images: Sequence[str]) -> str:
        """Name in `message` an image, which has no other name than its number where it lies in the record itself."""
        for number, image in enumerate(images, start=1):
            message = message.replace(str(self._draft / image), f"picture {number} of the record")
        return message

    def _verdict(self, name: str, locate: Callable[[], Path], show: str) -> str | None:
        if (name, show) not in self._found:
            path = Path(name)
            try:
                path = locate()
                self._check(path, show)
                self._found[name, show] = None
            except TilingError as error:
                told = str(error).replace(str(path), name) if is_remote_name(name) else str(error)
                self._found[name, show] = told
        return self._found[name, show]

    def path_of(self, name: str) -> Path:
        """Return where an image lies that was found, by its name in the data set."""
        if is_remote_name(name):
            return locate_remote(name)
        drawn = self._draft / name
        return drawn if _is_file(drawn) or _is_image_folder(drawn) else self._folder / name.removeprefix("images/")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no file can have such a name
        return False


def _is_image_folder(path: Path) -> bool:
    try:
        return folder_kind(path) is not None
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _name_endings(name: str) -> list[str]:
    """Return where a file or folder of this name may lie: the whole name, and then ever less of its beginning."""
    parts = PurePosixPath(name).parts
    return [
        *dict.fromkeys([name.removeprefix("images/"), name, *("/".join(parts[at:]) for at in range(1, len(parts)))])
    ]
