"""Choose, of several counts in a reply, the one whose words cover best what the question asks for (decision 0010).

One wins where all others are excused: each counts another thing, the whole of which it is a part, or the same thing in
another state. Else the reply is read without its question.
"""

import re
from collections.abc import Sequence

from gigavqa.answers.abstention import find_abstention
from gigavqa.answers.asked import Asked
from gigavqa.answers.contraries import STATES
from gigavqa.answers.count_clauses import zero_in
from gigavqa.answers.counted_phrases import CountedPhrase, counted_phrases
from gigavqa.answers.counting import counts_in
from gigavqa.answers.excused_counts import cover, is_excused
from gigavqa.answers.lexicon import Words, lazy_pattern
from gigavqa.answers.numerals import NUMBER, value_of
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
    if sum(map(len, in_order)) > _LONGEST or any(map(find_abstention, in_order)):
        return reading
    if not asked.is_of_one_count:
        return _of_lack(asked, in_order, reading) if asked.is_denied and asked.counts_things else reading
    found = None if any(_UNWEIGHED.search(one.lower()) for one in in_order) else counted_phrases(asked, in_order)
    return reading if not found or len(found) > _MOST else _told_by(asked, in_order, found, reading)


def _told_by(
    asked: Asked, in_order: Sequence[str], found: list[CountedPhrase], reading: Reading | None
) -> Reading | None:
    """Return the total of some counts, or the best one where it is the only one of what was asked for."""
    if (total := _total_of(asked, found)) is not None:
        return parsed(total)
    best = None if _is_but_whole(asked, found) else _best(asked, found) or _sum_of(asked, found)
    if best is None:
        return _unless_unclear(asked, in_order, found, reading)
    return _weighed(asked, in_order, found, best, reading)


def _total_of(asked: Asked, found: list[CountedPhrase]) -> float | None:
    """Return the outcome that all others come to, where each is of all that was asked for, "6, 6, 12 in total"."""
    outcomes = [one for one in found if one.is_outcome and one.value * 2 == sum(other.value for other in found)]
    parts = [one for one in found if one not in outcomes]
    if len(outcomes) != 1 or len(parts) < 2 or (outcomes[0].behind and not outcomes[0].behind & asked.words):
        return None
    covered = {cover(asked, one) for one in parts}
    return outcomes[0].value if len(covered) == 1 and asked.things <= covered.pop() else None


def _unless_unclear(
    asked: Asked, in_order: Sequence[str], found: list[CountedPhrase], reading: Reading | None
) -> Reading | None:
    """Return what was read, where no count is the best; ambiguous where it is plainly none of what was asked for."""
    is_one = sum(bool(counts_in(sentence)) for sentence in in_order) == 1 and not _contrasts(in_order)
    unclear = (_is_contrary, _is_of_others, _is_rest_of_denied, *([_is_in_part] if is_one else []))
    return AMBIGUOUS if any(one(asked, found, reading) for one in unclear) else reading


def _weighed(
    asked: Asked, in_order: Sequence[str], found: list[CountedPhrase], best: CountedPhrase, reading: Reading | None
) -> Reading | None:
    """Return the best count, where others are excused; else what was read, or ambiguous where that is another one."""
    rivals = [one for one in found if one.value != best.value and not _is_sum(asked, one, best, found)]
    bold = {value_of(one[1]) for sentence in in_order for one in _BOLD.finditer(sentence)}
    if (len(bold) != 1 or best.value in bold) and all(is_excused(asked, one, best) for one in rivals):
        return parsed(best.value)
    if reading is not None and reading.value == best.value:
        return parsed(best.value)
    return AMBIGUOUS if _lacks(asked, found, best, reading) or _differs(found, best, reading) else reading


def _of_lack(asked: Asked, in_order: Sequence[str], reading: Reading | None) -> Reading | None:
    """Return the one count of those of which something is denied, where that is asked for, "12 wear one, 3 do not"."""
    found = counted_phrases(asked, in_order) or []
    values = {one.value for one in found}
    lacking = {one.value for one in found if one.is_denied and one.value}
    if len(values) < 2 or any(one.is_outcome and one.value not in lacking and not one.behind for one in found):
        return reading
    return parsed(lacking.pop()) if len(lacking) == 1 else AMBIGUOUS


def _is_but_whole(asked: Asked, found: list[CountedPhrase]) -> bool:
    """Return whether a text counts parts of a whole by other words than the question has: "of 22, 17 are blurred"."""
    most = [one for one in found if one.is_whole and asked.things <= cover(asked, one)]
    parts = [one for one in found if one.is_part]
    told = asked.words - asked.things - asked.places
    return any(told - cover(asked, one) for one in most) and not any(one.said & told for one in parts)


