"""From what a message says of a picture to a view of it, checked by its header; no pixel is decoded.

A picture is sent (as a data URL, or as a file before), or named with a region and a size: by `gigavqa:` a file or one
below the data root, which its IIIF address at this installation names, too; or it is fetched, from hosts that the
operator lists.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.runtime.public_addresses import AddressRefusedError, parse_url
from gigavqa.service.errors import ChatInvalidError, ProblemFinding, ServiceError
from gigavqa.service.openai.fetching import ImageFetcher
from gigavqa.service.openai.file_store import FileStore, is_file_id
from gigavqa.service.openai.uploads import Uploads, as_sent, decode_base64
from gigavqa.service.operations.image_headers import ImageHeaders
from gigavqa.tiling.displays.display import canonical_display
from gigavqa.tiling.displays.display_rules import show_below
from gigavqa.tiling.errors import TilingError, quote_text
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.masks import canonical_mask
from gigavqa.tiling.region_grammar import DECIMAL, INTEGER
from gigavqa.tiling.roots import ImageRoot, check_image_name
from gigavqa.tiling.views import View, plan_view

SCHEME = "gigavqa:"
"""What the name of a picture begins with: of one below the data root, or of an uploaded file."""

_IIIF = re.compile(r"/iiif/(?:3/)?([^/]+)/([^/]+)/([^/]+)/([^/]+)/(default|color)\.(jpg|png|webp|tif)")
_CONDITIONS = {"V1": "longest:1024", "V2": "native"}
_DATA = re.compile(r"data:[^,]{0,400};base64,")
_ASPECT_TOLERANCE_PIXELS = 1.0
_MOST_ADDRESS = 16_384  # a name as long as one may be, in characters that take nine to write in an address
_PERCENT_SIZE = re.compile(f"pct:{DECIMAL}", re.ASCII)
_FIT_SIZE = re.compile(f"!{INTEGER},{INTEGER}", re.ASCII)
_SIDES = re.compile(rf"{INTEGER}?,{INTEGER}?", re.ASCII)


class ImageResolver:
    """Knows what the parts of messages show. Blocks, but for `view`."""

    def __init__(
        self,
        data: Path,
        headers: ImageHeaders,
        uploads: Uploads,
        files: FileStore,
        fetcher: ImageFetcher,
        *,
        origins: Sequence[str],
    ) -> None:
        self._root = ImageRoot(data, uploads.folder)
        self._uploads = uploads
        self._files = files
        self._fetcher = fetcher
        self._origins = frozenset(origins)
        self._headers = headers

    async def view(self, url: str | None, file_id: str | None, sent: Mapping[str, str], own: str, owner: str) -> View:
        """Find out what to show; `sent` names pictures that came with the body, `own` is the gateway's own origin.

        Raises ServiceError and TilingError.
        """
        if file_id is not None:
            return View(image=await self._files.picture(file_id, owner))
        if not url:
            raise ChatInvalidError("there is neither an address nor a file_id; a uuid alone names no picture here")
        if url in sent:
            return View(image=sent[url])
        if found := _DATA.match(url):
            return View(image=self._keep(url[found.end() :]))
        if len(url) > _MOST_ADDRESS:
            raise ChatInvalidError(
                f"'{quote_text(url)}' has {len(url)} characters; addresses have at most {_MOST_ADDRESS}"
            )
        if url.startswith(SCHEME):
            return await self._named(_parse_gigavqa_url(url), owner)
        try:
            parts = parse_url(url)
        except AddressRefusedError as error:
            raise ChatInvalidError(str(error)) from error
        if self._is_own(parts, own):
            return self._at_iiif(parts)
        return View(image=await self._fetcher.fetch(parts))

    def check(self, view: View, entry: CatalogueEntry, num_images: int) -> None:
        """Raise TilingError where there is no such picture, no such region of it, or none that the model takes."""
        size = self._size(view)
        try:
            plan_view(size, view, entry.visual_budget, num_images)
        except TilingError as error:
            raise type(error)(as_sent(str(error))) from error

    async def _named(self, view: View, owner: str) -> View:
        if not is_file_id(view.image):
            return view if view.show else view.model_copy(update={"show": show_below(self._root.folder, view.image)})
        return view.model_copy(update={"image": await self._files.picture(view.image, owner)})

    def _keep(self, text: str) -> str:
        arriving = self._uploads.arriving()
        try:
            arriving.write(decode_base64(text))
            return self._uploads.keep(arriving)
        except ValueError as error:
            raise ChatInvalidError(f"the data URL is not base64: {error}") from error
        finally:
            arriving.drop()

    def _is_own(self, parts: SplitResult, own: str) -> bool:
        return f"{parts.scheme}://{parts.netloc}".lower() in {own, *self._origins} and "/iiif/" in parts.path

    def _at_iiif(self, parts: SplitResult) -> View:
        found = _IIIF.fullmatch(parts.path)
        if not found:
            raise ChatInvalidError(
                f"'{quote_text(parts.geturl())}' is no address of a picture: /iiif/NAME/REGION/SIZE/0/default.jpg"
            )
        name, region, size, rotation, *_ = map(unquote, found.groups())
        if rotation != "0":
            raise ChatInvalidError(f"rotation '{quote_text(rotation)}' is not shown to models; say 0")
        name = check_image_name(name)
        query = dict(parse_qsl(parts.query))
        asked = _read_display(query.get("show", ""))
        shown_as = asked or show_below(self._root.folder, name)
        view = View(image=name, region=region, show=shown_as, mask=_read_mask(query.get("mask", "")))
        shown = resolve_region(region, self._size(view))
        return view.model_copy(update={"sizing": _sizing_of_iiif(size, shown)})

    def _size(self, view: View) -> Size:
        image, path = view.image, self._root.locate(view.image)
        try:
            return self._headers.read(path, view.show).size
        except TilingError as error:
            raise type(error)(as_sent(str(error).replace(str(path), image))) from error


def _parse_gigavqa_url(url: str) -> View:
    """Parse `gigavqa:DATASET/images/x.tif?region=pct:10,10,5,5&condition=V1`, or the same of `file-...`."""
    name, _, query = url.removeprefix(SCHEME).partition("?")
    asked = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(set(asked) - {"region", "sizing", "condition", "show", "mask"}):
        raise ChatInvalidError(
            f"'{quote_text(url)}' says {quote_text(', '.join(unknown))}; there are region, sizing, condition, "
            "show and mask"
        )
    show, mask = _read_display(asked.get("show", "")), _read_mask(asked.get("mask", ""))
    sizing = asked.get("sizing", "native")
    if condition := asked.get("condition"):
        if condition not in _CONDITIONS:
            raise ChatInvalidError(
                f"condition {quote_text(condition)} is shown of samples only; of a picture there are V1 "
                f"(a thumbnail), V2, "
                "and `region` for any part of it"
            )
        sizing = asked.get("sizing", _CONDITIONS[condition])
    try:
        image = check_image_name(unquote(name))
        return View(image=image, region=asked.get("region", "full"), sizing=sizing, show=show, mask=mask)
    except ValueError as error:
        raise ChatInvalidError(
            f"sizing '{quote_text(sizing)}' is none of native, longest:N, mpp:MICRONS and fit:..."
        ) from error


def _read_display(text: str) -> str:
    try:
        return canonical_display(text)
    except ValueError as error:
        raise ChatInvalidError(str(error)) from error


def _read_mask(text: str) -> str:
    try:
        return canonical_mask(text)
    except ValueError as error:
        raise ChatInvalidError(str(error)) from error


def _sizing_of_iiif(size: str, region: Region) -> str:
    """Return the sizing of a view for IIIF's size: what is made smaller must keep its shape."""
    width, height = region.width, region.height
    if size in ("max", "full"):
        return "native"
    if found := _PERCENT_SIZE.fullmatch(size):
        scale = float(found[1]) / 100
    elif found := _FIT_SIZE.fullmatch(size):
        scale = min(int(found[1]) / width, int(found[2]) / height)
    elif (found := _SIDES.fullmatch(size)) and any(found.groups()):
        scale = int(found[1]) / width if found[1] else int(found[2]) / height
        if all(found.groups()) and abs(int(found[2]) - height * scale) > _ASPECT_TOLERANCE_PIXELS:
            raise ChatInvalidError(f"size '{quote_text(size)}' changes the shape of a region of {width}x{height}")
    else:
        raise ChatInvalidError(f"size '{quote_text(size)}' is none of max, w,h, w,, ,h, !w,h and pct:n")
    longest = round(max(width, height) * scale)
    if not longest or longest > max(width, height):
        raise ChatInvalidError(f"size '{quote_text(size)}' is larger than the region of {width}x{height}, or nothing")
    return f"longest:{longest}"


def error_at(error: ServiceError | TilingError, pointer: str) -> ChatInvalidError:
    """Return the same error, with the part of the body that it is about."""
    if isinstance(error, ChatInvalidError) and error.findings:
        return error
    return ChatInvalidError(str(error), [ProblemFinding(detail=str(error), pointer=pointer)])
