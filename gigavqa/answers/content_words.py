"""Words of a text that tell what it speaks of, in one form for all their forms, with what stands between them.

Articles, pronouns and words of seeing and counting are told apart by `lexicon.toml`, inflected words by their endings;
Han counts by the character, katakana by the word, and hiragana not at all.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gigavqa.answers.lexicon import by_language, phrases
from gigavqa.answers.numerals import COUNTED

_MARKS = "\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u200d"
"""Signs that are written onto letters, and are no letters to patterns."""
_UNSPACED_FUNCTION = sorted({*by_language("function_word")["zh"], *by_language("function_word")["ja"]}, key=len)[::-1]
_PIECE = re.compile(
    rf"(?P<cut>{'|'.join(_UNSPACED_FUNCTION)})|(?P<joint>[的地之色])|(?P<han>[㐀-鿿々])|(?P<katakana>[ァ-ヺー]+)"
    rf"|(?P<hiragana>[ぁ-ゟ]+)|(?P<word>(?:[^\W\d_぀-ヿ㐀-鿿][{_MARKS}]*)+)|(?P<digits>\d+)"
)
_STOPS = ("は", "が", "を", "に", "で", "も", "や", "へ", "と", "から", "まで")
"""Particles of Japanese that end a noun phrase."""
_COUNTER = re.compile(rf"(?<=[\d一二三四五六七八九十两俩几何]){'[' + COUNTED + ']'}|(?<=多少)[{COUNTED}]")
"""A measure word where it stands behind its number."""
_LATIN, _HANGUL, _ARABIC = re.compile(r"[a-z\u00c0-\u024f]"), re.compile(r"[가-힣]"), re.compile(r"[\u0600-\u06ff]")
_DEVANAGARI, _CYRILLIC = re.compile(r"[\u0900-\u097f]"), re.compile(r"[а-яё]")
_LEAST_STEM = 3
_LEAST_STEMS = {"ko": 1, "hi": 1}
"""Letters that are left of a word at least; those of Korean are syllables, of Hindi consonants."""
_ARTICLES = ("وال", "بال", "لل", "ال", "و")
"""What Arabic writes in one with the word behind it."""
_FLEETING = re.compile(r"(?<=[бвгджзклмнпрстфхцчшщ])[оеё](?=[бвгджзклмнпрстфхцчшщ]\Z)")
"""A vowel that Russian drops before some endings, "лодок" and "лодка"."""


class Token(NamedTuple):
    """A word where it stands; its `stem` is empty where it tells nothing of what is spoken of.

    A verb of posture says only that a thing is there, "stand", "lies".
    """

    stem: str
    start: int
    end: int
    is_preposition: bool = False
    is_posture: bool = False


@lru_cache(maxsize=64)
def tokens(lowered: str, language: str) -> tuple[Token, ...]:
    """Return the words of a lower-case text in order, without the particles that join them.

    Its function words are those of one language: "man" is one in German.
    """
    counters = {found.start() for found in _COUNTER.finditer(lowered)}
    return tuple(
        token
        for piece in _PIECE.finditer(lowered)
        if piece.start() not in counters and (token := _token(piece, language)) is not None
    )


def _token(piece: re.Match[str], language: str) -> Token | None:
    kind, text = piece.lastgroup, piece[0]
    if kind == "joint" or (kind == "hiragana" and not text.startswith(_STOPS)):
        return None
    if kind in ("cut", "hiragana"):
        return Token("", *piece.span())
    if kind != "word":
        return Token(text, *piece.span())
    stem, is_preposition = _stem_of(text, language)
    return Token(stem, *piece.span(), is_preposition, text in _phrases("posture", language))


@lru_cache(maxsize=1 << 14)
def _stem_of(word: str, language: str) -> tuple[str, bool]:
    """Return the stem of a word, and whether it is a preposition; no stem of a function word."""
    empty, prepositions = function_words(language), _phrases("preposition", language)
    if word in empty:
        return "", word in prepositions
    stem = stem_of(word)
    return ("" if stem in empty and _HANGUL.match(word) else stem), word in prepositions


@lru_cache(maxsize=64)
def _phrases(name: str, language: str) -> frozenset[str]:
    return frozenset(phrases(f"{name}.{language}"))


def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that tell nothing of what is spoken of."""
    return _phrases("function_word", language)


def preposition_words(language: str) -> frozenset[str]:
    """Return the words of a language that tell a place or how many."""
    return _phrases("preposition", language)


def stem_of(word: str) -> str:
    """Return what all forms of a lower-case word have in common."""
    if (known := _SAME.get(word)) is not None:
        return known
    if _ARABIC.match(word):
        article = next((one for one in _ARTICLES if word.startswith(one)), "")
        word = word[len(article) :] if len(word) - len(article) >= _LEAST_STEM else word
        return _SAME.get(word) or _without_endings(word, ("ar",))
    for script, languages in _ENDINGS_OF:
        if script.match(word):
            stem = _without_endings(_folded(word) if script is _LATIN else word, languages)
            return _SAME.get(stem, stem)
    return word


def _folded(word: str) -> str:
    plain = "".join(one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one))
    return plain.replace("ß", "ss").replace("œ", "oe").replace("æ", "ae")


_ENDINGS_OF = (
    (_LATIN, ("en", "de", "fr", "es", "pt")),
    (_CYRILLIC, ("ru",)),
    (_HANGUL, ("ko",)),
    (_DEVANAGARI, ("hi",)),
)


@lru_cache(maxsize=8)
def _endings(languages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({one for language in languages for one in by_language("word_ending")[language]}, key=len))[::-1]


def _without_endings(word: str, languages: tuple[str, ...]) -> str:
    least = _LEAST_STEMS.get(languages[0], _LEAST_STEM)
    while ending := next(
        (one for one in _endings(languages) if word.endswith(one) and len(word) - len(one) >= least), ""
    ):
        word = word[: -len(ending)]
    if languages == ("ru",) and len(word) > _LEAST_STEM:
        return _FLEETING.sub("", word)
    return word


_SAME: dict[str, str] = {}
_SAME.update({form: stem_of(group.split("|", 1)[0]) for group in phrases("same_noun") for form in group.split("|")})


def named(found: Iterable[Token]) -> frozenset[str]:
    """Return the stems of those words that are no function words and no prepositions."""
    return frozenset(token.stem for token in found if is_content(token))


def run_at(found: Sequence[Token], at: int) -> tuple[Token, ...]:
    """Return the words that stand about one without a function word between: its noun phrase."""
    first = last = at
    while first and _joins(found[first - 1], found[first]):
        first -= 1
    while last + 1 < len(found) and _joins(found[last], found[last + 1]):
        last += 1
    return tuple(found[first : last + 1])


def is_content(token: Token) -> bool:
    """Return whether a word is no function word and no preposition."""
    return bool(token.stem) and not token.is_preposition


def _joins(one: Token, other: Token) -> bool:
    return is_content(one) and is_content(other) and other.start - one.end <= _LONGEST_GAP


_LONGEST_GAP = 8
"""Characters between two words of a noun phrase, particles among them."""
