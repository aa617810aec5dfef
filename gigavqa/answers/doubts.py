"""Whether a text leaves what was read of it in doubt: takes it back, sets a rival beside it, or says two things alike.

What is in doubt is ambiguous: no answer is better than a wrong one (docs/decisions/0010-reading-answers.md).
"""

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import pairwise

from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.negation import Mention, stances
from gigavqa.answers.text import plain, sentences_of
from gigavqa.answers.withdrawals import holds_if, is_answered_by_others, is_conditional, is_hypothesis

MentionsOf = Callable[[str], Sequence[Mention]]

_LEAST = 8
"""Characters of a text that can hold a doubt beside its answer."""
_LONGEST_OPENER = 48
"""Characters of a sentence in which it opens the question anew."""
_LEAST_ASIDE = 16
"""Characters of a sentence that can take itself back, or tell whose an answer is and on what it depends."""
_GOES_ON = re.compile(r"[.!?;…。！？；।؟۔\n]\W{0,8}\w")
"""A stop that a text goes on behind."""
_MOST_SENTENCES = 16
"""Sentences that are looked at, from the end: a doubt further back is no last word."""
_MOST_MENTIONS = 16
"""Times that a text names a value, each of which is looked at: more are no answer of somebody else's."""
START = r"^[\s*_\"'“(…—–-]{0,8}"
"""What may stand before the first word of a sentence."""
_REOPENS = lazy_pattern(
    rf"{START}(?:{words('reopening', 'contrast', 'alternative', 'retraction', 'second_look', 'no')})"
)
_RETRACTS = lazy_pattern(rf"{START}(?:{words('contrast', 'no')}\s*[,，、]?\s*)?{words('retraction', 'taken_back')}")
_CONFIRMS = Words("yes", "holds", "affirmation", "right_is", "agreement", "holding")
_ON_CONDITION = lazy_pattern(rf"{START}{words('contrast', 'set_against')}\s*[,，、]?\s*{words('condition')}")
_AGAINST = rf"(?:{words('contrast', 'concession')}|[—–])\s*"
_SEEN_ANEW = lazy_pattern(rf"{_AGAINST}(?:{_AGAINST})?[,，]?\s*{words('second_look')}")
"""A second look that is set against what was said, behind it."""
_OR = lazy_pattern(rf"{START}(?:{words('alternative')})")
_POSSIBLE, _EQUAL = Words("possibility"), Words("equal_chance")
_TAKES_BACK = Words("taken_back", "second_look")
_UNDECIDED, _TAKEN_BACK = Words("undecided"), Words("taken_back")
_REJECTS = lazy_pattern(rf"{START}(?:{words('no', 'concession')})")
_CONFIRMED = lazy_pattern(rf"{START}{words('yes')}")
_CONTRAST = Words("contrast", "cause")
_SIGNS = Words("possibility", "equal_chance", "undecided", "taken_back", "second_look", "retraction")
_WORD = re.compile(r"[^\W\d_]{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_CONDITIONS, _CONCLUDES = Words("condition", "condition_behind"), Words("conclusion", "total")
_DROPPED, _CLAUSES = Words("dropped"), re.compile(r"\n|[.!?;](?=\s)|[。！？；।؟]")
_OTHERS = Words("answerer", "speaker", "hypothesis")


def is_unsafe(text: str, value: Hashable, mentions_of: MentionsOf) -> bool:
    """Return whether a text takes its value back, says two alike, has others say it, or holds on a condition."""
    return (
        is_doubtful(text, value, mentions_of)
        or _is_only_of_others(text, value, mentions_of)
        or _is_either_way(text, value, mentions_of)
    )


def is_doubtful(text: str, value: Hashable, mentions_of: MentionsOf) -> bool:
    """Return whether what a text says last of a value leaves it in doubt."""
    if len(text) < _LEAST:
        return False
    if not _GOES_ON.search(text) and (len(text) < _LEAST_ASIDE or not _TAKES_BACK.may_be_in(text.lower())):
        return False
    parts = sentences_of(text)
    if _begins_alike(parts) and _is_contradicted(parts, value, mentions_of):
        return True
    reopens = any(_REOPENS.match(part[:_LONGEST_OPENER].lower()) for part in parts[1:][-_MOST_SENTENCES:])
    return (reopens or _SIGNS.may_be_in(text.lower())) and _is_left_open(parts, value, mentions_of)


def _begins_alike(parts: Sequence[str]) -> bool:
    """Return whether two of the last sentences, one behind the other, begin with the same word."""
    first = [part.split(maxsplit=1)[0] for part in parts[-_MOST_SENTENCES:]]
    return any(one == other for one, other in pairwise(first))


def _is_contradicted(parts: Sequence[str], value: Hashable, mentions_of: MentionsOf) -> bool:
    """Return whether the last two sentences that name values say two different ones in the same words."""
    named: list[tuple[Mention, str, int]] = []
    for at in range(len(parts) - 1, max(-1, len(parts) - 1 - _MOST_SENTENCES), -1):
        if mentions := mentions_of(parts[at]):
            if len(mentions) > 1:
                return False
            named.append((mentions[0], parts[at], at))
            if len(named) > 1:
                break
    if len(named) < 2 or named[0][2] != named[1][2] + 1 or value not in (named[0][0].value, named[1][0].value):
        return False
    frames = {_frame(sentence, mention) for mention, sentence, _ in named}
    return named[0][0].value != named[1][0].value and len(frames) == 1 and bool(_WORD.search(frames.pop()))


def _frame(sentence: str, mention: Mention) -> str:
    return plain(f"{sentence[: mention.start]}\0{sentence[mention.end :]}")


def _is_left_open(parts: Sequence[str], value: Hashable, mentions_of: MentionsOf) -> bool:
    """Return whether a sentence behind the last that says the value alone takes it back, or sets a rival beside it."""
    behind, is_hedged, is_denied, is_named = "", False, False, False
    for sentence in reversed(parts[-_MOST_SENTENCES:]):
        mentions = [*mentions_of(sentence)]
        said, denied = _said(sentence, mentions)
        if is_hedged and said and value not in said:
            return len(said) == 1
        if said == {value} and _is_hedged(sentence.lower()):
            is_hedged = True
        elif said == {value}:
            last = max(mention.end for mention in mentions if mention.value == value)
            rest = sentence[last:].lower()
            return is_denied or bool(_TAKEN_BACK.search(rest) or _SEEN_ANEW.search(rest))
        is_denied |= value in denied and not said and bool(_REOPENS.match(sentence.lower()))
        doubts = _doubts(sentence, value, mentions, said) or (not is_named and _retracts(sentence.lower(), mentions))
        if len(parts) > 1 and doubts and not _overrules(behind.lower()):
            return True
        behind, is_named = sentence, is_named or value in said
    return False


def _retracts(lowered: str, mentions: Sequence[Mention]) -> bool:
    """Return whether a sentence takes back what was said, names nothing in its place, and confirms nothing."""
    return bool(not mentions and _RETRACTS.match(lowered)) and not _CONFIRMS.search(lowered)


def _overrules(behind: str) -> bool:
    """Return whether a sentence rejects the doubt before it, or confirms what was said."""
    return bool(_REJECTS.match(behind) or _CONFIRMED.match(behind))


def _is_hedged(lowered: str) -> bool:
    """Return whether a sentence says of its value that it may be the one as well, "Or possibly A.", "Maybe 4."."""
    if _OR.match(lowered) or _EQUAL.search(lowered):
        return True
    return bool(_POSSIBLE.search(lowered) and _REOPENS.match(lowered))


def _said(sentence: str, mentions: Sequence[Mention]) -> tuple[Collection[Hashable], Collection[Hashable]]:
    if not mentions:
        return (), ()
    told = stances(sentence, mentions)
    return {mention.value for mention in mentions} - told.denied, told.denied


def _doubts(
    sentence: str,
    value: Hashable,
    mentions: Sequence[Mention],
    said: Collection[Hashable],
) -> bool:
    lowered = sentence.lower()
    if _UNDECIDED.search(lowered):
        return True
    if _ON_CONDITION.match(lowered) and {*said} - {value}:
        return True
    first = min((mention.start for mention in mentions), default=len(sentence))
    if (taken := _TAKEN_BACK.search(lowered)) and taken.start() <= first and not {*said} - {value}:
        return True
    rivals = [mention for mention in mentions if mention.value in said and mention.value != value]
    if not rivals or is_conditional(lowered) or is_hypothesis(lowered[:first]) or _is_of_others(sentence, rivals[0]):
        return False
    if _CONTRAST.search(lowered[rivals[0].end :]):
        return False
    return _is_hedged(lowered)


def _is_of_others(sentence: str, mention: Mention) -> bool:
    return is_answered_by_others(sentence[: mention.start], sentence[mention.end :])


def _is_only_of_others(text: str, value: Hashable, mentions_of: MentionsOf) -> bool:
    """Return whether all sentences that name a value tell what others answered, or would."""
    if len(text) < _LEAST_ASIDE or not _OTHERS.may_be_in(text.lower()):
        return False
    found = [(sentence, one) for sentence in sentences_of(text) for one in mentions_of(sentence) if one.value == value]
    if not 0 < len(found) <= _MOST_MENTIONS:
        return False
    return all(is_hypothesis(sentence[: one.start]) or _is_of_others(sentence, one) for sentence, one in found)


def _is_either_way(text: str, value: Hashable, mentions_of: MentionsOf) -> bool:
    """Return whether the only sentence that says a value says another on another condition, "12 if ..., else 9"."""
    if len(text) < _LEAST_ASIDE or not _CONDITIONS.may_be_in(text.lower()):
        return False
    found = [(sentence, mentions) for sentence in sentences_of(text) if (mentions := mentions_of(sentence))]
    if len(found) != 1:
        return False
    sentence, mentions = found[0]
    if (
        len(mentions) > _MOST_MENTIONS
        or len({mention.value for mention in mentions}) < 2
        or _CONCLUDES.search(sentence.lower())
    ):
        return False
    behind = [holds_if(sentence[mention.end :]) for mention in mentions]
    return all(behind) or is_conditional(sentence[: mentions[0].start])


def is_struck(text: str, values: Collection[Hashable], mentions_of: MentionsOf) -> bool:
    """Return whether a text strikes a value, or what it does not name, out of the list that it gave."""
    if not _DROPPED.may_be_in(text.lower()):
        return False
    for clause in _CLAUSES.split(text):
        if found := _DROPPED.search(clause.lower()):
            named = {mention.value for mention in mentions_of(clause[: found.start()])}
            if not named or not named.isdisjoint(values):
                return True
    return False
