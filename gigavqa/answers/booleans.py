"""Reads yes-or-no answers (appendix D.2)."""

import re
from collections.abc import Sequence
from typing import Any

from gigavqa.answers.abstention import abstains, commits, find_abstention
from gigavqa.answers.letters import behind_glue
from gigavqa.answers.lexicon import Words, phrases, words
from gigavqa.answers.negation import verdicts
from gigavqa.answers.normalization import passages
from gigavqa.answers.readings import AMBIGUOUS, UNFINISHED, UNPARSABLE, Reading, only_reading, parsed
from gigavqa.answers.text import is_ended, last_sentence, lines_backwards, plain, sentences
from gigavqa.answers.withdrawals import behind_retraction, is_conditional, is_first_thought

_TRUTH = {
    plain(phrase): truth
    for truth, names in ((True, ("yes", "yes_alone")), (False, ("no",)))
    for name in names
    for phrase in phrases(name)
}
_COPULA = re.compile(r"\s?(?:입니다|이다|です|だ|है|हैं)$")
_LONGEST_PAIR = 64
_PAIR = re.compile(rf"[/,，、|]|{words('alternative', 'addition')}")
_OPENING = re.compile(r"[^.,;:!?。，；：！、،।—–\n-]{1,48}")
_PART = re.compile(r"\W*+(?:[^:：]{2,60}|(?<=[^\w:：])[^:：])[:：]\s*(.+)")
"""One line of several that say yes or no of a part each, "upper-left: yes"."""
_SUMS_UP = re.compile(rf"{words('conclusion')}|answer|result|conclusion|答案|结论|respuesta", re.IGNORECASE)
"""What a line says that is of no part, but of all."""
_CONCLUDES = Words("conclusion", "likely", "guess")
_TURNED = Words("retraction", "second_look", pattern=rf"{{}}\W{{0,4}}(?P<truth>{words('yes', 'no')})(?![^\W\d_])")
"""A yes or no that takes back what was said before it, "Yes... actually no"."""


def read_boolean(value: Any, *, cut_off: bool = False) -> Reading:
    """Read a bool, or a text that says yes or no: opening with it, or in its last sentence that says either.

    Of a text that was `cut_off` amid a sentence, what is neither opened with nor announced is no answer.
    """
    if isinstance(value, bool):
        return parsed(value)
    if isinstance(value, dict):
        return only_reading(parsed(known) for inner in value.values() if (known := _truth(str(inner))) is not None)
    if isinstance(value, str):
        return _read_text(value, cut_off)
    return parsed(bool(value)) if value in (0, 1) else UNPARSABLE


def _read_text(value: str, cut_off: bool) -> Reading:
    if (known := _truth(value)) is not None:
        return parsed(known)
    if len(value) <= _LONGEST_PAIR and _says_both(value):
        return AMBIGUOUS
    behind = behind_retraction(value, lambda rest: _last_verdict(rest).status != "unparsable", short=True)
    if behind is value and (turned := [*_TURNED.finditer(value.lower())]):
        return parsed(bool(_truth(turned[-1]["truth"])))
    value = behind
    for passage in passages(value):
        for told in (passage,) if passage is value else (passage, behind_glue(passage)):
            opening = _OPENING.match(told)
            if opening and told[opening.end() : opening.end() + 1] in _ASKS:
                continue
            if opening and (known := _truth(opening[0])) is not None and not _is_withdrawn(told):
                if (concluded := _on_proposition(told)) not in (None, known):
                    return parsed(concluded)
                return AMBIGUOUS if _opens_otherwise(told, known) else parsed(known)
    return UNFINISHED if cut_off and not is_ended(value) else _last_verdict(value)


_ASKS = frozenset("?？؟")
_PROPOSITION = Words("proposition", pattern=r"{}[^.;!?。]{0,48}")
_HYPOTHETICAL = Words("condition", "hypothesis")


def _on_proposition(text: str) -> bool | None:
    """Return what the last sentence says of the statement in question, "The statement is false."; None for nothing."""
    last = last_sentence(text).lower()
    found = None if _HYPOTHETICAL.search(last) or abstains(last) else _PROPOSITION.search(last)
    said = verdicts(found[0]) if found else frozenset()
    return next(iter(said)) if len(said) == 1 else None


def _opens_otherwise(text: str, truth: bool) -> bool:
    """Return whether a later sentence of a first line opens with the other truth, "Yes, he is. No, he is not."."""
    later = sentences(text.partition("\n")[0])[1:]
    opened = (_OPENING.match(sentence.lstrip()) for sentence in later)
    return any(one is not None and _truth(one[0]) is (not truth) for one in opened)


def _says_both(text: str) -> bool:
    """Return whether a text is nothing but yes and no."""
    known: set[bool | None] = set()
    for part in _PAIR.split(text):
        known.add(_truth(part))
        if None in known:
            return False
    return len(known) > 1


def _truth(text: str) -> bool | None:
    said = plain(text)
    return _TRUTH.get(said, _TRUTH.get(_COPULA.sub("", said)))


def _known(text: str) -> frozenset[bool]:
    known = _truth(text)
    return frozenset() if known is None else frozenset({known})


def _is_withdrawn(text: str) -> bool:
    """Return whether the first sentence tells of a first impression, or that no answer can be given."""
    first = next(iter(sentences(text.partition("\n")[0])), "")
    return is_first_thought(first) or (abstains(first) and not commits(first))


def _last_verdict(text: str) -> Reading:
    lines = list(lines_backwards(text))
    if _is_of_parts(lines):
        return AMBIGUOUS
    backwards = [sentence for line in lines for sentence in reversed(sentences(line))]
    for at, sentence in enumerate(backwards):
        said = _of_proposition(sentence) or verdicts(sentence) or _known(sentence)
        if said and is_conditional(sentence):
            continue
        if said and (not abstains(sentence) or commits(sentence)):
            unknown = any(map(find_abstention, backwards[at + 1 :])) and not _CONCLUDES.search(sentence.lower())
            return parsed(*said) if len(said) == 1 and not unknown else AMBIGUOUS
        if find_abstention(sentence) and not commits(sentence):
            return UNPARSABLE
    return UNPARSABLE


def _of_proposition(sentence: str) -> frozenset[bool]:
    """Return what a sentence says of the statement where it names it behind what holds of parts."""
    found = _PROPOSITION.search(sentence.lower())
    said = verdicts(found[0]) if found and found.start() else frozenset()
    return said if len(said) == 1 else frozenset()


def _is_of_parts(lines: Sequence[str]) -> bool:
    """Return whether each of several lines says yes or no of a part, and not all the same."""
    said: set[frozenset[bool]] = set()
    for line in lines:
        part = _PART.fullmatch(line)
        if part is None or _SUMS_UP.search(line) or not (told := verdicts(part[1]) or _known(part[1])):
            return False
        said.add(told)
    return len(said) > 1
