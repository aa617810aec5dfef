"""Candidates in words as records of the benchmark `questions`."""

from typing import Any

from gigavqa.construction.candidates import Candidate, QuestionText


def question_record(candidate: Candidate, words: QuestionText) -> dict[str, Any]:
    """Return the record of a question, with its evidence in pixels and the ids of what its truth rests on.

    An option that is right is told by its text in a field of its own: where options are numbers, no reader can take the
    text for an option's place.
    """
    answer = "answer_text" if words.options else "answer"
    record = {
        "id": candidate.id,
        "image": candidate.image,
        "question": words.question,
        "type": words.type,
        "choices": list(words.options),
        answer: words.answer,
        "category": candidate.recipe,
        "group_object": candidate.balance.rpartition("/")[2],
        "boxes": [list(box) for box in candidate.boxes],
        "objects": list(candidate.objects),
    }
    return {key: value for key, value in record.items() if value != []}
