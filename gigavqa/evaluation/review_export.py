"""What reviews make of records: some stay, some are mended, some are dropped."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import AnswerForms, RecordLayout, whole_record
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import Problem, ReviewRefusedError, ReviewsOpenError
from gigavqa.evaluation.record_context import RecordContext
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.reviews import Decision, Mend, Reviews
from gigavqa.evaluation.sample_files import read_record
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.truth_checks import unreachable_truths
from gigavqa.runtime.plurals import list_some

_OPTION_FIELDS = ("options", "choices")
_MOST_NAMED = 5


@dataclass(frozen=True)
class ReviewCounts:
    """What became of records: kept and mended ones are there, dropped ones not; unreviewed ones are, too."""

    kept: int = 0
    mended: int = 0
    dropped: int = 0
    unreviewed: int = 0


def apply_reviews(records: Iterable[Mapping[str, Any]], reviews: Reviews) -> tuple[list[dict[str, Any]], ReviewCounts]:
    """Return the records that stay, mended where reviewers say so, in their order, by their `id`.

    Raises ReviewsOpenError naming samples between whose verdicts nobody has decided, and where a record has no field to
    be mended.
    """
    decided = [(dict(record), reviews.decision(str(record["id"]))) for record in records]
    if conflicts := [record["id"] for record, decision in decided if decision.state == "conflict"]:
        named = list_some(conflicts, _MOST_NAMED)
        raise ReviewsOpenError(f"reviewers differ on {named}: settle them on the page of reviews, filter `conflicts`")
    states = [decision.state for _, decision in decided]
    kept = [_apply(record, decision) for record, decision in decided if decision.state != "drop"]
    counts = ReviewCounts(states.count("keep"), states.count("mend"), states.count("drop"), states.count("unreviewed"))
    return kept, counts


def _apply(record: dict[str, Any], decision: Decision) -> dict[str, Any]:
    if decision.state != "mend" or decision.review is None or decision.review.fields is None:
        return record
    return mend_record(record, decision.review.fields)


def mend_record(record: Mapping[str, Any], mend: Mend) -> dict[str, Any]:
    """Return a record with what is mended in the fields that it has, in their form. Raises ReviewsOpenError."""
    mended = dict(record)
    if mend.question is not None:
        mended["question"] = mend.question
    options = _options(record)
    if mend.options is not None:
        _put_options(mended, mend.options)
    if mend.answer is not None or mend.options is not None:
        _put_answer(mended, options, mend)
    if mend.boxes is not None:
        _put_boxes(mended, mend.boxes)
    return mended


def awaited_answers(dataset: Dataset, reviews: Reviews) -> dict[str, str]:
    """Return the answers that reviewers agree on of samples whose records have none, by sample."""
    found = {}
    for name in reviews.by_sample:
        review = reviews.decision(name).review
        answer = review.fields.answer if review and review.fields else None
        if answer and dataset.samples[dataset.positions[name]].awaited:
            found[name] = answer
    return found


def check_mend(benchmark: Benchmark[Any, Any], sample: Sample, mend: Mend) -> None:
    """Raise ReviewRefusedError where a sample that is mended so cannot be read, or is not read as it was meant."""
    record = whole_record(RecordLayout.of(benchmark), sample)
    try:
        mended = Record(mend_record(record, mend), line=1, index=0)
        found = list(read_record(benchmark, mended, sample.id, RecordContext(sample.id)))
    except (ReviewsOpenError, ValueError) as error:
        raise ReviewRefusedError(f"fields: {error}") from error
    wrong = [one.message for one in found if isinstance(one, Problem)]
    read = [one[1] for one in found if not isinstance(one, Problem)]
    for one in read:
        wrong += unreachable_truths(one, AnswerForms.of(benchmark).answer_form(one))
        wrong += [f"{name}: no record of this benchmark has it" for name in set(one.extra) - set(sample.extra)]
        offered = Counter(text.strip().casefold() for text in (one.options or {}).values())
        wrong += [f"options: '{text}' is offered {number} times" for text, number in offered.items() if number > 1]
    if len(read) != 1 and not wrong:
        wrong = [f"the record then holds {len(read)} samples"]
    if wrong:
        raise ReviewRefusedError(f"fields: {'; '.join(wrong)}")


def check_answer(benchmark: Benchmark[Any, Any], sample: Sample, answer: str) -> None:
    """Raise ReviewRefusedError where a blind answer is none that a sample can have: no option, no number.

    An empty one says that it cannot be told.
    """
    forms, said = AnswerForms.of(benchmark), answer.strip().casefold()
    form = forms.answer_form(sample)
    if said and form.possible is not None:
        given = [one.strip() for one in said.split(",")] if "several" in form.kind else [said]
        known = {one.casefold() for one in form.possible}
        if wrong := [one for one in given if one not in known]:
            offered = ", ".join(sample.options or sorted(form.possible))
            raise ReviewRefusedError(f"answer: '{wrong[0]}' is none of {offered}; leave it empty if it cannot be told")
    closed = forms.closed_form(sample, next(iter(benchmark.protocols))) if said else None
    if closed is not None and closed.kind == "number":
        try:
            is_number = closed.read(said) is not None
        except ValueError:
            is_number = False
        if not is_number:
            raise ReviewRefusedError(f"answer: '{answer.strip()}' is no number; leave it empty if it cannot be told")


def _options(record: Mapping[str, Any]) -> dict[str, str]:
    """Return a record's options by letter, whether it lists them or names their letters."""
    held: Any = next((record[name] for name in _OPTION_FIELDS if record.get(name)), {})
    if isinstance(held, Mapping):
        return {str(letter): str(text) for letter, text in held.items()}
    return {chr(ord("A") + at): str(text) for at, text in enumerate(held)} if isinstance(held, list | tuple) else {}


