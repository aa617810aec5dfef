"""Read a text that announces nothing from its end: the last sentence that does, or the last list."""

import re
from collections.abc import Hashable, Iterator

from gigavqa.answers.abstention import abstains, commits, find_abstention
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.listed import OptionList, listings
from gigavqa.answers.negation import ConclusionRule, Mention, SentenceConclusion, is_hedged
from gigavqa.answers.parsed_answers import AMBIGUOUS_ANSWER, ParsedAnswer, single
from gigavqa.answers.readers import AnswerReader, quoted_option
from gigavqa.answers.text import plain, sentences
from gigavqa.answers.withdrawals import (
    holds_if,
    is_ascribed,
    is_conditional,
    is_denied_at_once,
    is_doubted,
    is_hypothesis,
    is_unreal,
)


def from_the_end(text: str, reader: AnswerReader) -> ParsedAnswer | None:
    """Return what the last sentence that settles on anything says, or the last list.

    One that only speaks of a value in passing gives way to one before it that affirms another, or concludes with it;
    where others are but named before it, nothing is settled. What is denied later is none.
    """
    passing: ParsedAnswer | None = None
    quoted: ParsedAnswer | None = None
    denied: set[Hashable] = set()
    unsure = is_denied = False
    for piece in _backwards(text, reader):
        if isinstance(piece, OptionList):
            if quoted or piece.letter or piece.ambiguous:
                return _from_list(piece) if quoted is None or quoted.quoted == piece.letter else quoted
            unsure = unsure or passing is None
            continue
        said = reader.within(piece)
        parsed = _from_sentence(piece, said, reader)
        was_denied, is_denied = is_denied, is_denied_at_once(piece)
        if said.values and (was_denied or _is_of_others(piece, said, reader)):
            continue
        if quoted:  # an option's words behind its letter, "It is B. Four."
            if parsed and parsed.quoted not in (None, quoted.quoted):
                quoted = None  # what several options are about is described, and none is chosen
                continue
            return parsed if parsed and parsed.value in (quoted.quoted, _affirmed(parsed, said)) else quoted
        if parsed and parsed.quoted and passing is None:
            quoted = None if is_conditional(piece) else parsed
        elif not _abstains(parsed) and (
            _holds_on_a_condition(piece, said, reader) or (said.values and _is_question(piece))
        ):
            unsure = unsure or bool(said.values and passing is None)
        elif parsed is None or parsed.value in denied:
            unsure = unsure or parsed is not None
        elif _settles(piece, parsed, said.rule, passing) and not _is_weak(piece, parsed, said):
            return parsed
        else:
            passing = passing or parsed
            unsure = unsure or parsed.value not in (None, passing.value)
        denied |= said.denied
    return quoted or (AMBIGUOUS_ANSWER if unsure else passing)


_STRONG = frozenset({"affirmed", "concluded", "only left"})


_NAMES_OPTION = lazy_pattern(rf"{words('copula')}\s+{words('option_noun')}\W{{0,4}}\w\W{{0,4}}$")


def _settles(sentence: str, parsed: ParsedAnswer, rule: ConclusionRule, passing: ParsedAnswer | None) -> bool:
    """Return whether a sentence settles the answer.

    By a strong rule; or as the last one, unless it but speaks of a value; or as the last before several are spoken
    of, where it says that something is an option, "This interval is option C. Options A and B cover the rest.".
    """
    if parsed.value is not None and rule == "last" and passing is not None and passing.value is None:
        return bool(_NAMES_OPTION.search(sentence.lower()))
    if parsed.value is None or rule == "last":
        return passing is None
    return rule in _STRONG


_SHORTEST_CONDITION = 8
"""Characters of a sentence that can tell a condition."""


def _holds_on_a_condition(sentence: str, said: SentenceConclusion, reader: AnswerReader) -> bool:
    """Whether what a sentence settles on would be so on a condition, or the sentence as a whole where it names none."""
    if len(sentence) < _SHORTEST_CONDITION:
        return False
    meant = _meant(sentence, said, reader)
    at = meant.start if meant else 0
    before = sentence[:at]
    if meant and (holds_if(sentence[meant.end :]) or (before and is_doubted(before))):
        return True
    return is_conditional(before or sentence) or is_unreal(before or sentence, sentence[at:])


