"""Defaults of a benchmark that brings nothing of its own: reads plain records, judges by options, reports
accuracies.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.final import parse_answer
from gigavqa.evaluation.metrics.accuracy import Contrast, Grouping, Strata, group_accuracies, subgroup_accuracies
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Column, ColumnGroup, Contents, Row, Table, mean_row
from gigavqa.evaluation.verdicts import ReplyJudge, Verdict

_CellId = tuple[str, str, int]
"""Protocol, condition and rounds of a cell."""


def plain_fields(record: Record, kind: type[Sample], stem: str, images: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a record whose keys are a sample's own fields; other keys are kept as they are.

    One image may be called `image`; without any, it is the one of the file's stem. Without an id, the sample is called
    as its file, by number. Raises ValueError where the record is no object.
    """
    value = record.value
    if not isinstance(value, dict):
        raise ValueError(f"a record must be a JSON object, not {type(value).__name__}")
    known = set(kind.model_fields) - {"extra"}
    fields: dict[str, Any] = {"id": stem if record.alone else f"{stem}-{record.index + 1}"}
    image = value.get("image", images.get(stem))
    if "images" in known and image is not None:
        fields["images"] = [image]
    fields |= {key: inner for key, inner in value.items() if key in known}
    extra = {key: inner for key, inner in value.items() if key not in known and key != "image"}
    yield {**fields, "extra": extra}


def option_judge(sample: Sample) -> ReplyJudge[Any]:
    """Judge by the final answer of a reply: an option's letter, or a coordinate where there are no options."""
    return partial(_judge_options, sample)


def _judge_options(sample: Sample, reply: Reply, frame: BoxFrame) -> Verdict[Any]:
    if reply.text is None:
        return Verdict(None, reply.absence, 0.0 if sample.scored else None)
    answer = parse_answer(reply.text, sample.options, cut_off=reply.cut_off)
    score = float(answer.value == sample.truth) if sample.scored else None
    return Verdict(answer.value, answer.status, score, rule=answer.rule)


def accuracy_contents(scores: AnyScores, grouping: Grouping) -> Contents:
    """Accuracies with their intervals: a row a model, a column a cell; and the same of every group and subgroup."""
    strata = Strata.of(scores.columns, grouping)
    asked = list(dict.fromkeys(cell[1:] for cell in scores.cells))
    groups = tuple(_column_group(protocol, asked) for protocol in dict.fromkeys(protocol for protocol, *_ in asked))
    rows = tuple(_row(scores, model, asked, strata) for model in scores.models)
    whole = Table(
        name="accuracy",
        title="Accuracy",
        caption="In %, by protocol and condition" + (": the mean over groups." if grouping.balanced else "."),
        groups=groups,
        rows=rows,
    )
    mean = mean_row(rows, whole.columns)
    parts = Table(
        name="accuracy_groups",
        title=f"Accuracy by {' and '.join(grouping.levels)}",
        caption="In %, by protocol and condition.",
        groups=groups,
        rows=tuple(row for model in scores.models for row in _rows(scores, model, asked, grouping, strata)),
    )
    return Contents(tables=(whole.model_copy(update={"rows": (*rows, mean) if mean else rows}), parts))


def _column_group(protocol: str, asked: Sequence[_CellId]) -> ColumnGroup:
    cells = (CellKey("", *one) for one in asked if one[0] == protocol)
    columns = (
        Column(
            key=cell.how,
            title=cell.how.removeprefix(f"{protocol} "),
            label=cell.how,
            keys={name: key for name, key in cell.keys.items() if name != "model"} | {"metric": "accuracy"},
            strong=True,
        )
        for cell in cells
    )
    return ColumnGroup(title=protocol, columns=tuple(columns))


def _row(scores: AnyScores, model: str, asked: Sequence[_CellId], strata: Strata) -> Row:
    contrast = Contrast({CellKey("", *one).how: scores.means(model, *one) for one in asked}, strata)
    values = tuple(contrast.accuracy(name) for name in contrast.names)
    return Row(title=scores.title_of(model), keys={"model": model}, values=values)


def _rows(scores: AnyScores, model: str, asked: Sequence[_CellId], grouping: Grouping, strata: Strata) -> Iterator[Row]:
    """One row for every group that has a name, followed by those of its subgroups."""
    means = [scores.means(model, *one) for one in asked]
    groups = [group_accuracies(one, strata) for one in means]
    subgroups = [subgroup_accuracies(one, strata) for one in means]
    for group in filter(None, strata.groups):
        keys = dict(zip(grouping.levels, (group,), strict=False))
        yield _named_row(scores, model, keys, [of[group] for of in groups])
        for place in (place for place in strata.subgroups if place[0] == group):
            keys = dict(zip(grouping.levels, place, strict=True))
            yield _named_row(scores, model, keys, [of.get(place, NO_ESTIMATE) for of in subgroups])


def _named_row(scores: AnyScores, model: str, keys: Mapping[str, str], values: Sequence[Estimate]) -> Row:
    title = " · ".join([scores.title_of(model), *keys.values()])
    return Row(title=title, keys={"model": model, **keys}, values=tuple(values))
