"""The grammar of answers: the stance of a sentence to the values that it names. Its words stand in `lexicon.toml`.

A value is a letter, a cell, a number, a label: the rules are the same. A sentence is written with one sign in place of
each value; the rules are patterns over that writing, and read:

- a retraction withdraws what was said before it, if something is said behind it;
- a first thought, a concession, and what others would say are withdrawn, if something else is said;
- where all are denied but one, that one is left;
- a denied value is no candidate, nor are those joined to it; a denial of all leaves none;
- of several values, those said in passing give way to the one that is affirmed, concluded, or set against the others;
- what is several then is ambiguous.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from gigavqa.answers.sentence_forms import (
    AFFIRMED,
    ALONE,
    ALTERNATIVE,
    APART,
    ARROW,
    ASIDE,
    BETWEEN,
    CONCLUSION,
    CONTRAST,
    DENIAL_BEHIND,
    DENIED_ALIKE,
    DENIED_ALL,
    DENIED_ASIDE,
    DENIED_BEFORE,
    DENIES,
    ENUMERATION,
    EXCEPTED,
    EXCEPTED_BEHIND,
    FIRST,
    GIVES_WAY,
    GLOSS,
    HEDGE,
    JOINED,
    LIKELY,
    MOST,
    MOST_JOINED,
    NEXT,
    OPENING,
    PREDICATE,
    PREFERENCE,
    SAID_BY_OTHERS,
    SUBJECT,
    TOTAL,
    TOTAL_AHEAD,
    UNREAL,
    VALUE,
    VERDICT,
)
from gigavqa.answers.withdrawals import behind_retraction


class Mention(NamedTuple):
    """A value where a text names it."""

    start: int
    end: int
    value: Hashable


class SentencePolarity(NamedTuple):
    """The sentence as it was written for the rules, with the values that are still said; and what was denied."""

    written: str
    denied: frozenset[Hashable] = frozenset()


ConclusionRule = Literal["affirmed", "concluded", "only left", "last", "described"]
"""How a sentence settles on a value: by a word that says it is right, by one that concludes or sets it against others,
as the one that is not denied, by naming it; or, as what it speaks of, in passing."""


class SentenceConclusion(NamedTuple):
    """The values that a sentence settles on, by which rule where it is one, and the values that it denies."""

    values: frozenset[Hashable]
    rule: ConclusionRule = "last"
    denied: frozenset[Hashable] = frozenset()


_ALSO = re.compile(r"\balso\b")
_GERMAN = re.compile(r"\b(?:der|die|das|ist|sind|und|nicht|ein|eine|es|bleibt)\b|, also\b|^also\b")
"""What tells a German sentence, where "also" concludes; in an English one it joins."""
_MARKUP = str.maketrans(dict.fromkeys('*_`"“”‘「」『』$', " ") | {"’": "'"})


def written(text: str, mentions: Sequence[Mention]) -> str:
    """Write a sentence with one sign for each mention, in order; those in bold or quotation marks in ⟦ ⟧."""
    if not text.isascii():
        text = VALUE.sub("?", text)  # a text's own signs mean nothing
    parts, end = [], 0
    for at, mention in enumerate(mentions[:MOST]):
        sign = chr(FIRST + at)
        before = text[end : mention.start]
        apart = before[-2:].endswith(("**", "`", '"', "“", "「")) and text[mention.end : mention.end + 1] in '*`"”」'
        parts += [before, f"⟦{sign}⟧" if apart else sign]
        end = mention.end
    sentence = "".join([*parts, text[end:]]).lower().translate(_MARKUP)
    return _ALSO.sub(" ", sentence) if "also" in sentence and not _GERMAN.search(sentence) else sentence


def stances(text: str, mentions: Sequence[Mention]) -> SentencePolarity:
    """Tell the values of one sentence that are still said, after retractions and denials."""
    sentence = written(text, mentions)
    if len(mentions) > 1:
        sentence = _without_what_gives_way(_behind_retraction(sentence))
    sentence = GLOSS.sub(_unless_it_says, sentence)
    if excepted := _excepted(sentence):
        return SentencePolarity(excepted)
    denied: list[Hashable] = []

    def deny(match: re.Match[str]) -> str:
        denied.extend(mentions[ord(sign) - FIRST].value for sign in VALUE.findall(match["series"]))
        return " ; "

    sentence, signs = _without_denied_behind(sentence)
    denied += [mentions[ord(sign) - FIRST].value for sign in signs]
    sentence = DENIED_BEFORE.sub(deny, sentence)
    sentence = DENIED_ASIDE.sub(deny, sentence)
    sentence = DENIED_ALIKE.sub(deny, sentence) if denied else sentence
    if (of_all := DENIED_ALL.search(sentence)) and not VALUE.search(of_all["behind"]):
        denied += [mentions[ord(sign) - FIRST].value for sign in VALUE.findall(sentence)]
        sentence = ""
    return SentencePolarity(sentence, frozenset(denied))


def _unless_it_says(gloss: re.Match[str]) -> str:
    return gloss[0] if DENIES.search(gloss[2]) or VERDICT.search(gloss[2]) else gloss[1]


def _without_denied_behind(sentence: str) -> tuple[str, list[str]]:
    """Take out the values that are denied by what stands behind them, each with those joined to it: "A, B are wrong".

    Every enumeration is gone through once, and what stands behind it is looked at once.
    """
    parts, signs, end = [], list[str](), 0
    for found in ENUMERATION.finditer(sentence):
        if denial := DENIAL_BEHIND.match(sentence, found.end()):
            start = _first_denied(sentence, found)
            signs += VALUE.findall(sentence, start, found.end())
            parts += [sentence[end:start], " ; "]
            end = denial.end()
    return "".join([*parts, sentence[end:]]), signs


def _first_denied(sentence: str, enumeration: re.Match[str]) -> int:
    """Return where the values begin that are spoken of with the last one.

    Those joined to it, and what is listed before.
    """
    ones = [*NEXT.finditer(sentence, *enumeration.span())]
    joints = [bool(one["and"]) for one in ones[1:]]
    first, listed = len(joints), 0
    while first and joints[first - 1] and len(joints) - first <= MOST_JOINED:
        first -= 1
    while 0 < first < len(joints) and not joints[first - 1] and listed < MOST_JOINED:
        first, listed = first - 1, listed + 1
    starts = [one.start("one") for one in ones[first:]]
    while starts[0] and sentence[starts[0] - 1] in OPENING:
        starts[0] -= 1
    return starts[0]


def settle(text: str, mentions: Sequence[Mention]) -> SentenceConclusion:
    """Tell on which values a sentence settles, by which rule, and which it denies."""
    if not mentions:
        return SentenceConclusion(frozenset())
    said = stances(text, mentions)
    values = narrowed(said.written, mentions)
    if len(values) != 1:
        return SentenceConclusion(values, denied=said.denied)
    return SentenceConclusion(values, _rule(said.written, mentions, values), said.denied)


def _rule(sentence: str, mentions: Sequence[Mention], values: frozenset[Hashable]) -> ConclusionRule:
    def holds(signs: Iterable[str]) -> bool:
        return {mentions[ord(sign) - FIRST].value for sign in signs} == values

    if holds(VALUE.findall(" ".join(map(_either, AFFIRMED.findall(sentence))))):
        return "affirmed"
    is_subject = bool(SUBJECT.search(sentence))
    preferred, contrasted, *concluded = _tails(sentence)
    if any(map(holds, (preferred, *concluded))) or (holds(contrasted) and not _goes_on(sentence)):
        return "concluded"
    if not PREDICATE.search(sentence) and (len(VALUE.findall(sentence)) < len(mentions) or sentence.startswith(_ONLY)):
        return "only left"
    return "described" if is_subject or _is_set_against(sentence) else "last"


def _is_set_against(sentence: str) -> bool:
    """Return whether a contrast follows a value and names no other, "one might choose B, but the sign is clear"."""
    before, *behind = CONTRAST.split(sentence)
    return bool(behind) and bool(VALUE.search(before)) and not any(map(VALUE.search, behind))


def is_hedged(sentence: str) -> bool:
    """Return whether a sentence says what only may be, "this might be a robbery (A)"."""
    return bool(HEDGE.search(sentence.lower()))


def _goes_on(sentence: str) -> bool:
    """Return whether the last contrast goes on to tell of its value, "but B would need a zero"."""
    return bool(SUBJECT.search(CONTRAST.split(sentence)[-1]))


def settled(text: str, mentions: Sequence[Mention], *, alone: bool = False) -> frozenset[Hashable]:
    """Return the values that a sentence settles on: none, one, or several where it is ambiguous.

    `alone` lets a value that stands by itself win over those that describe another word, "facing left".
    """
    if not mentions:
        return frozenset()
    return narrowed(stances(text, mentions).written, mentions, alone=alone)


def narrowed(sentence: str, mentions: Sequence[Mention], *, alone: bool = False) -> frozenset[Hashable]:
    """Return the values of a sentence as written for the rules; where they are several, the one that is meant."""

    def values(signs: Iterable[str]) -> frozenset[Hashable]:
        return frozenset(mentions[ord(sign) - FIRST].value for sign in signs)

    found = values(VALUE.findall(sentence))
    if len(found) > 1:
        for narrower in _narrowings(sentence, alone):
            if len(meant := values(narrower)) == 1:
                return meant
    return found


def _narrowings(sentence: str, alone: bool) -> Iterator[list[str]]:
    yield VALUE.findall(" ".join(map(_either, AFFIRMED.findall(sentence))))
    yield from _tails(sentence)
    yield VALUE.findall(" ".join(LIKELY.findall(sentence)))
    yield [found[1] for found in TOTAL_AHEAD.finditer(sentence)]
    yield list(map(_either, TOTAL.findall(sentence)))
    without = ASIDE.sub(" ", sentence)
    yield VALUE.findall(without)
    yield from _tails(without)
    yield VALUE.findall(BETWEEN.sub(" ", sentence))
    if alone:
        yield APART.findall(without) or APART.findall(sentence)
        yield VALUE.findall(" ".join(ALONE.findall(without)))


def _tails(sentence: str) -> Iterator[list[str]]:
    """Yield what is said behind the last preference, contrast, arrow and conclusion behind which anything is said."""
    for joint in (PREFERENCE, CONTRAST, ARROW, CONCLUSION):
        tails = (VALUE.findall(part) for part in reversed(joint.split(sentence)[1:]))
        yield next((tail for tail in tails if tail), [])


def _excepted(sentence: str) -> str:
    """Return the values that are left where a sentence denies all but them, "all except B are wrong"."""
    for pattern in EXCEPTED:
        if found := pattern.search(sentence):
            rest = sentence[: found.start(1)] + sentence[found.end(1) :]
            return _ONLY + found[1] if DENIES.search(rest) else ""
    behind = EXCEPTED_BEHIND.search(sentence)
    return _ONLY + behind[1] if behind and DENIES.search(sentence[behind.end() :]) else ""


_ONLY = "\0"
"""What a sentence begins with that denies all but its values; no text's own sign is read as one."""


