"""Reads yes-or-no answers (appendix D.2)."""

import re
from collections.abc import Sequence
from typing import Any

from gigavqa.answers.abstention import abstains, commits, find_abstention
from gigavqa.answers.asked import Asked
from gigavqa.answers.doubts import START
from gigavqa.answers.letters import behind_glue
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.negation import verdicts
from gigavqa.answers.normalization import passages
from gigavqa.answers.plain_truths import (
    CONTRARY_TOLD,
    is_according_to_others,
    is_first_impression,
    is_of_others,
    truths_apart,
    yes_before_contrast,
)
from gigavqa.answers.readings import AMBIGUOUS, UNFINISHED, UNPARSABLE, Reading, only_reading, parsed
from gigavqa.answers.statements import as_stated
from gigavqa.answers.text import is_ended, last_sentence, lines_backwards, plain, sentences, sentences_of
from gigavqa.answers.turned_questions import as_turned
from gigavqa.answers.withdrawals import (
    behind_retraction,
    is_conditional,
    is_first_thought,
)

_TRUTH = {
    plain(phrase): truth
    for truth, names in ((True, ("yes", "yes_alone")), (False, ("no",)))
    for name in names
    for phrase in phrases(name)
}
_COPULA = re.compile(r"\s?(?:입니다|이다|です|だ|है|हैं)$")
_LONGEST_PAIR = 64
_PAIR = lazy_pattern(rf"[/,，、|]|{words('alternative', 'addition')}")
_OPENING = re.compile(r"[^.,;:!?。，；：！、،।—–\n-]{1,48}")
_PART = re.compile(r"\W*+(?:[^:：]{2,60}|(?<=[^\w:：])[^:：])[:：]\s*(.+)")
"""One line of several that say yes or no of a part each, "upper-left: yes"."""
_SUMS_UP = lazy_pattern(rf"{words('conclusion')}|answer|result|conclusion|答案|结论|respuesta", re.IGNORECASE)
"""What a line says that is of no part, but of all."""
_CONCLUDES = Words("conclusion", "likely", "guess")
_TURNED = Words("retraction", "second_look", pattern=rf"{{}}\W{{0,4}}(?P<truth>{words('yes', 'no')})(?![^\W\d_])")
"""A yes or no that takes back what was said before it, "Yes... actually no"."""


def read_boolean(value: Any, *, cut_off: bool = False, asked: Asked | None = None) -> Reading:
    """Read a bool, or a text that says yes or no: opening with it, or in its last sentence that says either.

    Statements answer what was `asked`, where the text says neither. Of a text that was `cut_off` amid a sentence, what
    is neither opened with nor announced is no answer.
    """
    if isinstance(value, bool):
        return parsed(value)
    if isinstance(value, dict):
        return only_reading(parsed(known) for inner in value.values() if (known := _truth(str(inner))) is not None)
    if isinstance(value, str):
        return _read_text(value, cut_off, asked)
    return parsed(bool(value)) if value in (0, 1) else UNPARSABLE


def _read_text(value: str, cut_off: bool, asked: Asked | None) -> Reading:
    if (known := _truth(value)) is not None:
        return parsed(known) if asked is None else as_turned(asked, value, parsed(known), as_stated) or parsed(known)
    if asked is not None:
        value = _NONE_SEEN.sub("see no", value)
        value = _PORTUGUESE_IN.sub("em", value) if asked.language == "pt" else value
    if len(value) <= _LONGEST_PAIR and _says_both(value):
        return AMBIGUOUS
    reading = _read_told(value, cut_off)
    if asked is not None and not cut_off:
        turned = as_turned(asked, value, reading, as_stated)
        if turned is not None:
            reading = turned
        elif not _opens(value):
            reading = as_stated(asked, value, reading)
    return AMBIGUOUS if reading.status == "parsed" and _is_left_open(value) else reading


_NONE_SEEN = lazy_pattern(words("none_seen"), re.IGNORECASE)
_PORTUGUESE_IN = re.compile(r"(?<![^\W_])[Nn]o(?=\s[^\W\d_])")
"""What says no in English and Spanish."""


def _opens(text: str) -> bool:
    """Return whether a text, or what it announces, opens with yes or no."""
    told = (one for passage in passages(text) for one in (passage, behind_glue(passage)))
    return any(opening and _truth(opening[0]) is not None for opening in map(_OPENING.match, told))


def _is_left_open(text: str) -> bool:
    """Return whether a text sets the other truth beside its answer, or takes that back and puts none in its place."""
    if len(text) < _LEAST:
        return False
    *before, last = sentences_of(text) or [""]
    lowered = last.lower()
    if _EQUAL.search(lowered) and _says_truth(last):
        return True
    return bool(before) and bool((_TAKEN_BACK.search(lowered) and not _says_truth(last)) or _looks_again(lowered))


def _says_truth(sentence: str) -> bool:
    return bool(verdicts(sentence) or _known(sentence))


def _looks_again(lowered: str) -> bool:
    """Return whether a sentence that opens anew says that nothing can be said."""
    return bool(_REOPENS.match(lowered)) and find_abstention(lowered) is not None


def _read_told(value: str, cut_off: bool) -> Reading:
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
                if is_according_to_others(told[opening.end() :]):
                    return AMBIGUOUS
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
    return next(iter(_verdict_told(found)), None)


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
    of_others = frozenset[bool]()
    for at, sentence in enumerate(backwards):
        said = (
            _of_proposition(sentence)
            or yes_before_contrast(sentence)
            or _apart(sentence)
            or verdicts(sentence)
            or _known(sentence)
        )
        if said and is_of_others(sentence):
            of_others |= said
            continue
        if said and (is_conditional(sentence) or is_first_impression(sentence)):
            continue
        if said and (not abstains(sentence) or commits(sentence)):
            unknown = any(map(find_abstention, backwards[at + 1 :])) and not _CONCLUDES.search(sentence.lower())
            return parsed(*said) if len(said) == 1 and not unknown else AMBIGUOUS
        if find_abstention(sentence) and not commits(sentence):
            return UNPARSABLE
        if not said and _DRAWN.match(sentence.lower()) and _DENIES.search(sentence.lower()):
            return AMBIGUOUS  # a conclusion in words of its own, which may be the contrary of a yes before it
    if len(of_others) == 1 and CONTRARY_TOLD.search(text.lower()):
        return parsed(of_others != {True})
    return UNPARSABLE


def _apart(sentence: str) -> frozenset[bool]:
    """Return the one truth that stands apart in a sentence."""
    said = truths_apart(sentence)
    return said if len(said) == 1 else frozenset()


_DENIES = Words("negator")
_DRAWN = lazy_pattern(rf"{START}{words('conclusion')}")
_LEAST = 12
"""Characters of a text that can say more than yes or no."""
_EQUAL, _TAKEN_BACK = Words("equal_chance"), Words("taken_back")
_REOPENS = lazy_pattern(rf"{START}{words('reopening', 'contrast', 'retraction', 'second_look')}")


def _of_proposition(sentence: str) -> frozenset[bool]:
    """Return what a sentence says of the statement where it names it behind what holds of parts."""
    found = _PROPOSITION.search(sentence.lower())
    return _verdict_told(found if found and found.start() else None)


def _verdict_told(found: re.Match[str] | None) -> frozenset[bool]:
    said = verdicts(found[0]) if found else frozenset()
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