def _is_sum(asked: Asked, one: CountedPhrase, best: CountedPhrase, found: list[CountedPhrase]) -> bool:
    """Return whether a count is the sum of the best one and others, or one of those that the best one is the sum of."""
    total = sum(other.value for other in found)
    if best.value * 2 == total:
        return not one.said & asked.things
    return one.is_outcome and one.value * 2 == total and not one.said & asked.words


def compete(asked: Asked, text: str, reading: Reading | None) -> bool:
    """Return whether a text holds several counts, a count and a denial, or one of what may not have been asked for."""
    if reading is None or reading.status != "parsed" or asked.contraries:
        return True
    if zero_in(asked.language).search(text.lower()):
        return True
    return len({value_of(one[0]) for sentence in sentences_of(text) for one in counts_in(sentence)}) > 1


def _contrasts(in_order: Sequence[str]) -> bool:
    return any(_CONTRAST.search(sentence.lower()) for sentence in in_order)


_CONTRAST = Words("contrast", "conclusion")


def _best(asked: Asked, found: list[CountedPhrase]) -> CountedPhrase | None:
    """Return the count that covers the noun phrase that was asked for, and most of the question; None of several."""
    named = [one for one in found if asked.things <= cover(asked, one) and not one.is_denied]
    named = [one for one in named if not one.is_outcome or one.said & asked.words]
    named = named or _told_by_place(asked, found)
    named = [one for one in named if not asked.is_contrary_to(one.said)] or named
    most = max((len(cover(asked, one)) for one in named), default=0)
    best = [one for one in named if len(cover(asked, one)) == most]
    best = [one for one in best if not one.is_part] or best
    if len({one.value for one in best}) != 1 or asked.is_contrary_to(best[0].said):
        return None
    covered = cover(asked, best[0])
    if any(one.is_denied and cover(asked, one) - covered for one in found):
        return None
    is_whole = not asked.told_apart <= covered
    return None if is_whole and any(asked.is_contrary_to(one.said) for one in found) else best[0]


def _sum_of(asked: Asked, found: list[CountedPhrase]) -> CountedPhrase | None:
    """Return the count of what was asked for that several others without a noun of it come to, "9: 5 here, 4 there"."""
    total = sum(one.value for one in found) / 2
    whole = [one for one in found if one.value == total and asked.things <= one.said and not one.is_denied]
    others = [one for one in found if one not in whole]
    if len(whole) != 1 or len(others) < 2:
        return None
    if not all(one.is_row or one.sentence == whole[0].sentence for one in others):
        return None
    if any(one.said & asked.things for one in others):
        return None
    return whole[0] if not asked.told_apart - cover(asked, whole[0]) else None


def _told_by_place(asked: Asked, found: list[CountedPhrase]) -> list[CountedPhrase]:
    """Return the count that alone stands where was asked, "upper left: 5", where none names a thing."""
    told_apart = asked.told_apart & frozenset().union(*(one.said for one in found))
    if not told_apart or any(one.said & asked.things for one in found):
        return []
    place = [one for one in found if told_apart <= one.said]
    return place if all(one in place or asked.is_contrary_to(one.said) for one in found) else []


def _is_contrary(asked: Asked, found: list[CountedPhrase], reading: Reading | None) -> bool:
    """Return whether what was read is plainly of something else, "14 blue cars" for red ones, or a whole of that."""
    if not any(asked.is_contrary_to(one.said) for one in found):
        return False
    read = _read(found, reading)
    return not any(asked.told_apart <= cover(asked, one) for one in read)


def _is_rest_of_denied(asked: Asked, found: list[CountedPhrase], reading: Reading | None) -> bool:
    """Return whether what was asked for is denied of a part of what was read, "12 people; 3 without masks"."""
    read = _read(found, reading)
    denied = [one for one in found if one.is_denied]
    return bool(read) and any(cover(asked, one) - cover(asked, other) for one in denied for other in read)


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
    parts = sum(one.value for one in others)
    is_whole = parts == read[0].value or (all(states) and not read[0].said & STATES and parts < read[0].value)
    return not is_whole and any(asked.things <= cover(asked, one) and not one.is_part for one in others)


def _lacks(asked: Asked, found: list[CountedPhrase], best: CountedPhrase, reading: Reading | None) -> bool:
    """Return whether what was read has words of its own, and lacks some that were asked for and the best count has."""
    read = _read(found, reading)
    return bool(read) and all(
        bool(cover(asked, best) - cover(asked, one))
        and bool(one.said & asked.words or one.behind or one.before or one.is_whole)
        and not (one.is_outcome and one.said & asked.things)
        for one in read
    )


def _differs(found: list[CountedPhrase], best: CountedPhrase, reading: Reading | None) -> bool:
    """Return whether what was read is another count than the best one, and no outcome of a text."""
    read = _read(found, reading)
    return bool(read) and best not in read and not any(one.is_outcome for one in read)


def _read(found: list[CountedPhrase], reading: Reading | None) -> list[CountedPhrase]:
    if reading is None or reading.status != "parsed":
        return []
    return [one for one in found if one.value == reading.value]
