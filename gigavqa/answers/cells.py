"""Read the grid cells that a text names, as (row, column) counted from 1 at the top left."""

import re

from gigavqa.answers.coordinates import Coordinate, read_coordinate
from gigavqa.answers.lexicon import by_language, lazy_pattern
from gigavqa.answers.negation import Mention

_ROW = r"(?:rows?|r|ligne|zeile|fila|linha|riga|строк[аеи]|ряд|行)"
_COLUMN = r"(?:columns?|cols?|c|colonne|colonna|spalte|columna|coluna|столб(?:ец|це)|колонк[аеи]|列)"
_ORDINALS = by_language("ordinal")
_WORDS = [word for words in _ORDINALS.values() for word in words]
_CARDINALS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMBER = rf"(\d{{1,3}}|{'|'.join(_WORDS + _CARDINALS)})"
_ORDINAL = rf"(\d{{1,3}}(?=(?:st|nd|rd|th|\.|er|e|ª|º)?\s)|{'|'.join(_WORDS)})(?:st|nd|rd|th|\.|er|e|ª|º)?"
_SMALL_WORDS = r"(?:is|and|of|the|und|et|y|e|in|number|no|la|el|die|der)\b"
_GAP = rf"[\s*_`\"'’:=#()\[\],;，、及和与-]{{0,6}}(?:{_SMALL_WORDS}[\s\"':=,]*){{0,3}}"
_HAN_DIGITS = "一二三四五六七八九十"
_HAN = rf"(\d{{1,3}}|[{_HAN_DIGITS}])"
_FROM = r"(?:\s+\(?(?:from\s+the\s+(?:left|top)|desde\s+(?:la\s+izquierda|arriba))\)?)?"
_COUNTED = r"(?:从[左上](?:[往到向][右下])?数?(?:起)?)?"
_ONE = r"(?<!s)(?!s\b)"  # "10 rows" counts them
_START, _END = r"(?<![A-Za-z0-9])", r"(?!\d|\.\d)"

_PATTERNS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), swapped)
    for pattern, swapped in (
        (rf"{_START}{_ROW}{_GAP}{_NUMBER}{_END}{_FROM}{_GAP}{_COLUMN}{_GAP}{_NUMBER}{_END}", False),
        (rf"{_START}{_COLUMN}{_GAP}{_NUMBER}{_END}{_FROM}{_GAP}{_ROW}{_GAP}{_NUMBER}{_END}", True),
        (rf"\b{_ORDINAL}\s+{_ROW}{_ONE}{_FROM}{_GAP}{_ORDINAL}\s+{_COLUMN}{_ONE}", False),
        (rf"\b{_ORDINAL}\s+{_COLUMN}{_ONE}{_FROM}{_GAP}{_ORDINAL}\s+{_ROW}{_ONE}", True),
        (rf"第\s*{_HAN}\s*行\W{{0,3}}{_COUNTED}第\s*{_HAN}\s*列", False),
        (rf"第\s*{_HAN}\s*列\W{{0,3}}{_COUNTED}第\s*{_HAN}\s*行", True),
        (r"(\d{1,3})\s*行目\W{0,3}(\d{1,3})\s*列目", False),
        (r"(\d{1,3})\s*행\W{0,3}(\d{1,3})\s*열", False),
        (r"(?<![A-Za-z0-9_.])[(\[{]\s*(\d{1,3})\s*[,;，]\s*(\d{1,3})\s*[)\]}](?![A-Za-z0-9_]|\.\d)", False),
    )
)
_BARE = re.compile(r"[\s*_`\"'$:=\\{(\[]*+(?:boxed|is|is at|text)?[\s{(]*+(\d{1,3})\s*[,;，/]\s*(\d{1,3})(?![\d.,])")
_LONE = re.compile(r"\W*(\d{1,3})\s*[,;，]\s*(\d{1,3})\W*")
_HALVES = lazy_pattern(
    rf"(\b{_ROW}\W{{1,8}}\d{{1,3}})[^\w\n]*\n\s*(?=\W{{0,4}}{_COLUMN}\b)|(\b{_COLUMN}\W{{1,8}}\d{{1,3}})[^\w\n]*\n\s*(?=\W{{0,4}}{_ROW}\b)",
    re.IGNORECASE,
)
_NUMERALS = {
    word: number
    for words in (*_ORDINALS.values(), _CARDINALS, list(_HAN_DIGITS))
    for number, word in enumerate(words, start=1)
}


def cell_mentions(text: str) -> list[Mention]:
    """Return where a text names cells in any of the known forms, in order."""
    found = sorted(
        Mention(*match.span(), cell)
        for pattern, swapped in _PATTERNS
        for match in pattern.finditer(text)
        if (cell := _cell(match[1], match[2], swapped))
    )
    apart, end = [], 0
    for mention in found:
        if mention.start >= end:
            apart.append(mention)
            end = mention.end
    return apart


def named_cells(text: str) -> frozenset[Coordinate]:
    """Return the cells that a text names in any of the known forms."""
    return frozenset(mention.value for mention in cell_mentions(text) if isinstance(mention.value, Coordinate))


def only_cell(text: str) -> Coordinate | None:
    """Return the one cell that an annotated text names, such as an option's; None for none or several."""
    cells = named_cells(text)
    return next(iter(cells)) if len(cells) == 1 else read_coordinate(text)


def bare_cell(text: str) -> Coordinate | None:
    """Return the cell where a text begins with two bare numbers, "3, 7", as only an announced answer may."""
    match = _BARE.match(text)
    return _cell(match[1], match[2], swapped=False) if match else None


def lone_cell(sentence: str) -> Coordinate | None:
    """Return the cell where a sentence is two bare numbers and nothing else."""
    match = _LONE.fullmatch(sentence)
    return _cell(match[1], match[2], swapped=False) if match else None


def join_halves(text: str) -> str:
    """Put a row and a column that stand on two lines on one."""
    return _HALVES.sub(lambda match: f"{match[1] or match[2]}, ", text)


def _cell(first: str, second: str, swapped: bool) -> Coordinate | None:
    row, column = (_number(second), _number(first)) if swapped else (_number(first), _number(second))
    return Coordinate(row, column) if row > 0 and column > 0 else None


def _number(text: str) -> int:
    return _NUMERALS.get(text.lower()) or int(text)
