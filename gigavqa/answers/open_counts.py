"""Tell whether a text that announces no number leaves open how many there are of what was asked for (decision 0010).

A count that stands in a text is credited only where all that the text counts beside it is accounted for: another thing,
a part of it, what it is worked out of. What comes in addition, what is so of each, and rows of things leave it open.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from gigavqa.answers.abstention import find_abstention
from gigavqa.answers.added_counts import Count, clauses_in, goes_on, holds, is_other, takes_back, values_in
from gigavqa.answers.asked import Asked, language_of, words_in
from gigavqa.answers.content_words import named, stem_of, tokens
from gigavqa.answers.counted_phrases import CountedPhrase, counted_phrases
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.numerals import NUMBER, value_of
from gigavqa.answers.text import is_ended, sentences_of
from gigavqa.answers.withdrawals import is_ascribed

_LONGEST = 1_000
"""Characters of a text that is looked at; a longer one works its answer out."""
_TOTAL = Words("total")
_OUTCOME = Words("conclusion", "announcement", "retraction", "remainder", "right_is", "second_look")
_EQUATION = re.compile("[=≈＝]")
_UNBROKEN = frozenset({"zh", "ja", "ko"})
"""Languages that write no spaces, or verbs last: their last word tells nothing of what was to follow."""


def leaves_open(asked: Asked, text: str, value: float) -> bool:
    """Return whether a text says more of how many there are than the number that was read of it."""
    if len(text) > _LONGEST:
        return False
    language = language_of(text.lower(), asked.language, margin=2)
    in_order = sentences_of(text)
    told = [at for at, one in enumerate(in_order) if value in values_in(one)]
    if not told:
        return False
    is_outcome = _is_outcome(in_order[told[-1]], value)
    count = Count(value, language, in_order[told[-1] :] if is_outcome else in_order, is_outcome)
    if (
        _breaks_off(text, language)
        or _is_left_out(count)
        or _is_in_a_row_of_totals(count)
        or _is_of_each(asked, count)
        or _is_of_groups(asked, count)
    ):
        return True
    return not is_outcome and _is_counted_on(asked, count)


def _is_outcome(sentence: str, value: float) -> bool:
    """Return whether a sentence says of a value that it is the outcome: beside a total, or behind a conclusion."""
    lowered = sentence.lower()
    if _TOTAL.search(lowered):
        return True
    behind = [found.end() for words in (_OUTCOME, _EQUATION) for found in words.finditer(lowered)]
    return any(value in values_in(sentence[end:]) for end in behind)


def _breaks_off(text: str, language: str) -> bool:
    """Return whether a text ends with a word that another must follow, "5 people on the left and"."""
    if is_ended(text) or language in _UNBROKEN:
        return False
    last = text.lower().rsplit(None, 1)[-1]
    return last.endswith((",", "(")) or last in _joints(language)


@lru_cache(maxsize=16)
def _joints(language: str) -> frozenset[str]:
    return frozenset(
        phrase for name in ("addition", "article", "conclusion") for phrase in phrases(f"{name}.{language}")
    )


def _is_left_out(count: Count) -> bool:
    """Return whether all sentences with the value say that it is as many that are not meant, "all but 3"."""
    return not count.is_outcome and all(
        any(value_of(found["number"]) == count.value for found in _ALL_BUT.finditer(sentence.lower()))
        for sentence in count.sentences
        if count.value in values_in(sentence)
    )


_ALL_BUT = Words("all_but", pattern=rf"{{}}\s?(?P<number>(?i:{NUMBER.pattern}))")


def _is_in_a_row_of_totals(count: Count) -> bool:
    """Return whether the value is one of several in a table's last row, of which each is the total of a column."""
    return count.is_outcome and any(
        sentence.count("|") > _LEAST_BARS and _TOTAL.search(sentence.lower()) and len(set(values_in(sentence))) > 1
        for sentence in count.sentences
    )


_LEAST_BARS = 2
"""Bars of a row that has more than a label and a number, outer ones left out."""


def is_given_up(text: str, value: float) -> bool:
    """Return whether a sentence behind the last with a number says that it cannot be told, and commits to none."""
    behind: list[str] = []
    for sentence in reversed(sentences_of(text)):
        if value in values_in(sentence):
            return any(map(_gives_up, behind))
        behind.append(sentence)
    return False


def _gives_up(sentence: str) -> bool:
    lowered = sentence.lower()
    if find_abstention(sentence) is None or _GUESSES.search(lowered):
        return False
    return bool(_REOPENS.search(lowered) or _QUANTITY.search(lowered))


_REOPENS, _QUANTITY, _GUESSES = Words("contrast", "reopening"), Words("quantity_asked"), Words("likely", "guess")


