"""Choose, of several counts in a reply, the one whose words cover best what the question asks for (decision 0010).

One wins where all others are excused: each counts another thing, the whole of which it is a part, or the same thing in
another state. Else the reply is read without its question.
"""

import re
from collections.abc import Sequence

from gigavqa.answers.abstention import find_abstention
from gigavqa.answers.asked import STATES, Asked
from gigavqa.answers.counted_phrases import CountedPhrase, counted_phrases, zero_in
from gigavqa.answers.counting import counts_in
from gigavqa.answers.lexicon import Words, lazy_pattern
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.parts_of_wholes import has_part_in_words, with_parts_in_digits
from gigavqa.answers.readings import AMBIGUOUS, Reading, parsed
from gigavqa.answers.text import sentences_of

_LONGEST = 1_000
"""Characters of a text whose counts are weighed; a longer one works its answer out."""
_MOST = 32
_UNWEIGHED = Words("in_their_order", "first_thought", "second_look")
"""What tells that counts are revised, or stand in an order of their own."""
_BOLD = lazy_pattern(rf"\*\*\s?({NUMBER.pattern})(?:\s?[^\W\d]{{1,16}})?\s?\*\*", re.IGNORECASE)


def as_asked(asked: Asked, in_order: Sequence[str], reading: Reading | None) -> Reading | None:
    """Return what some sentences count of what was asked for; the reading itself where that cannot be told.

    What was read is ambiguous where another count has words of the question that its own lacks.
    """
    if not asked.is_of_one_count or sum(map(len, in_order)) > _LONGEST or any(map(find_abstention, in_order)):
        return reading
    in_order = [*map(with_parts_in_digits, in_order)]
    found = None if any(_UNWEIGHED.search(one.lower()) for one in in_order) else counted_phrases(asked, in_order)
    if not found or len(found) > _MOST:
        return reading
    best = _best(asked, found)
    if best is None:
        is_one = sum(bool(counts_in(sentence)) for sentence in in_order) == 1 and not _contrasts(in_order)
        unclear = (_is_contrary, _is_of_others, *([_is_in_part] if is_one else []))
        return AMBIGUOUS if any(one(asked, found, reading) for one in unclear) else reading
    rivals = [one for one in found if one.value != best.value]
    bold = {value_of(one[1]) for sentence in in_order for one in _BOLD.finditer(sentence)}
    if (len(bold) != 1 or best.value in bold) and all(_is_excused(asked, one, best) for one in rivals):
        return parsed(best.value)
    return AMBIGUOUS if _lacks(asked, found, best, reading) else reading


def compete(asked: Asked, text: str, reading: Reading | None) -> bool:
    """Return whether a text holds several counts, a count and a denial, or one of what may not have been asked for."""
    if reading is None or reading.status != "parsed" or asked.contraries:
        return True
    lowered = text.lower()
    if zero_in(asked.language).search(lowered) or has_part_in_words(lowered):
        return True
    return len({value_of(one[0]) for sentence in sentences_of(text) for one in counts_in(sentence)}) > 1


def _contrasts(in_order: Sequence[str]) -> bool:
    return any(_CONTRAST.search(sentence.lower()) for sentence in in_order)


_CONTRAST = Words("contrast", "conclusion")


def _cover(asked: Asked, one: CountedPhrase) -> frozenset[str]:
    return (one.said | one.inherited) & asked.words


def _best(asked: Asked, found: list[CountedPhrase]) -> CountedPhrase | None:
    """Return the count that covers the noun phrase that was asked for, and most of the question; None of several."""
    named = [one for one in found if asked.things <= _cover(asked, one)] or _told_by_place(asked, found)
    most = max((len(_cover(asked, one)) for one in named), default=0)
    best = [one for one in named if len(_cover(asked, one)) == most]
    best = [one for one in best if not one.is_part] or best
    if len({one.value for one in best}) != 1 or asked.is_contrary_to(best[0].said):
        return None
    is_whole = not asked.told_apart <= _cover(asked, best[0])
    return None if is_whole and any(asked.is_contrary_to(one.said) for one in found) else best[0]


