"""Where a response announces its final answer, in the languages that models answer in (appendix D.2)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Marker:
    """One announcement: `end` is where the answer may begin; `direct` wants the answer right there."""

    start: int
    end: int
    direct: bool


@dataclass(frozen=True)
class _Phrases:
    """Phrases of one strength, lower case. `connector` wants "is", ":" or the like behind them.

    One of `stems` stands in every ASCII phrase: looking for them first spares most texts the phrases.
    """

    stems: tuple[str, ...]
    ascii: tuple[str, ...]
    other: tuple[str, ...]
    direct: bool
    connector: bool


_FINAL = _Phrases(
    stems=("final", "answer", "boxed", "fbox"),
    ascii=("final answer", "final choice", "final option", "\\boxed", "\\fbox", "<answer>", "final_answer",
           "finalanswer", '"answer"', "'answer'", "respuesta final", "resposta final", "risposta finale",
           "antwort final"),
    other=("réponse finale", "réponse définitive", "endgültige antwort", "окончательный ответ", "итоговый ответ",
           "最终答案", "最終答案", "最终回答", "最終的な答え", "最終回答", "최종 답"),
    direct=False,
    connector=False,
)  # fmt: skip
_ANSWER = _Phrases(
    stems=("ans", "option", "choice", "resp", "risposta", "antwo", "jawaban", "svar", "cevap", "final", "opzione",
           "alternativa"),
    ascii=("answer", "answer key", "ans", "ans.", "final", "selected option", "chosen option",
           "correct option", "correct choice", "right option", "right choice", "best option", "best choice",
           "respuesta", "resposta", "risposta", "antwort", "antwoord", "jawaban", "jawabannya",
           "opzione corretta", "alternativa correta", "svar", "cevap", "svaret"),
    other=("réponse", "ответ", "відповідь", "odpowiedź", "odpověď", "đáp án", "απάντηση", "الإجابة", "الجواب",
           "правильный вариант", "верный вариант", "پاسخ", "คําตอบ", "válasz",
           "उत्तर", "תשובה", "yanıt", "답은", "답변", "opción correcta", "opção correta", "option correcte"),
    direct=False,
    connector=True,
)  # fmt: skip
_CHOICE = _Phrases(
    stems=("choos", "choice", "select", "pick", "guess", "go with", "i'll say", "elijo", "choisis", "scelgo"),
    ascii=("i choose", "i would choose", "i'd choose", "i select", "i would select", "i pick", "i'd pick",
           "go with", "best guess", "my choice", "my guess", "my pick", "i'll say", "select option", "choose option",
           "elijo", "je choisis", "scelgo"),
    other=("答案", "答え", "正解", "回答", "故选", "因此选", "所以选", "應選", "应选", "选择", "選擇",
           "正确选项", "正確選項", "정답", "답", "выбираю", "ich wähle", "odpowiedź to"),
    direct=True,
    connector=False,
)  # fmt: skip

_CONNECTOR = re.compile(
    r"(?:\s+(?:correcta|correcte|correta|corretta|final|finale|richtige|đúng|الصحيحة|is\s+therefore)\b)?"
    r"[\s*_`\"'”’»)\]}>]*(?:[:：=→⇒]|-+>|[—–]|-\s|[*_`\"”»)\]}>]+\s|\s*\n|は|是|为|為|है|là|هي|היא|คือ"
    r"|,?\s+[(\[*\"'`]*[a-h](?![a-z0-9_]|['’](?!d[iı]r))"
    r"|\b(?:is|was|are|would|should|must|will|seems|appears|est|ist|lautet|wäre|es|sería|é|è|será|sarà|adalah|är|je)\b"
    r"|\bto\s+(?:the|this)\s+question\s+(?:is|would|should|must)\b)",
    re.IGNORECASE,
)
_LONGEST_CONNECTOR = 40
_NEGATED_BEFORE = re.compile(r"(?:\bnot\s+(?:the\s+|my\s+|a\s+)?|\bwrong\s+|\bincorrect\s+|\bno\s+)$", re.IGNORECASE)


_MOST = 64
"""Announcements that are looked at, from the end: a model that runs in circles writes thousands."""


def final_markers(text: str) -> list[Marker]:
    """Find the last announcements of a final answer, in order."""
    return sorted(_find(_FINAL, text, text.lower()), key=lambda marker: marker.end)[-_MOST:]


def answer_markers(text: str) -> list[Marker]:
    """Find the last announcements of an answer that do not say that it is final, in order."""
    lowered = text.lower()
    found = [*_find(_ANSWER, text, lowered), *_find(_CHOICE, text, lowered)]
    return sorted(found, key=lambda marker: (marker.end, marker.start))[-_MOST:]


def _find(phrases: _Phrases, text: str, lowered: str) -> Iterator[Marker]:
    # Lower-casing may lengthen a text (İ); positions are then of no use, and the text itself is searched.
    searched = lowered if len(lowered) == len(text) else text
    candidates = phrases.ascii if any(stem in searched for stem in phrases.stems) else ()
    for phrase in candidates if searched.isascii() else candidates + phrases.other:
        position, found = searched.rfind(phrase), 0
        while position >= 0 and found < _MOST:
            end = position + len(phrase)
            if _counts(phrases, phrase, searched, position, end):
                found += 1
                yield Marker(position, end, phrases.direct)
            position = searched.rfind(phrase, 0, position)


def _counts(phrases: _Phrases, phrase: str, text: str, start: int, end: int) -> bool:
    if phrase[0].isalpha() and phrase.isascii() and _letter_at(text, start - 1):
        return False
    if phrase[-1].isalpha() and phrase.isascii() and _letter_at(text, end):
        return False
    if phrases.connector and not _CONNECTOR.match(text, end, end + _LONGEST_CONNECTOR):
        return False
    return not _NEGATED_BEFORE.search(text, max(0, start - 16), start)


def _letter_at(text: str, position: int) -> bool:
    return 0 <= position < len(text) and text[position].isascii() and text[position].isalpha()
