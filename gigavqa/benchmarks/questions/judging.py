"""Judges a reply to a question by rules alone; an open question's reply is kept for a reader to judge.

An option's own words count as its letter, where no other option is meant: whoever asks questions of their own wants the
answer, and not the form. The parse status says how an answer was found.
"""

import re
from collections.abc import Mapping
from math import isclose
from typing import NamedTuple

from gigavqa.answers.abstention import abstains, commits
from gigavqa.answers.answer_space import AnswerSpace, key_of
from gigavqa.answers.asked import Asked, asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.choices import read_choice
from gigavqa.answers.choices_asked import stated_choices
from gigavqa.answers.final import parse_answer
from gigavqa.answers.known_words import asks_for_lack
from gigavqa.answers.letter_sets import parse_letters
from gigavqa.answers.lexicon import Words
from gigavqa.answers.normalization import json_value, passages, said
from gigavqa.answers.numbers import read_number
from gigavqa.answers.option_forms import with_option_words
from gigavqa.answers.option_mentions import option_mentions
from gigavqa.answers.option_numbers import counted_option
from gigavqa.answers.other_things import without_others
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.answers.readings import Reading
from gigavqa.answers.text import LONGEST, is_ended, lines_backwards, sentences_of, thoughts_apart
from gigavqa.benchmarks.questions.samples import LETTERS_JOINT, Question
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import ABSTAINED, Verdict

JUDGE_VERSION = "questions/11"
RECORDED = "recorded"
"""Parse status of a reply to an open question: it was written down, and nothing of it was read."""
_ARTICLE = re.compile(r"\b(?:an?|the)\s+")
_TOLERANCE = 1e-9
_DIGIT, _ASKS = re.compile(r"\d"), ("?", "？", "؟")
_UNSETTLED = Words(
    "comparison", "possibility", "equal_chance", "undecided", "condition", "hypothesis", "speaker", "answerer",
    pattern=r"(?<!rather\s)(?<!other\s){}",
)  # fmt: skip
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
        self._options = AnswerSpace(list(options.values()), {}) if options else None
        self._asked, self._question_words = asked_of(question.question), Asked(question.question)
        self._language = self._question_words.language
        self._lacks = asks_for_lack(self._question_words)
        self._letters = {key_of(text): letter for letter, text in options.items()}

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
        found = parse_answer(text, self._question.options, cut_off=cut_off)
        if found.status in ("none", "option_text") and self._options:
            told = without_others(text, self._question_words, self._options.choices)
            found = found if told is text else parse_answer(told, self._question.options, cut_off=cut_off)
            text = told
        if self._lacks and found.status != "marker" and not cut_off:
            return self._lacking(text, found)
        if found.status == "none" and not cut_off:
            told = said(text).text
            if letter := self._letter_set_apart(told) or self._letter_stated(told) or self._letter_understood(text):
                return _ChoiceReading(letter, "option_text", "option text")
        if found.status == "option_text" and cut_off and self._options and len(self._options.named_in(text)) > 1:
            return _ChoiceReading(None, "unfinished")
        if found.status != "option_text" or self._options is None:
            return _ChoiceReading(found.value, found.status, found.rule)
        if _is_out_of_view(said(text).text, self._options):
            return _ChoiceReading(None, ABSTAINED)
        # Twice read, since the words of an option may also be denied: "it is no dog".
        letter = self._letter_told(said(text).text, self._question.options or {}, self._options)
        letter = letter or self._letter_understood(text)
        return _ChoiceReading(letter if letter == found.quoted else None, found.status, found.rule)

    def _lacking(self, text: str, found: ParsedAnswer) -> _ChoiceReading:
        """Read what is said to be missing, or untrue, where that is asked for; what is there is no answer."""
        if letter := self._letter_understood(text):
            return _ChoiceReading(letter, "option_text", "option text")
        if found.value is None or found.rule in ("concluded", "opening"):
            return _ChoiceReading(found.value, found.status, found.rule)
        return _ChoiceReading(None, "ambiguous")

    def _letter_understood(self, text: str) -> str | None:
        """Return the letter of the one option that a text affirms, where all of it is understood.

        None where an option begins with a number, which may count another thing.
        """
        options = self._question.options or {}
        if any(key[:1].isdigit() for key in self._letters):
            return None
        if not (self._lacks or any(map(str.isdigit, text)) or option_mentions(text, options, self._language)):
            return None
        found = parse_letters(text, options, self._question_words)
        return found.letters[0] if len(found.letters) == 1 else None

    def _letter_told(self, told: str, options: Mapping[str, str], space: AnswerSpace) -> str | None:
        """Return the letter of the option that a text tells by its words, a near form of them, or its number."""
        reading = read_choice(told, space, self._asked)
        if reading.status == "unparsable":
            reading = read_choice(with_option_words(told, options), space, self._asked)
        if reading.status == "unparsable":
            return counted_option(told, options)
        return self._letters.get(key_of(reading.value)) if reading.status == "parsed" else None

    def _letter_set_apart(self, told: str) -> str | None:
        """Return the letter of the one option that a text says, where all others that it names are denied beside it.

        None where an option tells a number, which may count another thing, or the text weighs, compares or supposes.
        """
        space = self._options
        if space is None or any(map(_DIGIT.search, self._letters)) or told.endswith(_ASKS):
            return None
        if _UNSETTLED.search(told.lower()):
            return None
        reading, named = read_choice(told, space, self._asked), space.named_in(told)
        if reading.status != "parsed" or [*map(key_of, named)] != [key_of(reading.value)]:
            return None
        naming = [sentence for sentence in sentences_of(told) if space.mentions(sentence)]
        return self._letters.get(key_of(reading.value)) if len(naming) == 1 else None

    def _letter_stated(self, told: str) -> str | None:
        """Return the letter of the one option that a text states of what was asked, beside what it says of others."""
        stated = stated_choices(self._asked, told, self._options.mentions) if self._asked and self._options else []
        return self._letters.get(key_of(str(stated[0]))) if len(stated) == 1 else None

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


def _is_out_of_view(told: str, space: AnswerSpace) -> bool:
    """Return whether a text says what there is to be seen, and in another clause of something else that it is not."""
    lowered = told.lower()
    if not _OUT_OF_VIEW.search(lowered) or not _SCENE.search(lowered):
        return False
    return any(
        _OUT_OF_VIEW.search(clause) and not space.mentions(clause)
        for sentence in sentences_of(lowered)
        for clause in _CONTRAST.split(sentence)
    )


_OUT_OF_VIEW, _SCENE, _CONTRAST = Words("out_of_view"), Words("scene"), Words("contrast")


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
