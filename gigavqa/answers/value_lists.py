"""Find the values that a text lists as its answer, where it speaks of others besides."""

import re
from collections.abc import Callable, Hashable, Sequence

from gigavqa.answers.lexicon import Words
from gigavqa.answers.negation import Mention, joined, said_values, settle
from gigavqa.answers.text import sentences_of

LISTING = re.compile(r"\[[^\[\]]*\]")
"""A list in brackets."""
_MORE = Words("aside")
_CONCLUSION, _POSSIBLE = Words("conclusion"), Words("possibility")


def listed_values(text: str, mentions_of: Callable[[str], Sequence[Mention]]) -> list[Hashable]:
    """Return the values of the one sentence that lists two or more, or of the last one where that ends the text.

    Others that are spoken of before or behind it are remarks, unless they are said to be more of the same.
    """
    parts = sentences_of(text)
    named = [(at, part, mentions) for at, part in enumerate(parts) if (mentions := mentions_of(part))]
    lists = [one for one in named if _is_list(*one[1:])]
    is_last = bool(lists) and lists[-1] is named[-1]
    if not lists or (len(lists) > 1 and not is_last):
        return []
    at, sentence, mentions = lists[-1]
    goes_on = not is_last and any(_MORE.search(part.lower()) for part in parts[at + 1 :])
    return [] if goes_on else list(dict.fromkeys(said_values(sentence, mentions)))


def concluded_values(text: str, mentions_of: Callable[[str], Sequence[Mention]]) -> list[Hashable]:
    """Return the values of a last sentence that concludes, where sentences before it went through some."""
    named = [(part, mentions) for part in sentences_of(text) if (mentions := mentions_of(part))]
    if len(named) < 2 or not _concludes(*named[-1]):
        return []
    return list(dict.fromkeys(said_values(*named[-1])))


def _is_list(sentence: str, mentions: Sequence[Mention]) -> bool:
    if settle(sentence, mentions).denied:
        return False
    values = set(said_values(sentence, mentions))
    return len(values) > 1 and joined(sentence, mentions) >= values


def _concludes(sentence: str, mentions: Sequence[Mention]) -> bool:
    """Return whether a sentence draws a conclusion before its values, and says of none that it only may be one."""
    lowered = sentence.lower()
    before = _ENGLISH_ALSO.sub(" ", lowered[: mentions[0].start])
    if not _CONCLUSION.search(before) or _POSSIBLE.search(lowered):
        return False
    return bool(said_values(sentence, mentions))


_ENGLISH_ALSO = re.compile(r"(?:\b(?:is|are|was|were|has|have|see)|['’]s)\s+also\b")
"""What names more of the same, where a German "also" concludes."""