def _meant(sentence: str, said: SentenceConclusion, reader: AnswerReader) -> Mention | None:
    """Return where a sentence names last what it settles on; None where it settles on nothing."""
    return next((one for one in reversed(reader.mentions(sentence)) if one.value in said.values), None)


def _affirmed(parsed: ParsedAnswer, said: SentenceConclusion) -> str | None:
    return parsed.value if said.rule == "affirmed" else None


def _abstains(parsed: ParsedAnswer | None) -> bool:
    return parsed is not None and parsed.status == "abstained"


def _is_weak(sentence: str, parsed: ParsedAnswer, said: SentenceConclusion) -> bool:
    """Return whether a sentence gives way to one before it that settles.

    It names several values, or says what only may be.
    """
    if parsed.status == "ambiguous":
        return said.rule not in _STRONG
    return parsed.value is not None and said.rule == "last" and is_hedged(sentence)


def _is_of_others(sentence: str, said: SentenceConclusion, reader: AnswerReader) -> bool:
    """Return whether a sentence names nothing but what another says in it."""
    meant = _meant(sentence, said, reader) if len(said.values) == 1 else None
    if meant is None or meant.start < _LEAST_BEFORE:
        return False
    if is_hypothesis(_COMMA.split(sentence[: meant.start])[-1]):
        return True
    first = reader.mentions(sentence)[0]
    if said.rule in _STRONG and (said.rule != "only left" or said.denied):
        return False
    before = sentence[: first.start]
    return is_ascribed(before, sentence[first.end :]) or (first.start < meant.start and is_hypothesis(before))


_LEAST_BEFORE = 4
"""Characters before a value that can tell whose it is."""
_COMMA = re.compile(r"[,，;；、،:：]")


def _from_list(listing: OptionList) -> ParsedAnswer:
    return ParsedAnswer(listing.letter, "last", rule="verdicts") if listing.letter else AMBIGUOUS_ANSWER


def _is_question(sentence: str) -> bool:
    """Return whether a sentence asks, "Is it B?"; a letter alone with a mark of doubt, "B?", answers."""
    asked = sentence.rstrip(" *_`")
    return asked.endswith(("?", "؟")) and len(plain(asked)) > 1


def _backwards(text: str, reader: AnswerReader) -> Iterator[str | OptionList]:
    """Yield the sentences of a text from its end, and in place of those of a list, the list."""
    lines = text.splitlines()
    lists = listings(text, lines, reader.options) if reader.options else {}
    at = len(lines)
    while at > 0:
        at -= 1
        if at in lists:
            yield lists[at]
            at = lists[at].first
        else:
            yield from reversed(sentences(lines[at]))


def _from_sentence(sentence: str, said: SentenceConclusion, reader: AnswerReader) -> ParsedAnswer | None:
    values = frozenset(map(str, said.values))
    if len(values) > 1 and _is_aside(sentence):
        return None
    refused = abstains(sentence) and not (len(values) == 1 and _stands(sentence, said, reader))
    if values and (not refused or quoted_option(sentence, reader.options)):
        return single(values, "last", said.rule)
    if not values and not said.denied and (quoted := quoted_option(sentence, reader.options)):
        return ParsedAnswer(None, "option_text", quoted, "option text")
    return ParsedAnswer(None, "abstained") if refused else None


def _stands(sentence: str, said: SentenceConclusion, reader: AnswerReader) -> bool:
    """Return whether a value stands in a sentence that abstains: settled on, and no word of the abstention."""
    if commits(sentence):
        return True
    unknown = find_abstention(sentence)
    of_it = [unknown.start() <= one.start < unknown.end() for one in reader.mentions(sentence)] if unknown else []
    return said.rule in _STRONG and not (of_it and all(of_it))


_ASIDE = re.compile(r"[(（][^()（）]*[)）]")


def _is_aside(sentence: str) -> bool:
    return bool(_ASIDE.fullmatch(sentence.strip(" .。")))
