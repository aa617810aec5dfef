"""The sentence of a question that asks, and what stands about it."""

import re

from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.text import sentences_of

_ASKS = ("?", "？", "؟")


TAG = lazy_pattern(rf"[,，、]\s?{words('tag')}(?=\s?[?？؟])")


LEAD = re.compile(r".*[:：]\s*(?=\S)", re.DOTALL)


def asking_sentence(text: str) -> str:
    """Return the sentence of a question that asks."""
    found = sentences_of(text) or [text]
    asking = [one for one in found if one.rstrip(" \"'”»」*").endswith(_ASKS)]
    counting = [one for one in found if _QUANTITY.search(one.lower())]
    return (asking or counting[:1] or found[:1])[-1]


_QUANTITY = Words("quantity_asked")
