"""Finds where a text names options by their words, in any of their forms: "buses" for "Bus"."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from gigavqa.answers.answer_space import AnswerSpace, key_of
from gigavqa.answers.asked import words_in
from gigavqa.answers.content_words import Token, is_content, tokens
from gigavqa.answers.lexicon import UNSPACED
from gigavqa.answers.negation import Mention

_LONGEST_GAP = 8
"""Characters between two words of an option, function words among them."""


def option_mentions(text: str, options: Mapping[str, str], language: str) -> list[Mention]:
    """Return where a text names options, by their letters, in order; the longest where one is part of another."""
    known = tuple(options.items())
    found = [one for one in _exact(text, known) if not _is_within_word(text, one)]
    stems = _stems(known, language)
    said = [token for token in tokens(text.lower(), language) if is_content(token)]
    for at in range(len(said)):
        found += (_mention(said[at : at + len(one)], letter) for one, letter in stems.items() if _stand(said, at, one))
    return _longest([one for one in found if not _is_denied_within(text, one, options, language)])


def _is_denied_within(text: str, mention: Mention, options: Mapping[str, str], language: str) -> bool:
    """Return whether a denial stands amid an option's words that has none of its own, "the window is not open"."""
    negator = words_in(language, "negator")
    said = text[mention.start : mention.end].lower()
    return negator.search(said) is not None and negator.search(options[str(mention.value)].lower()) is None


def _exact(text: str, options: tuple[tuple[str, str], ...]) -> list[Mention]:
    space, letters = _space(options)
    return [Mention(one.start, one.end, letters[key_of(str(one.value))]) for one in space.mentions(text)]


@lru_cache(maxsize=256)
def _space(options: tuple[tuple[str, str], ...]) -> tuple[AnswerSpace, dict[str, str]]:
    return AnswerSpace([text for _, text in options], {}), {key_of(text): letter for letter, text in options}


def _is_within_word(text: str, mention: Mention) -> bool:
    """Return whether letters stand right before or behind, in scripts that set words apart."""
    if UNSPACED.search(text[mention.start : mention.end]):
        return False
    before, behind = text[max(0, mention.start - 1) : mention.start], text[mention.end : mention.end + 1]
    return (before.isalpha() and before not in "وف" and not UNSPACED.match(before)) or (
        behind.isalpha() and not UNSPACED.match(behind)
    )


@lru_cache(maxsize=256)
def _stems(options: tuple[tuple[str, str], ...], language: str) -> dict[tuple[str, ...], str]:
    """Return letters by the stems of their options' words; none that two have in common, or of single signs."""
    found: dict[tuple[str, ...], list[str]] = {}
    for letter, text in options:
        stems = tuple(token.stem for token in tokens(text.lower(), language) if is_content(token))
        if stems and not any(len(stem) < 2 for stem in stems):
            found.setdefault(stems, []).append(letter)
    return {stems: letters[0] for stems, letters in found.items() if len(letters) == 1}


def _stand(said: Sequence[Token], at: int, stems: Sequence[str]) -> bool:
    here = said[at : at + len(stems)]
    return tuple(token.stem for token in here) == tuple(stems) and all(
        other.start - one.end <= _LONGEST_GAP for one, other in pairwise(here)
    )


def _mention(said: Sequence[Token], letter: str) -> Mention:
    return Mention(said[0].start, said[-1].end, letter)


def _longest(found: Sequence[Mention]) -> list[Mention]:
    kept: list[Mention] = []
    for one in sorted(found, key=lambda mention: (mention.start - mention.end, mention.start)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept)
