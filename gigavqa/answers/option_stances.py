"""Tells which options a text says are among those that its question asks for, where every sentence is understood.

A sentence is cut into groups: options that are joined, with the words about them. A group is affirmed where these are
words of the question, or say no more than that it is there; denied where one denies it, or says that nothing is wrong.
A question of what is missing turns both about. What any other words say is not known, and leaves all of it unsure.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import Literal, NamedTuple

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import is_content, named, stem_of, tokens
from gigavqa.answers.lexicon import UNSPACED, Words, lazy_pattern, phrases, words
from gigavqa.answers.negation import Mention
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import is_ascribed, is_conditional, is_first_thought, is_hypothesis

Stance = Literal["listed", "stated", "denied", "unknown"]
"""`listed` says nothing of an option but that it is one of those asked for."""
MentionsOf = Callable[[str], Sequence[Mention]]

_LONGEST = 2_000
"""Characters of a text that is looked at; a longer one argues."""
_JOINT = lazy_pattern(
    rf"[,،、，;；/&+\n]|\s[–—-]\s|—|{words('contrast', 'set_against', 'addition', 'alternative')}|(?<=\s)[وف](?=\w)|(?<=\w)[와과]\s|^[와과]\s|(?<=\w)と",
    re.IGNORECASE,
)
_CONTRAST = lazy_pattern(rf"{words('contrast', 'set_against')}|[;；]", re.IGNORECASE)
_ASIDE = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_MARKUP = re.compile(r"[*_`\"“”‘«»「」#>|]|(?<!\w)['’]|['’](?!\w)|^\s*(?:[-•]|\d{1,2}[.)])\s")
_NO = re.compile(r"[✗✘✖❌×☐✕🚫⛔❎]|\[ ?\]")
_YES = re.compile(r"[✓✔✅☑⭕]|\[[xX✓✔]\]")
_LEAST_COLOURS = 6
_COLOURS = frozenset(
    stem_of(word) for group in phrases("contraries") if group.count("|") >= _LEAST_COLOURS - 1 for word in group.split("|")
)
"""Words of one line of contraries that is as long as only that of the colours."""
_PARTICLE = re.compile(r"^(?:이고|이며|으로|에서|까지|이|가|은|는|을|를|과|와|도|만|의|에|로)(?![가-힣])")
"""What Korean writes in one with the option before it."""
_ENDING = re.compile(r"(?:です|だ|である|입니다|이다|हैं|है)?[\s.。!।]*$")
_NOR, _REST, _CAUSE = Words("nor"), Words("the_rest", pattern=r"(?:[,;，；、]\s?)?(?:\b(?:and|while)\s)?{}.*"), Words("cause")
_NOT_ONLY = Words("not_only")
_DENIES = Words("rejecting", "denial_behind", "nothing", "dropped", "none_there", "none_behind", "no_such", "holds_not")
_UNSURE = Words("possibility", "equal_chance", "undecided", "hypothesis")
_ALTERNATIVE = Words("alternative")
_REPLACES = Words("denial_before")
_KNOWN = (
    "scene", "existence_told", "existence_asked", "existence_asked_behind", "posture", "copula", "option_noun",
    "affirmation", "conclusion", "opens_list", "only", "everything", "function_word", 
    "announcement", "announcement_direct", "counted_noun", "adverb", "holding", "right_is", "as_well", "applies", "particle", "addition", "aside",
    "contrast", "set_against", "numeral", "holds", "yes", "side", "preposition", "sentence_ending", "small_count", "negator", "lacking", "untrue", "assertion", "rejecting",
)  # fmt: skip


class OptionStances(NamedTuple):
    """The options that a text affirms and those that it denies; `is_sure` where nothing of it was left unread."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    is_sure: bool


class _Group(NamedTuple):
    letters: tuple[str, ...]
    lead: str
    tail: str
    is_set_against: bool
    is_either: bool
    is_related: bool = False


