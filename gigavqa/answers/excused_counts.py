"""Tell which counts of a text are none of what a question counts, beside the one that fits it best.

Each is of another thing, the whole of which that one is a part, or the same thing in another state.
"""

from gigavqa.answers.asked import Asked
from gigavqa.answers.counted_phrases import CountedPhrase


def cover(asked: Asked, one: CountedPhrase) -> frozenset[str]:
    return (one.said | one.inherited) & asked.words


def is_excused(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> bool:
    """Return whether a count is none of what was asked for, beside the one that fits best."""
    covered, needed = cover(asked, one), cover(asked, best)
    lacking = needed - covered
    if one.is_denied and (needed <= covered or not one.said):
        return True
    if one.is_part and not best.is_part:
        return one.value <= best.value and bool(one.said - asked.words)
    if not lacking or (one.is_outcome and not one.said & asked.words):
        return False
    if asked.is_contrary_to(one.said) or (one.value >= best.value and _is_whole_of(asked, one, best)):
        return True
    return _is_in_other_state(asked, one, best) or _is_other_thing(asked, one, best)


def _is_whole_of(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> bool:
    """Return whether a count is the whole of which the best one is a part, "14 cars, 5 of which are red"."""
    if one.is_whole and not best.is_whole:
        return True
    if best.is_part and not one.is_part and asked.told_apart & cover(asked, best) - cover(asked, one):
        return True
    return bool(one.said & asked.things) and cover(asked, one) < cover(asked, best)


def _is_in_other_state(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> bool:
    """Return whether a count is of the same thing and says something else of it, "4 stand" beside "5 sit"."""
    if not one.inherited or not (one.said | one.rest) - asked.words:
        return False
    if best.inherited and not one.said & asked.words:
        return True
    covered, needed = cover(asked, one), cover(asked, best)
    is_whole_question = asked.words <= needed and not (needed - covered) & asked.things
    return is_whole_question and not (best.said & best.rest) - asked.words


def _is_other_thing(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> bool:
    """Return whether the noun of a count is another than what was asked for.

    A single word may tell of the same thing, "3 boats lie there and 2 sail", where the best count has other words, too.
    """
    if one.is_beside and not best.is_beside and one.behind and not one.behind & asked.words:
        return True
    noun, is_behind = _noun_beside(asked, one, best)
    other = noun - asked.words
    if not other:
        return bool(noun) and not noun & asked.things
    if noun & (asked.words - asked.things):
        return False
    if one.sentence != best.sentence or (one.is_row and best.is_row) or not best.value:
        return True
    more = (best.rest if is_behind else best.said) - asked.words
    return (len(noun) > 1 and not noun & asked.words) or not more


def _noun_beside(asked: Asked, one: CountedPhrase, best: CountedPhrase) -> tuple[frozenset[str], bool]:
    """Return the noun of a count where the best one has its own, and whether that is not before the number."""
    if not best.value:
        return one.behind or one.before, True
    if best.behind & asked.things:
        return one.behind, True
    if best.before & asked.things:
        return one.before, False
    return one.behind or one.before or one.rest, True