def _told_by_place(asked: Asked, found: list[CountedPhrase]) -> list[CountedPhrase]:
    """Return the count that alone stands where was asked, "upper left: 5", where none names a thing."""
    told_apart = asked.told_apart & frozenset().union(*(one.said for one in found))
    if not told_apart or any(one.said & asked.things for one in found):
        return []
    place = [one for one in found if told_apart <= one.said]
    return place if all(one in place or asked.is_contrary_to(one.said) for one in found) else []


def _is_excused(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> bool:
    """Return whether a count is none of what was asked for, beside the one that fits best."""
    covered, needed = _cover(asked, one), _cover(asked, best)
    lacking = needed - covered
    if one.is_part and not best.is_part and one.value <= best.value and one.said - asked.words:
        return True
    if not lacking or (one.is_outcome and not one.said & asked.words):
        return False
    if asked.is_contrary_to(one.said):
        return True
    if one.said & asked.things and covered < needed and one.value >= best.value:
        return True
    if asked.words <= needed and one.inherited and one.said - asked.words and not lacking & asked.things:
        return not (best.said & best.rest) - asked.words
    return _is_other_thing(asked, one, best)


def _is_other_thing(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> bool:
    """Return whether the noun of a count is another than what was asked for.

    A single word may tell of the same thing, "3 boats lie there and 2 sail", where the best count has other words, too.
    """
    is_behind = bool(best.behind & asked.things)
    is_before = not is_behind and bool(best.before & asked.things)
    noun = one.behind if is_behind else one.before if is_before and best.value else one.behind or one.before
    other = noun - asked.words
    if not other:
        return bool(noun) and not noun & asked.things
    if noun & (asked.words - asked.things):
        return False
    more = (best.said if is_before else best.rest) - asked.words if best.value else frozenset()
    is_plain = len(noun) > 1 and not noun & asked.words
    return is_plain or not more or (one.is_row and best.is_row)


def _is_contrary(asked: Asked, found: list[CountedPhrase], reading: Reading | None) -> bool:
    """Return whether what was read is plainly of something else, "14 blue cars" for red ones, or a whole of that."""
    if not any(asked.is_contrary_to(one.said) for one in found):
        return False
    read = _read(found, reading)
    return not any(asked.told_apart <= _cover(asked, one) for one in read)


def _is_of_others(asked: Asked, found: list[CountedPhrase], reading: Reading | None) -> bool:
    """Return whether what was read is one of several counts that all have nouns of their own, and none that asked."""
    read = _read(found, reading)
    if not read or any(one.is_outcome or one.said & asked.words for one in found):
        return False
    return len({one.behind for one in found}) > 1 and all(one.behind for one in found)


def _is_in_part(asked: Asked, found: list[CountedPhrase], reading: Reading | None) -> bool:
    """Return whether what was read is one of several parts of what was asked for, "3 trucks here, 2 there"."""
    read = _read(found, reading)
    others = [one for one in found if one not in read]
    if not read or any(one.is_outcome or not asked.things <= one.said for one in read):
        return False
    states = [bool(one.said & STATES) for one in others]
    is_whole = all(states) and not read[0].said & STATES and sum(one.value for one in others) <= read[0].value
    return not is_whole and any(asked.things <= _cover(asked, one) and not one.is_part for one in others)


def _lacks(asked: Asked, found: list[CountedPhrase], best: CountedPhrase, reading: Reading | None) -> bool:
    read = _read(found, reading)
    return bool(read) and all(
        bool(_cover(asked, best) - _cover(asked, one)) and bool(one.said & asked.words) and not one.is_outcome
        for one in read
    )


def _read(found: list[CountedPhrase], reading: Reading | None) -> list[CountedPhrase]:
    if reading is None or reading.status != "parsed":
        return []
    return [one for one in found if one.value == reading.value]
