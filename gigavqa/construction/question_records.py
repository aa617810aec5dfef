"""Candidates in words: as records of the benchmark `questions`, and as readers without pictures get them."""

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from gigavqa.construction.candidates import Candidate, QuestionText
from gigavqa.construction.guessing.guessing import BlindQuestion
from gigavqa.construction.selection import category_of


def question_record(candidate: Candidate, words: QuestionText) -> dict[str, Any]:
    """Return the record of a question, with its evidence in pixels and the ids of what its truth rests on.

    An option that is right is told by its text in a field of its own: where options are numbers, no reader can take the
    text for an option's place.
    """
    record = {
        "id": candidate.id,
        "image": candidate.image,
        "question": words.question,
        "type": words.type,
        "choices": [*map(str, words.options)],
        "answer_text" if words.options else "answer": str(words.answer) if words.options else words.answer,
        "category": candidate.recipe,
        "group_object": category_of(candidate),
        "boxes": [list(box) for box in candidate.boxes],
        "objects": list(candidate.objects),
    }
    return {key: value for key, value in record.items() if value not in ([], "")}


def blind_question(candidate: Candidate, words: QuestionText) -> BlindQuestion:
    """Return a question without its picture; where it has no options, all answers that its group offers are some."""
    offered = [*map(str, words.options or candidate.program["options"])]
    options = dict(zip(ascii_uppercase, offered, strict=False)) if words.options else {one: one for one in offered}
    right = next(key for key, text in options.items() if text == str(words.answer))
    return BlindQuestion(
        candidate.id, candidate.image, candidate.recipe, category_of(candidate), words.question, options, right
    )


def offered_texts(record: Mapping[str, Any]) -> list[str]:
    """Return the options of a question's record of any benchmark, in their order; none where it has none."""
    options = record.get("choices") or record.get("options") or ()
    return [*map(str, options.values() if isinstance(options, Mapping) else options)]


def right_text(record: Mapping[str, Any]) -> Any:
    """Return the answer of a question's record of any benchmark: the text of an option where it has some."""
    answer, options = record.get("answer_text", record.get("answer")), record.get("options")
    return options.get(answer, answer) if isinstance(options, Mapping) else answer
