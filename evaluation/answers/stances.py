"""What a sentence means by the values that it names: the grammar of answers. Its words stand in `lexicon.toml`.

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
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from evaluation.answers.lexicon import Words, words
from evaluation.answers.text import LONGEST


class Mention(NamedTuple):
    """A value where a text names it."""

    start: int
    end: int
    value: Hashable


class Stances(NamedTuple):
    """The sentence as it was written for the rules, with the values that are still said; and what was denied."""

    written: str
    denied: frozenset[Hashable] = frozenset()


Rule = Literal["affirmed", "concluded", "only left", "last", "described"]
"""How a sentence settles on a value: by a word that says it is right, by one that concludes or sets it against others,
as the one that is not denied, by naming it; or, as what it speaks of, in passing."""


class Settled(NamedTuple):
    """The values that a sentence settles on, by which rule where it is one, and the values that it denies."""

    values: frozenset[Hashable]
    rule: Rule = "last"
    denied: frozenset[Hashable] = frozenset()


_FIRST = 0xF0000
_MOST = 4096
_SIGNS = f"{chr(_FIRST)}-{chr(_FIRST + _MOST)}"
_V = f"[{_SIGNS}]"
_OPENING = "([{⟦"
_FIRST_ONE = rf"{_V}[)\]}}⟧]*+"
"""A value as patterns begin that are searched for: a run of brackets would be gone through from each of them."""
_ONE = rf"[{re.escape(_OPENING)}]*{_FIRST_ONE}"
_FILLED = rf"(?:{words('filler')}\s*+|[(\[:：「“]\s*+)*+"
_AND = rf"(?:\s*+[,，]?+\s*+(?:{words('alternative', 'addition')}|[/&+、])\s*+{_FILLED})"
_COMMA = r"\s*+[,，]\s*+"
_MOST_JOINED = 8
"""Values that a list may go on by, of either kind: one without end would be read anew from each of its values."""
_MORE = rf"(?:(?:{_COMMA}{_ONE}){{0,{_MOST_JOINED}}}{_AND}{_ONE}(?:{_AND}{_ONE}){{0,{_MOST_JOINED}}})?"
_ADVERBS = rf"(?:(?:\w+ly|{words('adverb')})\s++){{0,4}}"
_FAULTY = rf"{words('copula', 'seeming')}\s+{_ADVERBS}{words('faulty')}"
_OF = rf"\s*+(?:{words('particle')}\s*+){{0,2}}"
"""What may stand between a value and what is said of it."""
_CROSSED = (
    r"[\s:：|~–—-]*+(?:[❌✗✘✖]|(?:incorrect|wrong|false|no|not|untrue|error)\b|incorrect[ao]\b|fals[ao]\b|错误|不对)"
)

_ENUMERATION = re.compile(rf"{_FIRST_ONE}(?:(?:{_AND}|{_COMMA}){_ONE})*+")
_NEXT = re.compile(rf"(?:(?P<and>{_AND})|{_COMMA})?(?P<one>{_ONE})")
_DENIAL_BEHIND = re.compile(
    rf"(?:{_OF}(?:{_FAULTY}|{words('denial_behind')})|{_CROSSED})"
    rf"[^.;,，。；{_SIGNS}]*"
)
_DENIED_BEFORE = Words("denial_before", pattern="{}" + rf"\s*+{_FILLED}(?P<series>(?>{_ONE}{_MORE}))")
_DENIED_ALL = Words("denial_of_all", pattern="{}(?P<behind>.*)")
_RETRACTION = Words("retraction")
_TAKEN_BACK = Words("retraction", "second_look")
_MOST_RETRACTIONS = 8
"""Retractions that are looked at, from the end: a model that runs in circles takes back thousands."""
_GIVES_WAY = Words("first_thought", "concession", "hypothesis", pattern="{}[^.;；。,，、،।—]*")
_FIRST_THOUGHT = Words("first_thought")
_EXCEPTED = tuple(
    Words(name, pattern=pattern)
    for name, pattern in (
        (
            "universal",
            rf"{{}}(?:\s+(?!{words('copula')})\w+){{0,3}}\s+{words('exception', 'but')}\s*+{_FILLED}({_ONE}{_MORE})",
        ),
        ("exception", rf"{{}}\s*+{_FILLED}({_ONE}{_MORE})[^{_SIGNS}.;。]{{0,40}}?{words('universal')}"),
    )
)
_EXCEPTED_BEHIND = re.compile(rf"({_V})[\s)\]⟧]{{0,4}}{words('exception_behind')}")
_DENIES = Words("denial_before", "denial_behind", "faulty", "nothing")
_VALUE = re.compile(_V)

_AFFIRMED = re.compile(
    rf"({_FIRST_ONE}{_MORE})(?:{_OF}(?:{words('copula')}\s+{_ADVERBS}{words('affirmation')}|{words('holding')}"
    rf"|{words('holding_at_end')}(?=\s*(?:[.,;!?。，、।]|$)))"
    rf"|\s*+[:：|–—-]\s*{words('affirmation')}|[\s:：|–—-]*+[✓✔✅☑])"
    rf"|(?:{words('right_is')}\s*+{_FILLED}|{words('copula')}\s+(?={_V}\s+{words('affirmation')}))({_ONE}{_MORE})"
)
_LIKELY = re.compile(
    rf"({_FIRST_ONE}{_MORE}){_OF}{words('copula', 'seeming')}\s+{_ADVERBS}{words('affirmation', 'likely')}"
)
_PREFERENCE, _CONTRAST = Words("preference"), Words("contrast")
_CONCLUSION = Words("conclusion")
_TOTAL = re.compile(
    rf"({_V})[^{_SIGNS},.;，。；]{{0,30}}{words('total')}|{words('total')}[^{_SIGNS}.;。；]{{0,40}}({_V})"
)
_ARROW = re.compile(r"→|⇒|=>|->")
_BETWEEN = re.compile(rf"(?:between|entre|zwischen|在)\s*+{_FILLED}{_ONE}{_AND}{_ONE}(?:之间)?")
_ASIDE = re.compile(rf"[(（](?!\s*+{words('alternative')})(?=[\s{_SIGNS}]*+[^()（）\s{_SIGNS}])[^()（）]*+[)）]")
_APART = re.compile(rf"[(（⟦]\s*({_V})\s*[)）⟧]")
_ALONE = re.compile(rf"({_FIRST_ONE}{_MORE})(?=\s*(?:$|[.,;:!?)—。，；：]))")
_ALTERNATIVE = re.compile(rf"{words('alternative')}\s*+{_FILLED}({_V})|[/]\s*+({_V})")

_SUBJECT = re.compile(rf"{_FIRST_ONE}\s*+(?!{words('reason', 'conclusion', 'contrast', 'alternative')})[^\W\d_]")
"""A value of which a sentence goes on to say something."""

_JOINED = re.compile(rf"{_FIRST_ONE}(?:(?:{_AND}|\s*+[,，;；]\s*+){_ONE})*+")
_HYPOTHESIS = Words("hypothesis")
_CONDITION, _FORCED = re.compile(words("condition")), re.compile(words("forced"))
_VERDICT = re.compile(rf"(?P<holds_not>{words('holds_not')}|[❌✗✘✖])|(?P<holds>{words('holds')}|[✅✓✔])")

_MARKUP = str.maketrans(dict.fromkeys('*_`"“”‘「」『』$', " ") | {"’": "'"})


def written(text: str, mentions: Sequence[Mention]) -> str:
    """Write a sentence with one sign for each mention, in order; those in bold or quotation marks in ⟦ ⟧."""
    if not text.isascii():
        text = _VALUE.sub("?", text)  # a text's own signs mean nothing
    parts, end = [], 0
    for at, mention in enumerate(mentions[:_MOST]):
        sign = chr(_FIRST + at)
        before = text[end : mention.start]
        apart = before[-2:].endswith(("**", "`", '"', "“", "「")) and text[mention.end : mention.end + 1] in '*`"”」'
        parts += [before, f"⟦{sign}⟧" if apart else sign]
        end = mention.end
    return "".join([*parts, text[end:]]).lower().translate(_MARKUP)


def stances(text: str, mentions: Sequence[Mention]) -> Stances:
    """Tell the values of one sentence that are still said, after retractions and denials."""
    sentence = written(text, mentions)
    if len(mentions) > 1:
        sentence = _without_what_gives_way(_behind_retraction(sentence))
    if excepted := _excepted(sentence):
        return Stances(excepted)
    denied: list[Hashable] = []

    def deny(match: re.Match[str]) -> str:
        denied.extend(mentions[ord(sign) - _FIRST].value for sign in _VALUE.findall(match["series"]))
        return " ; "

    sentence, signs = _without_denied_behind(sentence)
    denied += [mentions[ord(sign) - _FIRST].value for sign in signs]
    sentence = _DENIED_BEFORE.sub(deny, sentence)
    if (of_all := _DENIED_ALL.search(sentence)) and not _VALUE.search(of_all["behind"]):
        denied += [mentions[ord(sign) - _FIRST].value for sign in _VALUE.findall(sentence)]
        sentence = ""
    return Stances(sentence, frozenset(denied))


def _without_denied_behind(sentence: str) -> tuple[str, list[str]]:
    """Take out the values that are denied by what stands behind them, each with those joined to it: "A, B are wrong".

    Every enumeration is gone through once, and what stands behind it is looked at once.
    """
    parts, signs, end = [], list[str](), 0
    for found in _ENUMERATION.finditer(sentence):
        if denial := _DENIAL_BEHIND.match(sentence, found.end()):
            start = _first_denied(sentence, found)
            signs += _VALUE.findall(sentence, start, found.end())
            parts += [sentence[end:start], " ; "]
            end = denial.end()
    return "".join([*parts, sentence[end:]]), signs


def _first_denied(sentence: str, enumeration: re.Match[str]) -> int:
    """Where the values begin that are spoken of with the last one: those joined to it, and what is listed before."""
    ones = [*_NEXT.finditer(sentence, *enumeration.span())]
    joints = [bool(one["and"]) for one in ones[1:]]
    first, listed = len(joints), 0
    while first and joints[first - 1] and len(joints) - first <= _MOST_JOINED:
        first -= 1
    while 0 < first < len(joints) and not joints[first - 1] and listed < _MOST_JOINED:
        first, listed = first - 1, listed + 1
    starts = [one.start("one") for one in ones[first:]]
    while starts[0] and sentence[starts[0] - 1] in _OPENING:
        starts[0] -= 1
    return starts[0]


def settle(text: str, mentions: Sequence[Mention]) -> Settled:
    """Tell on which values a sentence settles, by which rule, and which it denies."""
    if not mentions:
        return Settled(frozenset())
    said = stances(text, mentions)
    values = narrowed(said.written, mentions)
    if len(values) != 1:
        return Settled(values, denied=said.denied)
    return Settled(values, _rule(said.written, mentions, values, bool(said.denied)), said.denied)


def _rule(sentence: str, mentions: Sequence[Mention], values: frozenset[Hashable], denies: bool) -> Rule:
    def holds(signs: Iterable[str]) -> bool:
        return {mentions[ord(sign) - _FIRST].value for sign in signs} == values

    if holds(_VALUE.findall(" ".join(map(_either, _AFFIRMED.findall(sentence))))):
        return "affirmed"
    if any(map(holds, _tails(sentence))):
        return "concluded"
    if denies:
        return "only left"
    return "described" if _SUBJECT.search(sentence) else "last"


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
        return frozenset(mentions[ord(sign) - _FIRST].value for sign in signs)

    found = values(_VALUE.findall(sentence))
    if len(found) > 1:
        for narrower in _narrowings(sentence, alone):
            if len(meant := values(narrower)) == 1:
                return meant
    return found


def _narrowings(sentence: str, alone: bool) -> Iterator[list[str]]:
    yield _VALUE.findall(" ".join(map(_either, _AFFIRMED.findall(sentence))))
    yield from _tails(sentence)
    yield _VALUE.findall(" ".join(_LIKELY.findall(sentence)))
    yield list(map(_either, _TOTAL.findall(sentence)))
    without = _ASIDE.sub(" ", sentence)
    yield _VALUE.findall(without)
    yield from _tails(without)
    yield _VALUE.findall(_BETWEEN.sub(" ", sentence))
    if alone:
        yield _APART.findall(without) or _APART.findall(sentence)
        yield _VALUE.findall(" ".join(_ALONE.findall(without)))


def _tails(sentence: str) -> Iterator[list[str]]:
    """Yield what is said behind the last preference, contrast, arrow and conclusion behind which anything is said."""
    for joint in (_PREFERENCE, _CONTRAST, _ARROW, _CONCLUSION):
        tails = (_VALUE.findall(part) for part in reversed(joint.split(sentence)[1:]))
        yield next((tail for tail in tails if tail), [])


def _excepted(sentence: str) -> str:
    """Return the values that are left where a sentence denies all but them, "all except B are wrong"."""
    for pattern in _EXCEPTED:
        if found := pattern.search(sentence):
            rest = sentence[: found.start(1)] + sentence[found.end(1) :]
            return f" {found[1]} " if _DENIES.search(rest) else ""
    behind = _EXCEPTED_BEHIND.search(sentence)
    return behind[1] if behind and _DENIES.search(sentence[behind.end() :]) else ""


def is_first_thought(sentence: str) -> bool:
    """Whether a sentence tells of a first impression."""
    return bool(_FIRST_THOUGHT.search(sentence.lower()))


def said_values(text: str, mentions: Sequence[Mention]) -> list[Hashable]:
    """Return all values of a sentence that are said and not denied, in order."""
    return [mentions[ord(sign) - _FIRST].value for sign in _VALUE.findall(stances(text, mentions).written)]


def joined(text: str, mentions: Sequence[Mention]) -> frozenset[Hashable]:
    """Return the first value that is still said, with those joined to it: "A and B", "A from the left, or C"."""
    sentence = _ASIDE.sub(" ", stances(text, mentions).written)
    first = _JOINED.search(sentence)
    signs = [*_VALUE.findall(first[0] if first else ""), *map(_either, _ALTERNATIVE.findall(sentence))]
    return frozenset(mentions[ord(sign) - _FIRST].value for sign in signs)


def _either(signs: tuple[str, str]) -> str:
    return signs[0] or signs[1]


def behind_retraction(text: str, says: Callable[[str], bool], *, short: bool = False) -> str:
    """Return what stands behind the last retraction of a text behind which something is said; else the text.

    In a `short` text, that answers one step, a second look is one as well.
    """
    return _last_said(_TAKEN_BACK if short else _RETRACTION, text, says)


def _last_said(mark: Words, text: str, says: Callable[[str], bool]) -> str:
    found = [match.end() for match in mark.finditer(text.lower())]
    left = LONGEST  # each look reads to the end anew
    for at in reversed(found[-_MOST_RETRACTIONS:]):
        left -= len(text) - at
        if left < 0:
            break
        if says(text[at:]):
            return text[at:]
    return text


def _behind_retraction(sentence: str) -> str:
    return _last_said(_TAKEN_BACK, sentence, lambda rest: bool(_VALUE.search(rest)))


def is_hypothesis(before: str) -> bool:
    """Whether what stands before an announcement in its sentence makes it a mere example or somebody's guess."""
    return bool(_HYPOTHESIS.search(before.lower()))


def is_conditional(clause: str) -> bool:
    """Whether a clause, or what stands before an announcement in it, holds on a condition only."""
    lowered = clause.lower().lstrip(" *_-,，")
    return bool(_CONDITION.match(lowered)) and not _FORCED.match(lowered)


def verdicts(sentence: str) -> frozenset[bool]:
    """Return whether a sentence says that something holds, or does not, "not true" being the latter; or both."""
    lowered = sentence.lower()
    mentions = [Mention(*match.span(), bool(match["holds"])) for match in _VERDICT.finditer(lowered)]
    if not mentions:
        return frozenset()
    said = stances(lowered, mentions)
    found = narrowed(said.written, mentions)
    return frozenset(bool(value) for value in found) or frozenset(not value for value in said.denied)


def _without_what_gives_way(sentence: str) -> str:
    rest = _GIVES_WAY.sub(" ", sentence)
    return rest if _VALUE.search(rest) else sentence
