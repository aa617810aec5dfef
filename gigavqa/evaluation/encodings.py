"""Tells in which encoding a file of text is written, where that is sure enough to read it."""

import codecs
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

REMEDY = 'save it as UTF-8 (in Excel: "CSV UTF-8")'
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
          codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
"""Byte order marks; that of UTF-32 begins with that of UTF-16, and so stands before it."""
_AT_ONCE = 1 << 20
_HIGH = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"[^\W\d_]*[ÀÂÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖØÙÚÛÜßàâäåæçèéêëìíîïñòóôöøùúûüãõÃÕáÁœŒýÝ][^\W\d_]*")
_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüœŒ"
_SIGNS = "€°²³µ±×÷½¼¾§«»„“”‚‘’–—…¿¡ºª·•\xa0©®™"
_ODD = re.compile(
    rf"(?<=[A-Za-z])[^\x00-\x7f{_LETTERS}’–—\xa0²³°·®™](?=[A-Za-z])|(?<=[a-z])[ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜ]"
)
"""What stands inside a word only where other bytes were meant: a sign, or a capital behind a small letter."""
_MOST_TOGETHER = 2
"""Letters with accents that follow each other in languages of Western Europe; elsewhere whole words are written so."""


class EncodingUnknownError(Exception):
    """No encoding is sure; the message says why, and what helps."""


class TextEncoding(NamedTuple):
    """A codec's name, and what is to be said of it; nothing of UTF-8."""

    name: str
    note: str = ""


def detect_encoding(path: Path) -> TextEncoding:
    """Return a text file's encoding; raises EncodingUnknownError telling why none is sure, with the remedy.

    A byte order mark decides; else UTF-8 where all of it is, and Windows-1252 where every byte beyond ASCII is a letter
    or sign of Western Europe at a place where such stand.
    """
    status = path.stat()
    return _detect_encoding(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _detect_encoding(path: Path, size: int, changed: int) -> TextEncoding:
    with path.open("rb") as file:
        opening = file.read(4)
    for mark, name in _MARKS.items():
        if opening.startswith(mark):
            _require_decodable(path, name)
            return TextEncoding(
                name, "" if name == "utf-8-sig" else f"is read as {name.upper()}, as its first bytes say"
            )
    try:
        _require_decodable(path, "utf-8")
    except EncodingUnknownError as error:
        return _detect_western(path, str(error))
    return TextEncoding("utf-8")


def _require_decodable(path: Path, name: str) -> None:
    """Decode a file, and keep nothing; raises EncodingUnknownError with the place of the first byte that cannot be."""
    decoder, before = codecs.getincrementaldecoder(name)(), 0
    with path.open("rb") as file:
        while True:
            content = file.read(_AT_ONCE)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(content, final=not content)
            except UnicodeDecodeError as error:
                place = before - pending + error.start
                wrong = error.object[error.start]
                raise EncodingUnknownError(
                    f"is not {name.removesuffix('-sig').upper()} text: byte 0x{wrong:02x} at {place}"
                ) from error
            before += len(content)
            if not content:
                return


def _detect_western(path: Path, why: str) -> TextEncoding:
    text = path.read_bytes()
    if b"\0" in text[:_AT_ONCE]:
        raise EncodingUnknownError(
            f"{why}, and holds zero bytes: UTF-16 without a byte order mark, or no text; {REMEDY}"
        )
    try:
        told = text.decode("cp1252")
    except UnicodeDecodeError:
        raise EncodingUnknownError(f"{why}; {REMEDY}") from None
    runs = set(_HIGH.findall(told))
    known = all(character in _LETTERS + _SIGNS for run in runs for character in run)
    together = all(sum(map(str.isalpha, run)) <= _MOST_TOGETHER for run in runs)
    if not known or not together or _ODD.search(told):
        raise EncodingUnknownError(f"{why}; {REMEDY}")
    words = list(dict.fromkeys(match[0] for match in _WORD.finditer(told)))[:3]
    seen = f" ('{', '.join(words)}')" if words else ""
    return TextEncoding("cp1252", f"is not UTF-8, and is read as Windows-1252{seen}; if that is wrong, {REMEDY}")
