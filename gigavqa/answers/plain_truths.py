"""Yes and no where they stand apart in a sentence, and whose they are: the model's, or what somebody else said."""

import re

from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.sentence_forms import VERDICT
from gigavqa.answers.text import plain, sentences_of
from gigavqa.answers.withdrawals import (
    is_ascribed,
    is_hypothesis,
    is_unreal,
)

PLAIN = {
    plain(phrase): truth for truth, name in ((True, "yes_ending"), (False, "no_ending")) for phrase in phrases(name)
}
"""Words that say yes or no, and not that something is true or false."""
_AGAINST = frozenset(map(plain, phrases("against_denial")))
_SEGMENTS = re.compile(r"[,:;.!?，：；、。！？،؛*()—–\n]|\s-\s")
_CONCLUSION = Words("conclusion")
_LONGEST = 24
_SAID = Words(
    "saying",
    "answering",
    pattern=rf"(?<!the\s)(?<!this\s){{}}[\s,:：，\"'“”«»「」]{{0,4}}(?:{words('that')}[\s,]{{0,2}})?[\s\"'“”«»「」*]{{0,4}}$",
)
_SAID_BY = Words("saying.ar", "answering.ar", pattern=r"{}\s(?:\S+\s){1,3}$")
"""Of who said it, as Arabic puts it: between the verb and what was said."""
_SAID_BEHIND = Words("said_so_behind", pattern=r"^[\s\"'“”」*]{0,4}{}")
_FIRST_PERSON = Words("first_person", pattern=r"{}(?:\s[^\s]{1,12}){0,2}\s?$")
_ACCORDING = lazy_pattern(
    rf"[\s,，;:–—-]{{0,4}}{words('according_to')}\s(?!(?:the\s|this\s|what\s)?(?:image|picture|photo|frame|scan|video|footage|i\b))"
)
_ACCORDING_BEFORE = Words(
    "according_to", pattern=r"{}\s(?!(?:the\s|this\s)?(?:image|picture|photo|frame|scan))[^.;!?]{1,32}$"
)


def truths_apart(sentence: str) -> frozenset[bool]:
    """Return the yes and no that stand apart in a sentence, "So, in the end, **no**, it was not."."""
    if not _ANY.may_be_in(lowered := sentence.lower()):
        return frozenset()
    found = (_apart(segment) for segment in _SEGMENTS.split(lowered) if len(segment) <= _LONGEST)
    return frozenset(truth for truth in found if truth is not None)


_ANY = Words("yes_ending", "no_ending")


def _apart(segment: str) -> bool | None:
    said = plain(segment)
    return PLAIN[said] if said in PLAIN else PLAIN.get(plain(_CONCLUSION.sub(" ", segment)))


def says_plainly(text: str, truth: bool) -> bool:
    """Return whether the last sentence of a text with a plain yes or no says this one."""
    found = [apart for sentence in sentences_of(text) if (apart := truths_apart(sentence))]
    return bool(found) and found[-1] == {truth}


def opens_against_denial(text: str) -> bool:
    """Return whether a text opens with a yes to what a question denies, "Doch, zwei sogar."."""
    return plain(_SEGMENTS.split(text.lower().lstrip(" *_"), maxsplit=1)[0]) in _AGAINST


def is_according_to_others(behind: str) -> bool:
    """Return whether what stands right behind a yes or no tells whose it is, "Yes, according to the log"."""
    return _ACCORDING.match(behind.lower()) is not None


def is_according_to(text: str) -> bool:
    """Return whether a text tells what others say, "According to the log, ..."."""
    return _SOURCE.search(text.lower()) is not None


_SOURCE = Words("according_to")
CONTRARY_TOLD = Words("contrary_told")
"""What says that the contrary of what somebody said is so."""


def is_of_others(sentence: str) -> bool:
    """Return whether what a sentence says is what another said, or would be so on a condition."""
    lowered = sentence.lower()
    found = VERDICT.search(lowered) or _ANY.search(lowered)
    if found is None:
        return False
    before, behind = lowered[: found.start()], lowered[found.end() :]
    if _is_said_by_others(before, behind) and not _is_answered_anew(behind):
        return True
    return is_ascribed(before) or is_hypothesis(_COMMA.split(before)[-1]) or is_unreal(before, behind)


def _is_said_by_others(before: str, behind: str) -> bool:
    """Return whether what stands about a yes or no has somebody else say it, "the guard said yes"."""
    if is_according_to_others(behind) or _SAID_BY.search(before) or _ACCORDING_BEFORE.search(before):
        return True
    if (said := _SAID.search(before)) is not None:
        return not _FIRST_PERSON.search(before[: said.start()])
    return _SAID_BEHIND.search(behind) is not None and not _FIRST_PERSON.search(before)


def _is_answered_anew(behind: str) -> bool:
    """Return whether what stands behind a yes or no goes against it, and says one of its own."""
    _, *anew = _GOES_AGAINST.split(behind)
    return bool(anew) and VERDICT.search(anew[-1]) is not None


def is_first_impression(sentence: str) -> bool:
    """Return whether what a sentence says is in the clause of a first impression, "Yes, it seems so at first"."""
    lowered = sentence.lower()
    thought = _FIRST_THOUGHT.search(lowered)
    if thought is None:
        return False
    if _GOES_AGAINST.search(lowered):
        first, *_, last = _GOES_AGAINST.split(lowered)
        return VERDICT.search(first) is not None and VERDICT.search(last) is None
    _, _, rest = _END_OF_CLAUSE.sub("\0", lowered[thought.end() :], count=1).partition("\0")
    is_told = VERDICT.search(lowered[: thought.start()] + " " + lowered[thought.end() :]) is not None
    return is_told and VERDICT.search(rest) is None


_FIRST_THOUGHT, _GOES_AGAINST = Words("first_thought"), Words("contrast", "concession", "conclusion")
_END_OF_CLAUSE = re.compile(r"[,;:.，；：。、،]")
_COMMA = re.compile(r"[,，;；、،:：]")


def yes_before_contrast(sentence: str) -> frozenset[bool]:
    """Return what a yes says that ends its clause before a contrast, "I'd say yes, but there is no driver.".

    What is denied behind is something else, unless that clause answers itself: then both are said, as they are where
    the yes is but possible. None where there is no such yes, or it is another's or a first thought.
    """
    lowered = sentence.lower()
    if not _YES_ENDING.may_be_in(lowered) or (contrast := _CONTRAST.search(lowered)) is None:
        return frozenset()
    before, behind = lowered[: contrast.start()], lowered[contrast.end() :]
    if _YES_ENDING.search(before) is None or _GIVES_WAY.search(before) or _ANSWERS.search(behind):
        return frozenset()
    is_open = _POSSIBLE.search(before) or ":" in before or _NO_ENDING.search(behind)
    return frozenset({True, False}) if is_open else frozenset({True})


_CONTRAST, _POSSIBLE = Words("contrast"), Words("possibility")


_YES_ENDING = Words("yes_ending", pattern=r"{}[\s*_]{0,4}(?=[,;，；、،—–]|$)")


_NO_ENDING = Words("no", pattern=r"{}\W*$")


_GIVES_WAY = Words("denial_before", "no", "inability", "first_thought", "hypothesis", "speaker")


_ANSWERS = Words("proposition", "taken_as_false", "retraction", "second_look")
"""What tells that a clause answers the question anew."""
