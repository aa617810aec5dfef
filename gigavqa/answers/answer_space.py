"""The texts that an answer may be one of, each with its variants, and where a text names them.

Texts are compared lower-cased, trimmed, without trailing punctuation, hyphens and underscores as spaces (appendix D.2).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gigavqa.answers.negation import Mention, said_values, settled
from gigavqa.answers.option_numbers import are_listable, without_list_numbers
from gigavqa.answers.spellings import either_spelling, one_spelling
from gigavqa.answers.text import plain, sentences_of
from gigavqa.answers.value_lists import listed_values

_JOINTS = re.compile(r"[\s_\-‐‑–—/]+")


def key_of(text: str) -> str:
    """Return the form in which texts are compared."""
    return one_spelling(_JOINTS.sub(" ", plain(text)).strip(" .,:;!?()[]"))


class AnswerSpace:
    """The texts that a step may be answered with, each with its variants. Empty: any text.

    `canonical` maps the compared form of a text to the choice it stands for.
    """

    def __init__(self, choices: Sequence[str], variants: Mapping[str, Iterable[str]]) -> None:
        self.choices = tuple(choices)
        self.canonical = {key_of(choice): choice for choice in choices}
        for text, others in variants.items():
            self.canonical |= dict.fromkeys(map(key_of, others), self.canonical_of(text))
        self._is_listable = are_listable(self.canonical)
        self._named = _named(sorted(filter(None, self.canonical), key=len, reverse=True))

    def canonical_of(self, text: str) -> str:
        """Return the choice that a text stands for; for any other text, the form in which it is compared."""
        key = key_of(text)
        return self.canonical.get(key, key)

    def without_list_numbers(self, text: str) -> str:
        """Return a text without the numbers of its lists' lines, where one could be taken for a choice."""
        return without_list_numbers(text) if self._is_listable else text

    def mentions(self, text: str) -> list[Mention]:
        """Return where a text names choices as whole words, in order, no part of one counted as another."""
        if self._named is None:
            return []
        found = self._named.finditer(text)
        return [Mention(*match.span(), self.canonical[_key_named(match[0], self.canonical)]) for match in found]

    def named_in(self, text: str) -> list[str]:
        """Return the choices that a text names and does not deny, in order."""
        named = (value for sentence in sentences_of(text) for value in said_values(sentence, self.mentions(sentence)))
        return list(dict.fromkeys(map(str, named)))

    def listed_in(self, text: str) -> list[str]:
        """Return the choices that one sentence of a text lists; none where several do, or none does."""
        return [str(value) for value in listed_values(text, self.mentions)]

    def settled_in(self, sentence: str) -> frozenset[str]:
        """Return the choices that a sentence settles on."""
        return frozenset(map(str, settled(sentence, self.mentions(sentence), alone=True)))


_JOINT = r"[\s_\-‐‑–—/\\'’]+"
_ARTICLE = re.compile(r"^(?:an|the|a(?! is\b)) ")


def _named(keys: Sequence[str]) -> re.Pattern[str] | None:
    if not keys:
        return None
    words = "|".join(_JOINT.join(map(either_spelling, _ARTICLE.sub("", key).split(" "))) for key in keys)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:(?:an?|the)\s+)?(?:{words})(?![A-Za-z0-9_])", re.IGNORECASE)


def _key_named(text: str, known: Mapping[str, str]) -> str:
    key = key_of(text.replace("\\", " "))
    if key in known:
        return key
    bare = _ARTICLE.sub("", key)
    return bare if bare in known else next(whole for whole in known if _ARTICLE.sub("", whole) == bare)


def text_of(value: Any) -> str | None:
    """Return a text, a truth or a number as a text; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None
