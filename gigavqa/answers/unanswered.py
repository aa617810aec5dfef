"""Whether a text says in the end that what was asked cannot be told, whatever it named or guessed before."""

import re

from gigavqa.answers.abstention import find_abstention
from gigavqa.answers.asked import Asked
from gigavqa.answers.known_words import bare, content, is_asked, unknown_words
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.text import last_sentence

_REACH = 1_000
"""Characters of a text's end in which its last sentence begins."""
_IGNORANCE, _POSSIBLE = frozenset(phrases("ignorance")), Words("possibility", "equal_chance", "undecided")
_CLAUSES = re.compile("[,，、،;；:：—–.。।!！]")
_ANSWERS_NOTHING = lazy_pattern(rf"{words('answers_nothing')}[\s*_\u093e-\u094d]*$")
"""At the end of a clause that says no more: what is not answered is what was asked."""


def abstains_of(sentence: str, asked: Asked, language: str) -> bool | None:
    """Return whether a sentence abstains from what was asked; False where from something else.

    "I do not know its colour" abstains from the colour alone. None where it does not abstain, or from it is not told
    what.
    """
    found = find_abstention(sentence)
    if found is None:
        return None
    rest = f"{sentence[: found.start()]} {sentence[found.end() :]}"
    said = content(bare(rest), language)
    if any(is_asked(word, asked.words) for word in said):
        return True
    if _POSSIBLE.search(sentence.lower()):
        return None
    if unknown_words(rest, asked, language):
        return any(map(_ANSWERS_NOTHING.search, _CLAUSES.split(sentence.lower())))
    return True if found[0] in _IGNORANCE else None


def ends_unanswered(text: str, asked: Asked, language: str) -> bool:
    """Return whether the last sentence of a text abstains from what was asked."""
    last = last_sentence(text[-_REACH:].rstrip())
    return len(last) < min(_REACH, len(text.strip())) and abstains_of(last, asked, language) is True
