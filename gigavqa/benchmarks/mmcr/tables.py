"""The paper's tables: accuracy by type, with and without a chain of thought, matching errors, shares of questions."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from gigavqa.benchmarks.mmcr.metrics import (
    MatcherName,
    RotationScores,
    estimate_accuracy,
    estimate_paired_gap,
    estimate_shares,
    estimate_source_gap,
)
from gigavqa.benchmarks.mmcr.scores import (
    MMCRScores,
    family_title,
    number_column,
    reader_phrase,
    reader_suffix,
    row_keys,
    type_columns,
)
from gigavqa.benchmarks.mmcr.sidecars import ErrorLabels
from gigavqa.benchmarks.mmcr.taxonomy import ERRORS, QUESTION_TYPES, type_title
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, estimate_share
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Unit

NOT_ANNOTATED = "not annotated"


def main_table(scores: MMCRScores, reader: MatcherName = "matched") -> Table:
    """Circular accuracy of each model that was asked without a chain of thought: overall, and by type."""
    groups = (
        ColumnGroup(
            title="Circular accuracy",
            columns=(
                number_column(
                    "circular",
                    "all",
                    "circular_accuracy",
                    label="circular",
                    strong=True,
                    note="right in every rotation of options",
                ),
                number_column("cross", "cross-source", "circular_accuracy", keys={"source": "cross"}),
                number_column("single", "single-source", "circular_accuracy", keys={"source": "single"}),
                number_column("gap", "cross − single", "cross_source_gap", "difference"),
            ),
        ),
        ColumnGroup(
            title="Plain",
            columns=(number_column("plain", "all", "plain_accuracy", label="plain", note="in the original order"),),
        ),
        ColumnGroup(title="Circular accuracy by type", columns=type_columns("circular_accuracy")),
    )
    return Table(
        name=f"main{reader_suffix(reader)}",
        title="Main table: circular accuracy" + (" (careful reader)" if reader_suffix(reader) else ""),
        caption="Without a chain of thought, in %. Circular: right under every rotation of the options, where guessing "
        f"among five is right in 0.032 %; plain: in the original order, 20 %.{reader_phrase(reader)}",
        groups=groups,
        rows=tuple(_main_row(scores, asked, reader) for asked in scores.family("N")),
        detail=reader == "careful",
    )


def _main_row(scores: MMCRScores, asked: RotationScores, reader: MatcherName) -> Row:
    circular, questions = asked.circular(reader), scores.questions
    return Row(
        title=scores.title(asked),
        keys=row_keys(asked, reader),
        values=(
            estimate_accuracy(circular, questions),
            *(estimate_accuracy(circular, questions, at) for at in questions.sources.values()),
            estimate_source_gap(circular, questions),
            estimate_accuracy(asked.plain(reader), questions),
            *(estimate_accuracy(circular, questions, at) for at in questions.types.values()),
        ),
    )


def _cot_pairs(scores: MMCRScores) -> Iterator[tuple[RotationScores, RotationScores]]:
    """Yield what each model was asked without a chain of thought and with one; by either prompt for one, a row each."""
    for without in scores.family("N"):
        for family in "CI":
            if asked := scores.beside(without, family):
                yield without, asked


def _pair_title(scores: MMCRScores, asked: RotationScores, *, both: bool) -> str:
    return f"{scores.title(asked)} · {family_title(asked.family)}" if both else scores.title(asked)


def _cot_rows(
    scores: MMCRScores, reader: MatcherName, values: Callable[[RotationScores, RotationScores], Iterable[Estimate]]
) -> Iterator[Row]:
    """One row a pair; `values` compares one without a chain of thought to one with it."""
    pairs = [*_cot_pairs(scores)]
    for without, asked in pairs:
        both = sum(one is without for one, _ in pairs) > 1 or asked.family == "I"
        keys = row_keys(asked, reader) | {"protocol": asked.family}
        yield Row(title=_pair_title(scores, asked, both=both), keys=keys, values=tuple(values(without, asked)))


def cot_table(scores: MMCRScores, reader: MatcherName = "matched") -> Table:
    """With a chain of thought beside without: circular accuracy overall and by sources, and plain."""
    kinds = (("", "Circular accuracy", "circular"), ("plain_", "Plain accuracy", "plain"))
    sources = (("cross_", "Cross-source"), ("single_", "Single-source"))
    groups = (
        *(
            ColumnGroup(title=title, columns=_cot_columns(key, f"{metric}_accuracy", title))
            for key, title, metric in kinds
        ),
        *(ColumnGroup(title=title, columns=_cot_columns(key, "circular_accuracy", title)) for key, title in sources),
    )

    def values(without: RotationScores, asked: RotationScores) -> Iterator[Estimate]:
        circular = without.circular(reader), asked.circular(reader)
        yield from _cot_values(scores, *circular)
        yield from _cot_values(scores, without.plain(reader), asked.plain(reader))
        for at in scores.questions.sources.values():
            yield from _cot_values(scores, *circular, at)

    return Table(
        name=f"cot{reader_suffix(reader)}",
        title="Chain of thought" + (" (careful reader)" if reader_suffix(reader) else ""),
        caption=f"Accuracy in % without and with a chain of thought; the gap in points over samples that have "
        f"both, with the interval of a bootstrap over documents.{reader_phrase(reader)}",
        groups=groups,
        rows=tuple(_cot_rows(scores, reader, values)),
        detail=reader == "careful",
    )


def cot_type_table(scores: MMCRScores, reader: MatcherName = "matched") -> Table:
    """Yield the same circular accuracy by type."""

    def values(without: RotationScores, asked: RotationScores) -> Iterator[Estimate]:
        circular = without.circular(reader), asked.circular(reader)
        for at in scores.questions.types.values():
            yield from _cot_values(scores, *circular, at)

    return Table(
        name=f"cot_types{reader_suffix(reader)}",
        title="Chain of thought by type" + (" (careful reader)" if reader_suffix(reader) else ""),
        caption=f"Circular accuracy in % without and with a chain of thought; the gap in "
        f"points.{reader_phrase(reader)}",
        groups=tuple(
            ColumnGroup(
                title=type_title(kind),
                columns=_cot_columns(f"{kind}_", "circular_accuracy", type_title(kind), {"type": kind}),
            )
            for kind in QUESTION_TYPES
        ),
        rows=tuple(_cot_rows(scores, reader, values)),
        detail=True,
    )


def _cot_columns(prefix: str, metric: str, of: str, keys: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    names: tuple[tuple[str, str, Unit], ...] = (
        ("without", "without CoT", "rate"),
        ("with", "with CoT", "rate"),
        ("gap", "gap", "difference"),
    )
    return tuple(
        number_column(f"{prefix}{key}", title, f"{metric}_{key}", unit, keys, label=f"{of}, {title}")
        for key, title, unit in names
    )


def _cot_values(scores: MMCRScores, without: Floats, with_: Floats, at: Indices | None = None) -> tuple[Estimate, ...]:
    questions = scores.questions
    rates = (estimate_accuracy(values, questions, at) for values in (without, with_))
    return *rates, estimate_paired_gap(with_, without, questions, at)


def subject_table(scores: MMCRScores, reader: MatcherName = "matched") -> Table:
    """Build the table of circular accuracy by subject."""
    names = list(scores.questions.subjects)
    rows = (
        Row(
            title=scores.title(asked),
            keys=row_keys(asked, reader),
            values=tuple(
                estimate_accuracy(asked.circular(reader), scores.questions, at)
                for at in scores.questions.subjects.values()
            ),
        )
        for asked in scores.family("N")
    )
    return Table(
        name=f"subject_accuracy{reader_suffix(reader)}",
        title="Circular accuracy by subject" + (" (careful reader)" if reader_suffix(reader) else ""),
        caption=f"Without a chain of thought, in %.{reader_phrase(reader)}",
        groups=(ColumnGroup(title="Subject", columns=tuple(_subject(name, at) for at, name in enumerate(names))),),
        rows=tuple(rows) if len(names) > 1 else (),
        detail=True,
    )


def _subject(name: str, number: int) -> Column:
    return number_column(f"subject{number}", name, "circular_accuracy", keys={"subject": name})


def distribution_table(scores: MMCRScores, level: str) -> Table:
    """Return the share of questions of each type, or of each subject, in the loaded data set (figure S.1)."""
    questions = scores.questions
    found = questions.types if level == "type" else questions.subjects
    counts: Mapping[str, int] = {name: len(at) for name, at in found.items()}
    titles = {name: type_title(name) if level == "type" else name for name in counts}
    columns = (
        number_column(f"{level}{at}", titles[name], "share", keys={level: name}) for at, name in enumerate(counts)
    )
    values = (
        Estimate(value=one.value, count=counts[name])
        for name, one in zip(counts, estimate_shares(counts, counts), strict=True)
    )
    return Table(
        name=f"questions_by_{level}",
        title=f"Questions by {'type of evidence' if level == 'type' else level} (figure S.1)",
        caption="Share of the loaded data set's questions, in %.",
        groups=(ColumnGroup(title="", columns=tuple(columns)),),
        rows=(Row(title="questions", keys={"dataset": "loaded"}, values=tuple(values)),) if questions.all else (),
        detail=True,
    )


def table_s1(scores: MMCRScores) -> Table:
    """Return how many wrong replies mean the right answer all the same."""
    rows = (
        Row(title=scores.title(asked), keys=row_keys(asked), values=_matching(asked))
        for asked in scores.family("N")
        if len(asked.replies[0])
    )
    return Table(
        name="table_s1",
        title="Table S.1: matching errors",
        caption="Error cases are wrong replies in the original order without a chain of thought. The paper's authors "
        "read them by hand; here a matching error is one in which the careful reader finds the right letter.",
        groups=(
            ColumnGroup(
                title="",
                columns=(
                    Column(key="matching", title="matching errors", unit="count", keys={"metric": "matching_errors"}),
                    Column(key="cases", title="total error cases", unit="count", keys={"metric": "error_cases"}),
                    number_column("rate", "rate", "matching_error_rate", "loss"),
                ),
            ),
        ),
        rows=tuple(rows),
    )


def _matching(asked: RotationScores) -> tuple[int, int, Estimate]:
    cases = asked.errors
    matching = sum(case.is_matching for case in cases)
    return matching, len(cases), estimate_share(matching, len(cases))


def error_category_table(scores: MMCRScores, labels: ErrorLabels) -> Table:
    """Counts and shares of what people put wrong replies down to; without labels only matching errors are known."""
    names = (*ERRORS, NOT_ANNOTATED)
    columns = (
        ColumnGroup(
            title=name,
            columns=(
                Column(
                    key=f"{name} count",
                    title="cases",
                    label=f"{name}, cases",
                    unit="count",
                    keys={"metric": "errors", "category": name},
                ),
                number_column(
                    f"{name} share", "share", "error_share", "loss", {"category": name}, label=f"{name}, share"
                ),
            ),
        )
        for name in names
    )
    rows = (
        Row(title=scores.title(asked), keys=row_keys(asked), values=tuple(_category_values(asked, labels, names)))
        for asked in scores.family("N")
        if asked.errors
    )
    return Table(
        name="errors",
        title="Error categories (figures S.15 to S.21)",
        caption="Of the error cases of table S.1, by the labels that people gave in errors.jsonl. Of a model without "
        "labels only matching is filled, by the careful reader.",
        groups=tuple(columns),
        rows=tuple(rows),
        detail=True,
    )


def _category_values(
    asked: RotationScores, labels: ErrorLabels, names: tuple[str, ...]
) -> Iterator[int | Estimate | None]:
    cases, is_labelled = asked.errors, any(model == asked.model for _, model in labels)
    unlabelled = "matching" if not is_labelled else NOT_ANNOTATED
    found = [
        labels.get((case.sample, asked.model), unlabelled if case.is_matching else NOT_ANNOTATED) for case in cases
    ]
    for name in names:
        is_known = is_labelled or name in ("matching", NOT_ANNOTATED)
        yield found.count(name) if is_known else None
        yield estimate_share(found.count(name), len(found)) if is_known else NO_ESTIMATE