def stances_of(
    text: str, mentions_of: MentionsOf, options: Collection[str], asked: Asked | None, language: str
) -> OptionStances:
    """Return what a text says of the options that it names, of those that its question asks for."""
    if len(text) > _LONGEST:
        return OptionStances(frozenset(), frozenset(), is_sure=False)
    found: list[tuple[_Group, Stance]] = []
    is_sure = True
    for whole in sentences_of(text):
        sentence = whole if _REST.search(whole.lower()) is None else _without_rest(whole)
        mentions = mentions_of(sentence)
        if not mentions:
            is_sure &= not unknown_words(sentence, asked, language)
        elif _is_withdrawn(sentence):
            continue
        elif _is_unsaid(sentence):
            is_sure = False
        else:
            found += (
                (group, _stance(group, asked, language, is_lettered=_are_letters(sentence, mentions)))
                for group in _groups(sentence, mentions, language)
                if not is_ascribed(group.lead, group.tail)
            )
    return _weighed(found, options, asked, is_sure=is_sure)


def _weighed(
    found: Sequence[tuple[_Group, Stance]], options: Collection[str], asked: Asked | None, *, is_sure: bool
) -> OptionStances:
    lacks = asks_for_lack(asked)
    meant: dict[Stance, bool | None] = {"listed": True, "stated": not lacks, "denied": lacks, "unknown": None}
    said: list[tuple[_Group, bool | None]] = [(group, meant[stance]) for group, stance in found]
    if {letter for group, _ in said for letter in group.letters} == {*options} and _are_set_apart(said):
        other = False in [told for _, told in said]
        said = [(group, other if told is None else told) for group, told in said]
    affirmed = frozenset(letter for group, told in said if told for letter in group.letters)
    denied = frozenset(letter for group, told in said if told is False for letter in group.letters)
    is_sure &= None not in [told for _, told in said] and not affirmed & denied
    return OptionStances(affirmed, denied, is_sure)


def _are_set_apart(said: Sequence[tuple[_Group, bool | None]]) -> bool:
    """Return whether what is said in unknown words is all on one side of a contrast, and all that is known on the other."""
    told = [one for _, one in said]
    if len(set(told)) != 2 or None not in told:
        return False
    turns = [at for at in range(1, len(said)) if told[at] != told[at - 1]]
    return len(turns) == 1 and said[turns[0]][0].is_set_against


def asks_for_lack(asked: Asked | None) -> bool:
    """Return whether a question asks for what is not there, or does not hold."""
    if asked is None:
        return False
    if words_in(asked.language, "lacking").search(asked.text):
        return True
    of_statements = words_in(asked.language, "assertion").search(asked.text)
    return of_statements is not None and words_in(asked.language, "untrue").search(asked.text) is not None


def _are_letters(sentence: str, mentions: Sequence[Mention]) -> bool:
    return all(one.end - one.start == 1 and sentence[one.start] == one.value for one in mentions)


def _without_rest(sentence: str) -> str:
    """Return a sentence without what it says of the options that it does not name, "the others are not"."""
    found = _REST.search(sentence.lower())
    return sentence[: found.start()] if found else sentence


def _is_withdrawn(sentence: str) -> bool:
    return is_first_thought(sentence)


def _is_unsaid(sentence: str) -> bool:
    """Return whether a sentence asks, supposes or leaves open, or says that it cannot tell."""
    lowered = sentence.lower()
    return (
        sentence.rstrip(" *_`").endswith(("?", "？", "؟"))
        or abstains(sentence)
        or is_hypothesis(sentence)
        or is_conditional(sentence)
        or _UNSURE.search(lowered) is not None
    )


def _groups(sentence: str, mentions: Sequence[Mention], language: str) -> Iterator[_Group]:
    """Yield the options of a sentence that are joined by nothing but marks and words such as "and"."""
    lead, letters = sentence[: mentions[0].start], [str(mentions[0].value)]
    is_set_against = is_either = is_related = False
    for one, other in zip(mentions, [*mentions[1:], None], strict=False):
        between = sentence[one.end : other.start if other else len(sentence)]
        if other is None:
            yield _Group(tuple(letters), lead, between, is_set_against, is_either, is_related)
        elif is_joint(between, language):
            letters.append(str(other.value))
            is_either |= _ALTERNATIVE.search(between.lower()) is not None
        else:
            joints = [*_JOINT.finditer(between)]
            tail, rest = (between[: joints[-1].start()], between[joints[-1].end() :]) if joints else (between, between)
            yield _Group(tuple(letters), lead, tail, is_set_against, is_either, is_related or not joints)
            is_related = not joints
            lead, letters = rest, [str(other.value)]
            is_set_against, is_either = _CONTRAST.search(between) is not None, False


