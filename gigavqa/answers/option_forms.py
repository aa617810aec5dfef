"""Puts an option's own words in place of a near form: with a sentence's ending, or without the option's subject."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from gigavqa.answers.lexicon import UNSPACED, Words, phrases
from gigavqa.answers.text import plain, sentences_of

_LONGEST = 1_000
"""Characters of a text that is looked at: a longer one names its option in passing."""
_LEAST = 8
"""Characters of an option's rest that tell it from others, wherever they stand."""


def _longest_first(name: str) -> str:
    return "|".join(sorted(map(re.escape, phrases(name)), key=len, reverse=True))


_ENDING = re.compile(rf"(?:{_longest_first('sentence_ending')})$")
_MOST_ENDINGS = 3
_PARTICLE = re.compile(rf"(?:^|[^\w]|{_longest_first('before_predicate')})$")
_LONGEST_PARTICLE = max(map(len, phrases("before_predicate")))
_LEAD = re.compile(rf"(?:{_longest_first('option_lead')})\s+|l['’]")


_UNSTATED = Words(
    "possibility", "equal_chance", "undecided", "condition", "hypothesis", "first_thought", "speaker", "answerer",
    "seeming", "nothing", "nobody", "alternative",
)  # fmt: skip
"""What makes a text less than a plain statement, which a near form of an option needs."""


def with_option_words(text: str, options: Mapping[str, str]) -> str:
    """Return a text with the words of the one option that a near form in it is of; the text itself where none is one.

    None is where several options are told so, or one in its own words.
    """
    forms = _forms_of(tuple(options.items()))
    if not forms or len(text) > _LONGEST:
        return text
    if _UNSTATED.search(text.lower()) or "?" in text or "？" in text:
        return text
    found = [(part, near) for part in sentences_of(text) for near in _near_forms(plain(part), forms)]
    if len({letter for _, (letter, _, _) in found}) != 1:
        return text
    sentence, (letter, start, end) = found[-1]
    said = plain(sentence)
    rest = f"{plain(text.replace(sentence, ' '))} {said[:start]} {said[end:]}"
    if any(form in rest for form, other in forms.items() if other != letter):
        return text
    return text.replace(sentence, f"{said[:start]} {options[letter].strip(' .。')}{said[end:]}. ", 1)


def _near_forms(said: str, forms: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    """Yield the options that a sentence ends with, or holds the rest of, with where they stand: the longest of each."""
    stems = [*_stems(said)]
    found: dict[str, tuple[int, int]] = {}
    for form, letter in forms.items():
        if UNSPACED.search(form):
            at = next((len(stem) - len(form) for stem in stems if stem.endswith(form)), -1)
            if (
                at >= 0
                and _PARTICLE.search(said[max(0, at - _LONGEST_PARTICLE) : at])
                and len(form) > _length(found.get(letter))
            ):
                found[letter] = (at, at + len(form))
        elif (near := re.search(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])", said)) and (
            len(form) >= _LEAST or near.end() == len(said)
        ):
            found[letter] = near.span()
    longest = max(map(_length, found.values()), default=0)
    for letter, (start, end) in found.items():
        if end - start == longest or not UNSPACED.search(said[start:end]):
            yield letter, start, len(said) if UNSPACED.search(said[start:end]) else end


def _length(span: tuple[int, int] | None) -> int:
    return span[1] - span[0] if span else 0


@lru_cache(maxsize=256)
def _forms_of(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return letters by the forms that are looked for: stems, or what a leading pronoun or article leaves.

    Those of two options are none.
    """
    forms: dict[str, set[str]] = {}
    for letter, text in options:
        said = plain(text)
        lead = _LEAD.match(said)
        for form in _stems(said) if UNSPACED.search(said) else [said[lead.end() :]] if lead else []:
            forms.setdefault(form, set()).add(letter)
    return {form: letters.pop() for form, letters in forms.items() if form and len(letters) == 1}


def _stems(text: str) -> Iterator[str]:
    """Yield a text, and what is left of it without each of its endings in turn."""
    yield text
    if not UNSPACED.search(text):
        return
    for _ in range(_MOST_ENDINGS):
        shorter = _ENDING.sub("", text).rstrip()
        if shorter == text or not shorter:
            return
        text = shorter
        yield text
