"""Tells which options a text says are among those that its question asks for, where every sentence is understood.

A sentence is cut into groups: options that are joined, with the words about them. A group is affirmed where these are
words of the question, or say no more than that it is there; denied where one denies it, or says that nothing is wrong.
A question of what is missing turns both about. What any other words say is not known, and leaves all of it unsure.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import named, stem_of, tokens
from gigavqa.answers.known_words import (
    asks_for_lack,
    bare,
    denies,
    denies_another,
    genitives,
    is_of_another,
    states,
    unknown_words,
    without_denials,
)
from gigavqa.answers.lexicon import Words, phrases
from gigavqa.answers.negation import Mention
from gigavqa.answers.option_groups import CROSS, JOINT, TICK, OptionGroup, groups_of
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import is_ascribed, is_conditional, is_first_thought, is_hypothesis

Stance = Literal["listed", "stated", "denied", "unknown"]
"""`listed` says nothing of an option but that it is one of those asked for."""
MentionsOf = Callable[[str], Sequence[Mention]]

LONGEST_UNDERSTOOD = 2_000
"""Characters of a text that is looked at; a longer one argues."""
_NUMBER = re.compile(r"\d")
"""What is counted behind an option is of it, and may be more or less than is asked for."""
_PARTICLE = re.compile(r"^(?:이고|이며|으로|에서|까지|이|가|은|는|을|를|과|와|도|만|의|에|로)(?![가-힣])")
"""What Korean writes in one with the option before it."""
_ENDING = re.compile(r"(?:です|だ|である|입니다|이다|हैं|है)?[\s.。!।]*$")
_NOT_ONLY = Words("not_only")
_UNSURE = Words("possibility", "equal_chance", "undecided", "hypothesis", "nobody")
_REPLACES = Words("denial_before")
_REST = Words("the_rest", pattern=r"(?:[,;，；、]\s?)?(?:\b(?:and|while)\s)?{}.*")


class OptionStances(NamedTuple):
    """The options that a text affirms and those that it denies; `is_sure` where nothing of it was left unread."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    is_sure: bool


def stances_of(
    text: str, mentions_of: MentionsOf, options: Collection[str], asked: Asked | None, language: str
) -> OptionStances:
    """Return what a text says of the options that it names, of those that its question asks for."""
    if len(text) > LONGEST_UNDERSTOOD:
        return OptionStances(frozenset(), frozenset(), is_sure=False)
    found: list[tuple[OptionGroup, Stance]] = []
    is_sure = True
    for whole in sentences_of(text):
        sentence = whole if _REST.search(whole.lower()) is None else _without_rest(whole)
        mentions = mentions_of(sentence)
        if not mentions:
            is_sure &= not unknown_words(sentence, asked, language)
        elif is_first_thought(sentence):
            continue
        elif is_unsaid(without_mentions(sentence, mentions)):
            is_sure = False
        else:
            found += (
                (group, stance_of(group, asked, language, is_lettered=_are_letters(sentence, mentions)))
                for group in groups_of(sentence, mentions, language)
                if not is_ascribed(group.lead, group.tail)
            )
    return _weighed(found, options, asked, is_sure=is_sure)


def _weighed(
    found: Sequence[tuple[OptionGroup, Stance]], options: Collection[str], asked: Asked | None, *, is_sure: bool
) -> OptionStances:
    lacks = asks_for_lack(asked)
    meant: dict[Stance, bool | None] = {"listed": True, "stated": not lacks, "denied": lacks, "unknown": None}
    said: list[tuple[OptionGroup, bool | None]] = [(group, meant[stance]) for group, stance in found]
    if {letter for group, _ in said for letter in group.letters} == {*options} and _are_set_apart(said):
        other = False in [told for _, told in said]
        said = [(group, other if told is None else told) for group, told in said]
    affirmed = frozenset(letter for group, told in said if told for letter in group.letters)
    denied = frozenset(letter for group, told in said if told is False for letter in group.letters)
    is_sure &= None not in [told for _, told in said] and not affirmed & denied
    return OptionStances(affirmed, denied, is_sure)


def _are_set_apart(said: Sequence[tuple[OptionGroup, bool | None]]) -> bool:
    """Return whether what is said in unknown words is all on one side of a contrast, and what is known on the other."""
    told = [one for _, one in said]
    if len(set(told)) != 2 or None not in told:
        return False
    turns = [at for at in range(1, len(said)) if told[at] != told[at - 1]]
    return len(turns) == 1 and said[turns[0]][0].is_set_against