def is_joint(between: str, language: str) -> bool:
    """Return whether what stands between two options joins them, and says nothing of the first alone."""
    bare = _MARKUP.sub(" ", _ASIDE.sub(" ", between)).lower()
    if words_in(language, *_known_classes(language, ("copula", "existence_told"))).search(bare):
        return False
    if _CONTRAST.search(bare) or _NO.search(between) or _YES.search(between) or denies(_NOR.sub(" ", bare), language):
        return False
    return bool(not bare.strip() or _JOINT.search(bare)) and not _content(_JOINT.sub(" ", bare), language)


def _stance(group: _Group, asked: Asked | None, language: str, *, is_lettered: bool) -> Stance:
    crossed, ticked = (_NO.search(group.lead + group.tail), _YES.search(group.lead + group.tail))
    if crossed or ticked:
        return ("denied" if crossed else "stated") if not (crossed and ticked) and not asks_for_lack(asked) else "unknown"
    tail = _CAUSE.split(_PARTICLE.sub(" ", group.tail).lower())[0]
    lead = words_in(language, "conclusion").split(group.lead.lower())[-1] if is_lettered else group.lead
    said = _NOT_ONLY.sub(" ", _MARKUP.sub(" ", _ASIDE.sub(" ", f"{lead} ; {tail}")).lower())
    in_order = _in_order(language).search(said)
    if in_order and (asked is None or stem_of(in_order[0].split()[0]) not in asked.words):
        return "unknown" if denies(said.replace(in_order[0], " "), language) else "denied"
    if denies(said, language):
        seen = _without_denials(said, language) if asks_for_lack(asked) else " ; ".join(_JOINT.split(tail)[1:])
        return "unknown" if unknown_words(seen, asked, language) else "denied"
    if asked and asked.is_contrary_to(named(tokens(said, language))):
        return "unknown" if asks_for_lack(asked) else "denied"
    if group.is_either or group.is_related or _REPLACES.search(said) or unknown_words(said, asked, language):
        return "unknown"
    goes_on = asks_for_lack(asked) and any(map(str.isalpha, _ENDING.sub("", tail)))
    return "stated" if goes_on or states(said, asked, language) else "listed"


def denies(said: str, language: str) -> bool:
    """Return whether words deny, in lower case."""
    return words_in(language, "negator", "lacking", "untrue").search(said) is not None or _DENIES.search(said) is not None


def _without_denials(said: str, language: str) -> str:
    return words_in(language, "negator", "lacking", "untrue").sub(" ", _DENIES.sub(" ", said))


def states(said: str, asked: Asked | None, language: str) -> bool:
    """Return whether words say of an option what the question asks for, or that it is there."""
    if asked and any(_is_asked(word, asked.words) for word in _content(said, language)):
        return True
    return words_in(language, *_known_classes(language, ("scene", "existence_told"))).search(said) is not None


@lru_cache(maxsize=16)
def _in_order(language: str) -> Words:
    return words_in(language, "in_order")


def unknown_words(text: str, asked: Asked | None, language: str) -> frozenset[str]:
    """Return the words of a text that neither the question has, nor anything that only says that a thing is there."""
    bare = _MARKUP.sub(" ", _ASIDE.sub(" ", text)).lower()
    known = _known(language)
    return frozenset(word for word in _content(bare, language) - known if not (asked and _is_asked(word, asked.words)))


def _is_asked(word: str, words_asked: Collection[str]) -> bool:
    """Return whether a word is one of a question's, or begins as one does of which it may be another form."""
    if word in words_asked:
        return True
    least, share = (2, 0.6) if UNSPACED.search(word) else (4, 0.7)
    return any(
        len(shared := commonprefix((word, other))) >= least and len(shared) >= share * min(len(word), len(other))
        for other in words_asked
    )




def _content(lowered: str, language: str) -> frozenset[str]:
    """Return the words of a text that tell of something, but for colours, sides and numbers."""
    return frozenset(
        token.stem
        for token in tokens(lowered, language)
        if is_content(token) and token.stem not in _COLOURS and not token.stem.isdigit()
    )


@lru_cache(maxsize=16)
def _known(language: str) -> frozenset[str]:
    """Return the words that only say that a thing is there, or announce an answer."""
    said = " ; ".join(phrase.rstrip("*") for name in _KNOWN for phrase in phrases(f"{name}.{language}"))
    return named(tokens(said.lower(), language))


@lru_cache(maxsize=64)
def _known_classes(language: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if phrases(f"{name}.{language}"))