def _put_options(record: dict[str, Any], options: Mapping[str, str]) -> None:
    name = next((name for name in _OPTION_FIELDS if record.get(name)), None)
    if name is None:
        raise ReviewsOpenError(f"{record['id']}: options are mended, and its record has none; drop it instead")
    letters = [chr(ord("A") + at) for at in range(len(options))]
    if list(options) != letters:
        raise ReviewsOpenError(f"{record['id']}: options are lettered {', '.join(options)}, not {', '.join(letters)}")
    record[name] = dict(options) if isinstance(record[name], Mapping) else list(options.values())


def _put_answer(record: dict[str, Any], before: Mapping[str, str], mend: Mend) -> None:
    """Write the answer as the record does: an option's text or its letter, and else what was said."""
    name = next((name for name in ("answer", "answer_text") if name in record), "answer")
    old, after = record.get(name), _options(record)
    is_text = isinstance(old, str) and old not in before and old in before.values()
    letter = mend.answer or (next(one for one, text in before.items() if text == old) if is_text else None)
    if letter is None:
        return
    if before and letter not in after:
        raise ReviewsOpenError(f"{record['id']}: the answer '{letter}' is none of the options {', '.join(after)}")
    record[name] = after[letter] if is_text else _like(old, letter)


def _like(old: Any, text: str) -> Any:
    """Return an answer as a number where the one before it was one."""
    if isinstance(old, bool) or not isinstance(old, int | float):
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if isinstance(old, int) and value.is_integer() else value


def _put_boxes(record: dict[str, Any], boxes: Iterable[tuple[float, ...]]) -> None:
    """Write evidence in pixels, in place of boxes or of a list of regions."""
    evidence = record.get("evidence")
    lists_regions = isinstance(evidence, list) and all(isinstance(one, Mapping) and "region" in one for one in evidence)
    if evidence and not lists_regions:
        raise ReviewsOpenError(f"{record['id']}: boxes are mended, and its record tells evidence otherwise")
    record.pop("evidence", None)
    record["boxes"] = [[_short(number) for number in box] for box in boxes]


def _short(number: float) -> float:
    return int(number) if number.is_integer() else number
