"""Reads numbers that are written as texts: with a point or a comma before the fraction, and marks between thousands."""

import re
from typing import NamedTuple

_SIGN = r"[-+−]?"
_GAP = r"[ \u00a0\u2009\u202f'’]"
_PLAIN = re.compile(rf"{_SIGN}(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
_COMMA = re.compile(rf"{_SIGN}\d*,\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = {
    ",": re.compile(rf"{_SIGN}[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d+)?(?:[eE][-+]?\d+)?"),
    ".": re.compile(rf"{_SIGN}[1-9]\d{{0,2}}(?:\.\d{{3}})+(?:,\d+)?(?:[eE][-+]?\d+)?"),
}
_SPACED = re.compile(rf"{_SIGN}[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+(?:[.,]\d+)?")
_INDIAN = re.compile(rf"{_SIGN}[1-9]\d?(?:,\d{{2}})+,\d{{3}}(?:\.\d+)?")
_AMBIGUOUS = re.compile(rf"{_SIGN}[1-9]\d{{0,2}}([.,])\d{{3}}")
"""One mark with three digits behind it, and not zero before: thousands to some, thousandths to others."""
_LEADING = re.compile(rf"{_SIGN}(?:\d[\d.,]*|[.,]\d+)(?:{_GAP}\d{{3}}(?!\d)[\d.,]*)*(?:[eE][-+]?\d+)?(?<![.,])")
_DIGIT_ALONE = re.compile(r"(?<![^\W\d_])\d")


class NumberConvention(NamedTuple):
    """The decimal sign of a file's numbers, and whether somebody said so."""

    decimal: str = "."
    told: bool = False


def decimal_sign_of(text: str) -> str:
    """Return the decimal sign that a number can only have; nothing where both would do, or where it is no number."""
    text = strip_percent(text)
    if _AMBIGUOUS.fullmatch(text):
        return ""
    if _SPACED.fullmatch(text):
        return next((sign for sign in ".," if sign in text), "")
    if _PLAIN.fullmatch(text) or _THOUSANDS[","].fullmatch(text):
        return "." if "." in text else ""
    return "," if _COMMA.fullmatch(text) or (_THOUSANDS["."].fullmatch(text) and "," in text) else ""


def is_ambiguous(text: str) -> bool:
    """Return whether a number is another one where the other sign is the decimal sign: "1,234"."""
    return bool(_AMBIGUOUS.fullmatch(text))


def parse_number(text: str, convention: NumberConvention) -> str | None:
    """Return the number that a text is, as Python writes it; None where it is none in this convention.

    Raises ValueError where it is one number in this convention and may be meant as another.
    """
    if _INDIAN.fullmatch(text):
        return _normalize_number(text)
    if convention.decimal == ".":
        if _SPACED.fullmatch(text) and "," not in text:
            return _require_sure_number(text, convention)
        return _normalize_number(text) if _PLAIN.fullmatch(text) or _THOUSANDS[","].fullmatch(text) else None
    if "." in text and is_ambiguous(text) and not convention.told:
        raise ValueError(
            f"'{text}' is {_normalize_number(text, ',', '.')} where a comma is the decimal sign, as in a "
            f"table of semicolons, "
            f"and {_normalize_number(text)} where a point is; say which: `--decimal ,` or `--decimal .`"
        )
    if _COMMA.fullmatch(text) or _THOUSANDS["."].fullmatch(text) or (_SPACED.fullmatch(text) and "." not in text):
        return _normalize_number(text, ",", ".")
    plain = _PLAIN.fullmatch(text) or _THOUSANDS[","].fullmatch(text) or _SPACED.fullmatch(text)
    return _normalize_number(text) if plain else None


def _require_sure_number(text: str, convention: NumberConvention) -> str:
    number = _normalize_number(text)
    if " " in text and not convention.told:
        raise ValueError(
            f"'{text}' is not one number for sure: {number} where blanks stand between thousands, else several; write "
            f"{number}, say `--decimal .` where all such truths are numbers, or name the column answer_text"
        )
    return number


def strip_percent(text: str) -> str:
    """Return a number without the per cent sign behind it."""
    return text.rstrip("%％").rstrip()


def leading_number(text: str, convention: NumberConvention) -> str | None:
    """Return the number that a text begins with, before its unit.

    None where more follow. Raises as `parse_number` does.
    """
    match = _LEADING.match(text)
    if match is None or _DIGIT_ALONE.search(text, match.end()):
        return None
    return parse_number(match[0], convention)


def _normalize_number(text: str, decimal: str = ".", thousands: str = ",") -> str:
    bare = re.sub(_GAP, "", text).replace(thousands, "")
    return bare.replace(decimal, ".").replace("−", "-")
