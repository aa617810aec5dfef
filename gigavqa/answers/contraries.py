"""Words that exclude each other: colours, sides, states."""

from gigavqa.answers.content_words import stem_of
from gigavqa.answers.lexicon import phrases


def _contraries() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in phrases("contraries"):
        stems = frozenset(map(stem_of, group.split("|")))
        for stem in stems:
            found[stem] = found.get(stem, frozenset()) | (stems - {stem})
    return found


CONTRARIES = _contraries()
"""By word, those that are none of what it is."""


STATES = frozenset(CONTRARIES)
"""Words that tell how or where a thing is, and are no noun: colours, sides."""