def said_values(text: str, mentions: Sequence[Mention]) -> list[Hashable]:
    """Return all values of a sentence that are said and not denied, in order."""
    return [mentions[ord(sign) - FIRST].value for sign in VALUE.findall(stances(text, mentions).written)]


def joined(text: str, mentions: Sequence[Mention]) -> frozenset[Hashable]:
    """Return the first value that is still said, with those joined to it: "A and B", "A from the left, or C"."""
    sentence = ASIDE.sub(" ", stances(text, mentions).written)
    first = JOINED.search(sentence)
    signs = [*VALUE.findall(first[0] if first else ""), *map(_either, ALTERNATIVE.findall(sentence))]
    return frozenset(mentions[ord(sign) - FIRST].value for sign in signs)


def _either(signs: tuple[str, str]) -> str:
    return signs[0] or signs[1]


def _behind_retraction(sentence: str) -> str:
    return behind_retraction(sentence, lambda rest: bool(VALUE.search(rest)), short=True)


def verdicts(sentence: str) -> frozenset[bool]:
    """Return whether a sentence says that something holds, or does not, "not true" being the latter; or both."""
    lowered = sentence.lower()
    mentions = [Mention(*match.span(), not match["holds_not"]) for match in VERDICT.finditer(lowered)]
    if not mentions:
        return frozenset()
    said = stances(lowered, mentions)
    found = narrowed(said.written, mentions)
    return frozenset(bool(value) for value in found) or frozenset(not value for value in said.denied)


def _without_what_gives_way(sentence: str) -> str:
    for pattern in (GIVES_WAY, SAID_BY_OTHERS, UNREAL):
        rest = pattern.sub(" ", sentence)
        sentence = rest if VALUE.search(rest) else sentence
    return sentence
