"""Whether a letter that a sentence names in passing is meant: in a predicate's place, or in words that are understood.

"It must be B", "the tail decides: B", "B" and "the sign matches B" mean it; "I considered B" and "option B mentions a
dog" only speak of it (decision 0010).
"""

import re
from collections.abc import Mapping

from gigavqa.answers.asked import Asked, language_of
from gigavqa.answers.known_words import denies, unknown_words
from gigavqa.answers.letters import letter_mentions, letters_of
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.negation import Mention
from gigavqa.answers.option_stances import without_mentions
from gigavqa.answers.text import answer_of, plain, sentences_of

_REACH = 80
"""Characters about a letter in which the words stand that make it a predicate."""
_MOST = 16
"""Times that a sentence names a letter, from its end, each of which is looked at."""
_MARKUP = r"[\s*_`\"'“(\[]{0,6}"
_TOLD = ("copula", "conclusion", "preference", "announcement", "announcement_direct", "seeming")
_SAID = rf"(?:{words(*_TOLD)}|['’](?:s|re)\b)\s*(?:{words('filler', 'option_noun', 'adverb')}\s*){{0,4}}"
_PREDICATE = lazy_pattern(
    rf"(?:{_SAID}|[:：,，;—–*>→=」』。、はが]|\A){_MARKUP}(?:{words('option_noun')}\s*)?{_MARKUP}\Z"
)
_ENDS = lazy_pattern(
    rf"[)\]*_`\"'”’\s]{{0,6}}(?:[.,;:!。,、(（—–]|\Z|です|である|だ|입니다|이다|है"
    rf"|{words('cause', 'contrast', 'concession', 'conclusion')})"
)
_BORDER = re.compile("[,，;；:：、—–]")


_LETTER_IN_NAME = re.compile(r"[^\W\d_]{2,}\W+[A-Z](?![^\W_])")


def without_lettered_names(text: str, options: Mapping[str, str]) -> str:
    """Return a text with a sign in place of options whose own words hold a letter, "Gate A"."""
    names = [re.escape(name) for name in options.values() if _LETTER_IN_NAME.search(name)]
    return re.sub(rf"(?<![^\W_])(?:{'|'.join(names)})(?![^\W_])", "…", text, flags=re.IGNORECASE) if names else text


def is_meant(text: str, letter: str, options: Mapping[str, str], asked: Asked) -> bool:
    """Return whether any sentence of a text that names a letter means it, or tells it by its place alone."""
    answer, patterns = answer_of(text), letters_of(tuple(options.items()))
    is_named = False
    for sentence in sentences_of(answer.text if answer else ""):
        mentions = letter_mentions(sentence, patterns)
        named = [one for one in mentions if one.value == letter][-_MOST:]
        language, is_named = language_of(sentence.lower(), asked.language), is_named or bool(named)
        if any(_is_predicate(sentence, one, language) for one in named):
            return True
        rest = without_mentions(sentence, mentions)
        is_known = not unknown_words(rest, asked, language) and not denies(rest.lower(), language)
        if plain(sentence).upper() == letter or (named and is_known):
            return True
    return not is_named


def _is_predicate(sentence: str, mention: Mention, language: str) -> bool:
    """Return whether a letter stands behind a copula, a conclusion or a stop, and its clause ends with it."""
    before = sentence[max(0, mention.start - _REACH) : mention.start].lower()
    behind = sentence[mention.end : mention.end + _REACH].lower()
    if not _PREDICATE.search(before) or not _ENDS.match(behind):
        return False
    return not denies(_BORDER.split(before.rstrip(" :：*"))[-1], language)