def _are_letters(sentence: str, mentions: Sequence[Mention]) -> bool:
    return all(one.end - one.start == 1 and sentence[one.start] == one.value for one in mentions)


def _without_rest(sentence: str) -> str:
    """Return a sentence without what it says of the options that it does not name, "the others are not"."""
    found = _REST.search(sentence.lower())
    return sentence[: found.start()] if found else sentence


def without_mentions(sentence: str, mentions: Sequence[Mention]) -> str:
    """Return a sentence with a sign in place of the options, whose own words say nothing of it."""
    ends = [0, *(one.end for one in mentions)]
    starts = [*(one.start for one in mentions), len(sentence)]
    return "…".join(sentence[end:start] for end, start in zip(ends, starts, strict=True))


def is_unsaid(sentence: str) -> bool:
    """Return whether a sentence asks, supposes or leaves open, or says that it cannot tell."""
    lowered = sentence.lower()
    return (
        sentence.rstrip(" *_`").endswith(("?", "？", "؟"))
        or abstains(sentence)
        or is_hypothesis(sentence)
        or is_conditional(sentence)
        or _UNSURE.search(lowered) is not None
    )


def stance_of(group: OptionGroup, asked: Asked | None, language: str, *, is_lettered: bool) -> Stance:
    """Return what the marks or words about a group say of it."""
    crossed, ticked = (CROSS.search(group.lead + group.tail), TICK.search(group.lead + group.tail))
    if (crossed and ticked) or ((crossed or ticked) and asks_for_lack(asked)):
        return "unknown"
    if crossed or ticked:
        return "denied" if crossed else "stated"
    tail = words_in(language, "cause").split(_PARTICLE.sub(" ", group.tail).lower())[0]
    tail = _without_other_denials(tail, asked, language)
    lead = words_in(language, "conclusion").split(group.lead.lower())[-1] if is_lettered else group.lead.lower()
    said = _NOT_ONLY.sub(" ", bare(f"{lead} ; {tail}"))
    if denial := _denial(said, tail, asked, language):
        return denial
    if _REPLACES.search(said):
        return "denied" if _REPLACES.search(lead) and not asks_for_lack(asked) else "unknown"
    is_of_others = is_of_another(said, asked, language) or _genitive(language).search(lead)
    is_unclear = group.is_either or group.is_related or _NUMBER.search(tail)
    if is_of_others or is_unclear or unknown_words(said, asked, language):
        return "unknown"
    goes_on = asks_for_lack(asked) and any(map(str.isalpha, _ENDING.sub("", tail)))
    return "stated" if goes_on or states(said, asked, language) else "listed"


def _denial(said: str, tail: str, asked: Asked | None, language: str) -> Stance | None:
    """Return what words say of a group that deny it, call it sound, or tell of the contrary of what was asked."""
    in_order = _in_order(language).search(said)
    if in_order and (asked is None or stem_of(in_order[0].split()[0]) not in asked.words):
        return "unknown" if denies(said.replace(in_order[0], " "), language) else "denied"
    if denies(said, language):
        seen = without_denials(said, language) if asks_for_lack(asked) else " ; ".join(JOINT.split(tail)[1:])
        return "unknown" if unknown_words(seen, asked, language) else "denied"
    if asked and asked.is_contrary_to(named(tokens(said, language))):
        return "unknown" if asks_for_lack(asked) else "denied"
    return None


@lru_cache(maxsize=16)
def _genitive(language: str) -> re.Pattern[str]:
    """Return what tells, at the end of what stands before an option, that it only describes another thing."""
    ones = "|".join(map(re.escape, sorted(genitives(language).difference(phrases(f"article.{language}")))))
    return re.compile(rf"(?<![^\W_])(?:{ones})\s+$" if ones else r"(?!)")


def _without_other_denials(tail: str, asked: Asked | None, language: str) -> str:
    """Return what is said behind an option without the clauses that deny something else than was asked for."""
    first, *rest = _CLAUSES.split(tail)
    return ",".join([first, *(one for one in rest if not denies_another(one, asked, language))])


_CLAUSES = re.compile("[,，;；]")


@lru_cache(maxsize=16)
def _in_order(language: str) -> Words:
    return words_in(language, "in_order")
