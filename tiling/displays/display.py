"""How the samples of an image become the 8-bit colours that a model is shown, as somebody declares it.

One small grammar serves every door: data sets, jobs, commands, chats and addresses (docs/displays.md). No file says
which of its bands are red, green and blue, nor which of its values are black and white; so nothing of it is guessed.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.tiling.errors import quote_text
from gigavqa.tiling.image_part import WHOLE, ImagePart

StretchKind = Literal["percentile", "range", "minmax", "sigma", "none"]
Scope = Literal["image", "band", "region"]

_BAND_COUNTS = (1, 3)
_WITHOUT_VALUE = ("palette", "icc")
_LONGEST_TEXT = 500
_FORMS: dict[str, tuple[StretchKind, int, str]] = {
    "percentile": ("percentile", 2, "percentile:LOW:HIGH"),
    "range": ("range", 2, "range:BLACK:WHITE"),
    "minmax": ("minmax", 0, "minmax"),
    "sigma": ("sigma", 1, "sigma:COUNT"),
    "none": ("none", 0, "none"),
}
_SCOPES: dict[str, Scope] = {"image": "image", "band": "band", "region": "region"}


class Stretch(NamedTuple):
    """What becomes black and what white; the `numbers` are two percentiles, two values, or standard deviations."""

    kind: StretchKind
    numbers: tuple[float, ...] = ()

    def __str__(self) -> str:
        """Return it as it is declared: `percentile:2:98`."""
        return ":".join((self.kind, *map(number_text, self.numbers)))


@dataclass(frozen=True)
class Display:
    """A declared way to show an image's samples.

    `bands` are numbered from 1: one is shown grey, three as red, green and blue; none says that the file's own are.
    `stretch` is None where samples have 8 bits already. `gamma` above 1 brightens. Pixels all of whose shown bands hold
    `nodata` are transparent. `is_palette` shows the file's own colours of its classes. `scope` is what limits are
    found in: all shown bands of the image together, each band, or each band within the region that is shown. `part` is
    what of the file is shown, where it holds several pictures; `has_profile` applies the file's own ICC profile.
    """

    bands: tuple[int, ...] = ()
    stretch: Stretch | None = None
    gamma: float = 1.0
    nodata: float | None = None
    is_palette: bool = False
    scope: Scope = "band"
    part: ImagePart = WHOLE
    has_profile: bool = False

    def __str__(self) -> str:
        """Return the one text of this declaration, which `parse_display` reads."""
        parts = (
            self.bands and f"bands={','.join(map(str, self.bands))}",
            self.stretch and f"stretch={self.stretch}",
            self.gamma != 1 and f"gamma={number_text(self.gamma)}",
            self.nodata is not None and f"nodata={number_text(self.nodata)}",
            self.is_palette and "palette",
            self.scope != "band" and f"per={self.scope}",
            self.has_profile and "icc",
            str(self.part),
        )
        return " ".join(part for part in parts if part)


@lru_cache(maxsize=1024)
def parse_display(text: str) -> Display:
    """Read a declaration such as `bands=4,3,2 stretch=percentile:2:98`; raises ValueError, which says what is wrong.

    Parts are separated by blanks or semicolons, in any order, each once. `window=CENTRE:WIDTH`, as radiology has it, is
    a range.
    """
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"show: has {len(text)} characters, more than {_LONGEST_TEXT}")
    told: dict[str, Any] = {}
    for part in filter(None, re.split(r"[\s;]+", text)):
        name, _, value = part.partition("=")
        field, read = _reader_of(name)
        if field in told:
            raise ValueError(f"show: '{quote_text(part)}' says a second time what {_WORDS[field]} is")
        if bool(value) == (name in _WITHOUT_VALUE):
            raise ValueError(f"show: '{quote_text(part)}' {'takes no value' if value else 'lacks its value'}")
        told[field] = read(value)
    if not told:
        raise ValueError(f"show: says nothing; {', '.join(_READERS)} are to be declared")
    part = ImagePart(**{field: told.pop(field) for field in ImagePart._fields if field in told})
    if part.associated and part != ImagePart(associated=part.associated):
        raise ValueError("show: an associated image has no scenes, planes or crop; leave them out")
    display = Display(**told, part=part)
    if display.is_palette and (display.bands or display.stretch or display.gamma != 1):
        raise ValueError("show: a palette has colours of its own; leave bands, stretch, window and gamma out")
    if display.has_profile and display != Display(part=part, has_profile=True):
        raise ValueError(
            "show: icc takes colours as stored; leave bands, stretch, window, gamma, nodata and palette out"
        )
    if display.scope != "band" and (display.stretch is None or display.stretch.kind in ("range", "none")):
        raise ValueError(f"show: per={display.scope} needs a stretch whose limits are found: percentile, minmax, sigma")
    return display


def canonical_display(text: str) -> str:
    """Return the one text of a declaration, nothing where nothing is declared. Raises ValueError."""
    return str(parse_display(text)) if text else ""


def _reader_of(name: str) -> tuple[str, Callable[[str], Any]]:
    if name not in _READERS:
        known = ", ".join(_READERS)
        hint = did_you_mean(name, _READERS)
        raise ValueError(f"show: '{quote_text(name)}' is none of {known}{hint}")
    return _READERS[name]


def _read_bands(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if len(parts) not in _BAND_COUNTS or not all(re.fullmatch(r"[1-9]\d{0,4}", part, re.ASCII) for part in parts):
        raise ValueError(
            f"show: bands={quote_text(text)} names neither one band nor three, numbered from 1: bands=4,3,2"
        )
    return tuple(map(int, parts))


def _read_stretch(text: str) -> Stretch:
    kind, *rest = text.split(":")
    if kind not in _FORMS:
        forms = ", ".join(form for _, _, form in _FORMS.values())
        raise ValueError(f"show: stretch={quote_text(text)} is none of {forms}{did_you_mean(kind, _FORMS)}")
    known, count, form = _FORMS[kind]
    if len(rest) != count:
        raise ValueError(f"show: stretch={quote_text(text)} has not the form {form}")
    numbers = tuple(_read_number(f"stretch={text}", part) for part in rest)
    if count == 2 and not numbers[0] < numbers[1]:
        raise ValueError(f"show: stretch={quote_text(text)}: its first number is not below its second")
    if kind == "percentile" and not 0 <= numbers[0] < numbers[1] <= 100:
        raise ValueError(f"show: stretch={quote_text(text)}: percentiles lie from 0 to 100")
    if kind == "sigma" and not 0 < numbers[0] <= 100:
        raise ValueError(f"show: stretch={quote_text(text)}: is no number of standard deviations up to 100")
    return Stretch(known, numbers)


def _read_window(text: str) -> Stretch:
    parts = text.split(":")
    if len(parts) != 2:
        raise ValueError(f"show: window={quote_text(text)} has not the form CENTRE:WIDTH: window=40:400")
    centre, width = (_read_number(f"window={text}", part) for part in parts)
    if width <= 0:
        raise ValueError(f"show: window={quote_text(text)} has no width")
    return Stretch("range", (centre - width / 2, centre + width / 2))


def _read_gamma(text: str) -> float:
    gamma = _read_number(f"gamma={text}", text)
    if not 0.01 <= gamma <= 100:
        raise ValueError(f"show: gamma={quote_text(text)} does not lie from 0.01 to 100")
    return gamma


def _read_nodata(text: str) -> float:
    return math.nan if text.lower() == "nan" else _read_number(f"nodata={text}", text)


def _read_scope(text: str) -> Scope:
    if text not in _SCOPES:
        raise ValueError(f"show: per={quote_text(text)} is none of {', '.join(_SCOPES)}")
    return _SCOPES[text]


def _read_count(name: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[1-9]\d{0,5}", text, re.ASCII):
            raise ValueError(f"show: {name}={quote_text(text)} is no number from 1: {name}=2")
        return int(text)

    return read


def _read_associated(text: str) -> str:
    if not re.fullmatch(r"[\w.-]{1,100}", text, re.ASCII):
        raise ValueError(f"show: associated={quote_text(text)} is no name of an image: associated=label")
    return text


def _read_crop(text: str) -> bool:
    if text != "scanned":
        raise ValueError(f"show: crop={quote_text(text)} is not crop=scanned")
    return True


def _read_number(part: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or not re.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?", text, re.ASCII):
        raise ValueError(f"show: {quote_text(part)}: '{quote_text(text)}' is no number")
    return number


def number_text(number: float) -> str:
    """Return the shortest text of a number that reads as the same: `2`, `0.5`, `nan`."""
    return str(int(number)) if math.isfinite(number) and number == int(number) and abs(number) < 2**53 else repr(number)


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "bands": ("bands", _read_bands),
    "stretch": ("stretch", _read_stretch),
    "window": ("stretch", _read_window),
    "gamma": ("gamma", _read_gamma),
    "nodata": ("nodata", _read_nodata),
    "palette": ("is_palette", lambda _: True),
    "per": ("scope", _read_scope),
    "icc": ("has_profile", lambda _: True),
    "scene": ("scene", _read_count("scene")),
    "z": ("z", _read_count("z")),
    "t": ("t", _read_count("t")),
    "associated": ("associated", _read_associated),
    "crop": ("is_scanned", _read_crop),
}
_WORDS = {
    "bands": "bands",
    "stretch": "the stretch",
    "gamma": "gamma",
    "nodata": "nodata",
    "is_palette": "palette",
    "scope": "per",
    "has_profile": "icc",
    "scene": "the scene",
    "z": "z",
    "t": "t",
    "associated": "the associated image",
    "is_scanned": "crop",
}
