"""Answers that stand first: an option on a line of its own, or one alone before its reasons, "It must be B: …"."""

import re

from gigavqa.answers.final_sentences import from_the_end
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.listed import listings, option_line
from gigavqa.answers.negation import Mention
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.answers.readers import AnswerReader
from gigavqa.answers.text import sentences
from gigavqa.answers.withdrawals import is_ascribed, is_conditional, is_doubted, is_first_thought, is_hypothesis

_LONGEST = 80
"""Characters before a letter that an opening may have."""
_CONCLUDES = lazy_pattern(
    rf"(?:^|[^.:;!?,。：；！？，]{{0,{_LONGEST}}}?)"
    rf"{words('first_conclusion', 'copula', 'preference', 'announcement_direct', 'right_is')}"
    rf"\s*(?:{words('filler')}\s*){{0,4}}|(?:{words('filler')}\s*){{1,2}}"
)
_MARKUP = " \t*_`\"'“‘(["
_STOP = lazy_pattern(
    rf"[)\]*_`\"'”’]{{0,6}}\s{{0,2}}(?:です|である|だ|입니다|이다|है|sein\b)?"
    rf"(?:(?P<stop>[.。।:：;；]|\s[–—-](?=\s)|[–—])|[,，、،]?\s{{0,2}}{words('cause')})(?P<rest>.*)",
    re.DOTALL,
)
_ALTERNATIVE = lazy_pattern(rf"\W*{words('alternative')}")
_ASKED = Words("condition_behind", "question_of_either")
_LATER = frozenset({"affirmed", "concluded", "verdicts"})
"""Rules by which what stands later takes an opening back."""


def opening_answer(text: str, reader: AnswerReader) -> ParsedAnswer | None:
    """Return the option that a text opens with, before it explains; None where what follows says otherwise."""
    if not reader.options:
        return None
    opening, _, rest = text.partition("\n")
    letter = option_line(opening, reader.options)
    if letter and not any(option_line(line, reader.options) for line in rest.splitlines()):
        return ParsedAnswer(letter, "last", rule="opening")
    mention = next(iter(reader.mentions(opening[: 2 * _LONGEST])), None)
    if (
        mention is None
        or mention.end > _LONGEST
        or not _concludes(text, mention, reader)
        or _is_taken_back(text, str(mention.value), reader)
    ):
        return None
    return ParsedAnswer(str(mention.value), "last", rule="opening")


def _concludes(text: str, mention: Mention, reader: AnswerReader) -> bool:
    """Return whether a text's first letter stands alone up to a stop or a word of cause, and is no label of a list."""
    if text.count('"', 0, mention.start) % 2:
        return False
    before, found = text[: mention.start].lower().strip(_MARKUP), _STOP.match(text, mention.end)
    if found is None or (before and not _CONCLUDES.fullmatch(before)) or _ALTERNATIVE.match(found["rest"].lower()):
        return False
    if before and (is_first_thought(before) or is_hypothesis(before) or is_conditional(before) or is_ascribed(before)):
        return False
    return not is_doubted(before) and not _ASKED.search(before) and not _is_label(found, reader)


def _is_label(found: re.Match[str], reader: AnswerReader) -> bool:
    """Return whether other letters have the same stop behind them: labels of a list within lines, "A: … B: …"."""
    stop = (found["stop"] or "").strip()
    if not stop:
        return False
    start = r"(?:^|[.;!?。；！？।؟۔]\s{0,2}|\n[\s*_-]{0,4})" if stop in ".。।" else r"(?<![^\W_])"
    label = rf"{start}[(\[*_]{{0,4}}[{''.join(reader.options)}][)\]*_`]{{0,4}}\s?{re.escape(stop)}\s"
    return bool(re.search(label, found["rest"]))


def _is_taken_back(text: str, letter: str, reader: AnswerReader) -> bool:
    """Return whether a text denies its opening, settles on another later, or goes through the options in a list."""
    lines = text.splitlines()
    if 0 in listings(text, lines, reader.options):
        return True
    last = from_the_end(text, reader)
    if last and last.value != letter and (last.rule in _LATER or last.status == "abstained"):
        return True
    return any(letter in reader.within(sentence).denied for line in lines for sentence in sentences(line))