def _is_counted_on(asked: Asked, count: Count) -> bool:
    """Return whether a sentence counts more than the value of what was asked for."""
    found = counted_phrases(asked, count.sentences, count.language)
    if found is None:
        return not all(map(_OF_TWO.search, map(str.lower, count.sentences)))
    if not asked.find("count_asked") and _is_one_of_several(asked, count, found):
        return True
    read = [one for one in found if one.value == count.value]
    if (
        _is_ascribed(asked, count)
        or _is_supposed(count)
        or _is_repeated(asked, read)
        or _is_named_elsewhere(asked, count, read)
    ):
        return True
    return any(goes_on(asked, count, sentence, read) or takes_back(count, sentence) for sentence in count.sentences)


_OF_TWO = Words("range_opens")
"""Before two numbers of which a third is told, "the difference between 5 and 2 is 3"."""


def _is_one_of_several(asked: Asked, count: Count, found: Sequence[CountedPhrase]) -> bool:
    """Return whether several values are told, and the words of what is asked for stand not beside this one alone."""
    named_so = {one.value for one in found if asked.things <= one.said | one.inherited}
    return len({one.value for one in found}) > 1 and named_so != {count.value}


def _is_of_each(asked: Asked, count: Count) -> bool:
    """Return whether all clauses with the value say that it is so of each."""
    each = words_in(count.language, "of_each")
    if each.search(asked.text):
        return False
    holding = [clause for one in count.sentences for clause in clauses_in(count.language, one) if holds(clause, count)]
    return bool(holding) and all(_is_distributed(count, each, clause) for clause in holding)


def _is_ascribed(asked: Asked, count: Count) -> bool:
    """Return whether somebody else alone says the value, where it counts things and is not read in the picture."""
    if not asked.counts_things:
        return False
    before = [
        one[: number.start()]
        for one in count.sentences
        for number in NUMBER.finditer(one)
        if value_of(number[0]) == count.value
    ]
    return all(map(is_ascribed, before))


def _is_distributed(count: Count, each: Words, clause: str) -> bool:
    """Return whether a clause has a word of each, that is none of the value itself, "each of the 5 workers"."""
    found = each.search(clause)
    number = next(one for one in NUMBER.finditer(clause) if value_of(one[0]) == count.value)
    if found is None:
        return False
    return _OF_THE.fullmatch(clause, found.end(), number.start()) is None


_OF_THE = lazy_pattern(rf"\s?{words('part_of')}\s(?:\w+\s)?")


def _is_of_groups(asked: Asked, count: Count) -> bool:
    """Return whether groups of things are counted, or things in each of several groups, "2 rows of 6 tanks"."""
    if asked.words & _GROUPS:
        return False
    for sentence in count.sentences:
        for found in _GROUPED.finditer(lowered := sentence.lower()):
            is_of_value = value_of(found[1]) == count.value
            is_behind = count.value in values_in(lowered[: found.start()]) and _PLACE.search(lowered[: found.start()])
            if is_of_value or not (count.is_outcome or is_behind):
                return True
    return False


_PLACE = Words("place_before", pattern=r"{}\s$")
_GROUPS = frozenset(map(stem_of, phrases("group_noun")))
_GROUPED = Words("group_noun", pattern=rf"((?i:{NUMBER.pattern}))\s?{{}}")


def _is_supposed(count: Count) -> bool:
    """Return whether all clauses with the value tell only what would be."""
    holding = [clause for one in count.sentences for clause in clauses_in(count.language, one) if holds(clause, count)]
    return bool(holding) and all(_UNREAL.search(clause) for clause in holding)


_UNREAL = Words("unreal")


def _is_named_elsewhere(asked: Asked, count: Count, read: Sequence[CountedPhrase]) -> bool:
    """Return whether the count is of another noun, and what was asked for stands beside it without a number.

    "Between the two jetties I see boats." Or only a share has what is asked: "40 cells; half are positive."
    """
    if count.language != asked.language or not read:
        return False
    if all(is_other(asked, one) and not one.before & asked.things and asked.things <= one.said for one in read):
        return True
    told = asked.words - asked.things - asked.places
    share = words_in(count.language, "vague_share")
    return any(
        share.search(clause) and told & named(tokens(clause, count.language))
        for one in count.sentences
        for clause in clauses_in(count.language, one)
        if not holds(clause, count)
    )


def _is_repeated(asked: Asked, read: Sequence[CountedPhrase]) -> bool:
    """Return whether a sentence, or rows, count as many twice, "2 on the left and 2 on the right"."""
    own = [one for one in read if not is_other(asked, one) and not one.is_denied]
    return any(
        one is not other and (one.sentence == other.sentence or (one.is_row and other.is_row))
        for one in own
        for other in own
    )
