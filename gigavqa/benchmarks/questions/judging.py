"""Judges a reply to a question by rules alone; an open question's reply is kept for a reader to judge.

An option's own words count as its letter, where no other option is meant: whoever asks questions of their own wants the
answer, and not the form. The parse status says how an answer was found.
"""

import re
from math import isclose
from typing import NamedTuple

from gigavqa.answers.abstention import abstains, commits
from gigavqa.answers.answer_space import key_of
from gigavqa.answers.asked import Asked, asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.final import parse_answer
from gigavqa.answers.known_words import asks_for_lack
from gigavqa.answers.letter_sets import parse_letters
from gigavqa.answers.named_letters import is_meant, without_lettered_names
from gigavqa.answers.normalization import json_value, passages, said
from gigavqa.answers.numbers import read_number
from gigavqa.answers.option_numbers import numbers_of
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.answers.readings import Reading
from gigavqa.answers.single_options import parse_option
from gigavqa.answers.text import LONGEST, is_ended, lines_backwards, thoughts_apart
from gigavqa.answers.unanswered import ends_unanswered
from gigavqa.benchmarks.questions.samples import LETTERS_JOINT, Question
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import ABSTAINED, Verdict

JUDGE_VERSION = "questions/11"
RECORDED = "recorded"
"""Parse status of a reply to an open question: it was written down, and nothing of it was read."""
_ARTICLE = re.compile(r"\b(?:an?|the)\s+")
_TOLERANCE = 1e-9
_IN_PASSING = ("last", "described")
"""Rules by which a letter is read that a sentence but names."""
_ValueAndStatus = tuple[str | None, str]


class _ChoiceReading(NamedTuple):
    """The letter of an option, how it was found, and by which rule."""

    value: str | None
    status: str
    rule: str = ""


class QuestionDetails(NamedTuple):
    """The details of a reply to a choice: the letter that was answered."""

    letter: str | None


class QuestionJudge:
    """One question, made ready to judge any number of replies to it."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._texts = {phrase_key(answer) for answer in question.answers}
        options = question.options or {}
        self._asked = asked_of(question.question)
        self._question_words = self._asked or Asked(question.question)
        self._lacks = asks_for_lack(self._question_words)
        self._counts = numbers_of(tuple(options.items()))

    def __call__(self, reply: Reply, frame: BoxFrame) -> Verdict[QuestionDetails]:
        """Judge a reply; one without a text outgrew its context before its answer, or was filtered."""
        is_choice, rule = self._question.kind == "choice", ""
        if reply.text is None:
            value, status = None, str(reply.absence)
        elif is_choice:
            value, status, rule = self._read_choice(reply.text, reply.ends_amid)
        else:
            value, status = self._read(reply.text, reply.ends_amid)
        score = float(value is not None and self.is_right(value)) if self._question.scored else None
        return Verdict(value, status, score, QuestionDetails(value) if is_choice else None, rule=rule)

    def _read(self, text: str, cut_off: bool) -> _ValueAndStatus:
        if cut_off and self._question.kind in ("choices", "text") and not is_ended(text):
            return None, "unfinished"
        if self._question.kind == "choices":
            found = parse_letters(text, self._question.options or {}, self._question_words)
            return LETTERS_JOINT.join(found.letters) or None, found.status
        if self._question.kind == "open":
            return _read_open_answer(text)
        told, silence = said(text)
        if silence:
            return None, silence
        if self._question.kind == "text":
            return read_phrase(told)
        value = json_value(told)
        is_truth = self._question.kind == "yes_no"
        reading = (
            read_boolean(value, cut_off=cut_off, asked=self._asked) if is_truth else self._read_number(value, cut_off)
        )
        return _written_value(reading, told)

    def _read_choice(self, text: str, cut_off: bool) -> _ChoiceReading:
        """Read the letter that a text names, else the option that all of its sentences say: a set of one."""
        options = self._question.options or {}
        found = parse_answer(text, options, cut_off=cut_off)
        if found.status in ("ambiguous", "last"):
            found = parse_answer(without_lettered_names(text, options), options, cut_off=cut_off)
        is_weak = self._lacks and found.status == "last" and found.rule not in ("concluded", "opening")
        if found.status not in ("none", "option_text", ABSTAINED) and not is_weak:
            return self._named(text, found)
        if cut_off and not is_ended(text):
            return _ChoiceReading(None, "unfinished")
        if self._counts:
            counted = read_number(_without_percent(json_value(said(text).text)), cut_off=cut_off, asked=self._asked)
            letter = self._counts.get(counted.value) if counted.status == "parsed" else None
            return _ChoiceReading(letter if letter == found.quoted else None, found.status, found.rule)
        told = parse_option(text, options, self._question_words, found.quoted)
        if told.letters:
            return _ChoiceReading(told.letters[0], "option_text", "option text")
        return _ChoiceReading(None, told.status)

    def _named(self, text: str, found: ParsedAnswer) -> _ChoiceReading:
        """Read the letter that was found, where it is meant, and the text does not end by leaving it unanswered."""
        asked = self._question_words
        if found.value and ends_unanswered(text, asked, asked.language):
            return _ChoiceReading(None, ABSTAINED)
        is_passing = found.value is not None and found.rule in _IN_PASSING
        if is_passing and not is_meant(text, str(found.value), self._question.options or {}, asked):
            return _ChoiceReading(None, "ambiguous")
        return _ChoiceReading(found.value, found.status, found.rule)

    def _read_number(self, value: object, cut_off: bool) -> Reading:
        whole = self._question.scored and float(self._question.answers[0]).is_integer()
        return read_number(_without_percent(value), whole=whole, cut_off=cut_off, asked=self._asked)

    def is_right(self, value: str) -> bool:
        """Return whether an answer, as it was read, is a right one."""
        question = self._question
        if question.kind == "text":
            return phrase_key(value) in self._texts
        if question.kind != "number":
            return value == question.truth
        answer, truth = float(value), float(question.answers[0])
        allowed = max(question.tolerance, question.relative_tolerance * abs(truth))
        return abs(answer - truth) <= allowed or isclose(answer, truth, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _read_open_answer(raw: str) -> _ValueAndStatus:
    """Return an answer as it was written, whatever its length; of one that is short enough to be read, what it says."""
    _, behind = thoughts_apart(raw)
    if behind is None:
        return None, "unfinished"
    told = behind.strip() if len(behind) > LONGEST else said(raw).text.strip()
    return told or None, RECORDED if told else "none"


def phrase_key(text: str) -> str:
    """Return the form in which short answers are compared: without case, articles, markup and outer punctuation."""
    return " ".join(_ARTICLE.sub("", key_of(text)).split())


def read_phrase(text: str) -> _ValueAndStatus:
    """Read a short answer: the line behind the last announcement, else the last line of all."""
    for passage in passages(text):
        announced = passage is not text
        lines = passage.splitlines() if announced else list(lines_backwards(passage))
        if line := next((line.strip() for line in lines if phrase_key(line)), ""):
            if abstains(line) and not commits(line):
                return None, ABSTAINED
            return line, "marker" if announced else "last"
    return None, "none"


def _without_percent(value: object) -> object:
    return re.sub(r"(?<!\s)\s*+[%％]", "", value) if isinstance(value, str) else value


def _written_value(reading: Reading, text: str) -> _ValueAndStatus:
    if reading.status == "parsed":
        value = reading.value
        return (("yes" if value else "no") if isinstance(value, bool) else f"{value:.15g}"), reading.status
    return None, ABSTAINED if abstains(text) and not commits(text) else reading.status
