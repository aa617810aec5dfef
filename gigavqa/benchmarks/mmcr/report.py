"""Contents of MMCR's report: the paper's tables and figures, the same by the careful reader, and tables of our own."""

from collections.abc import Iterator

from gigavqa.benchmarks.mmcr.extra_tables import matcher_table, rotation_effect_table, rotation_table
from gigavqa.benchmarks.mmcr.metrics import MMCRBaseScores
from gigavqa.benchmarks.mmcr.scores import MMCRScores
from gigavqa.benchmarks.mmcr.sidecars import ERRORS, ErrorLabels
from gigavqa.benchmarks.mmcr.tables import (
    cot_table,
    cot_type_table,
    distribution_table,
    error_category_table,
    main_table,
    subject_table,
    table_s1,
)
from gigavqa.benchmarks.mmcr.taxonomy import QUESTION_TYPES
from gigavqa.evaluation.tables import Caveat, Contents, Figure
from gigavqa.runtime.plurals import list_some

_LISTED = 100


def report(base: MMCRBaseScores, labels: ErrorLabels) -> Contents:
    """Fill the tables that have any row."""
    scores = MMCRScores(base)
    tables = (
        main_table(scores),
        cot_table(scores),
        table_s1(scores),
        rotation_effect_table(scores),
        error_category_table(scores, labels),
        rotation_table(scores),
        matcher_table(scores),
        distribution_table(scores, "type"),
        distribution_table(scores, "subject"),
        subject_table(scores),
        cot_type_table(scores),
        *(fill(scores, "careful") for fill in (main_table, cot_table, subject_table, cot_type_table)),
    )
    filled = {table.name: table for table in tables if table.rows}
    figures = (figure for figure in _figures(scores) if figure.table in filled)
    caveats = (*_left_out_caveats(scores), *_stray_label_caveats(scores, labels))
    return Contents(tables=tuple(filled.values()), figures=tuple(figures), caveats=caveats)


def _figures(scores: MMCRScores) -> Iterator[Figure]:
    yield Figure(
        name="figure_s3",
        caption="Figure S.3: circular accuracy by type of evidence.",
        form="radar",
        axis="circular accuracy (%)",
        table="main",
        columns=QUESTION_TYPES,
    )
    names = {"type": scores.questions.types, "subject": scores.questions.subjects}
    for panel, (level, found) in zip("ab", names.items(), strict=True):
        yield Figure(
            name=f"figure_s1{panel}",
            caption=f"Figure S.1 ({panel}): questions by {level}.",
            form="shares",
            axis="share of questions (%)",
            table=f"questions_by_{level}",
            columns=tuple(f"{level}{at}" for at in range(len(found))),
        )


def _left_out_caveats(scores: MMCRScores) -> Iterator[Caveat]:
    """Name the samples that circular accuracy leaves out, where it was asked for at all."""
    for asked in scores.asked:
        names = asked.left_out
        if names and asked.is_circular:
            listed = list_some(names, _LISTED)
            told = (
                f"{scores.title(asked)}, {asked.family}0 to {asked.family}4: not all rotations of {listed} have a reply"
            )
            yield Caveat(scope="cell", text=f"{told}; circular accuracy leaves such repeats out")


def _stray_label_caveats(scores: MMCRScores, labels: ErrorLabels) -> Iterator[Caveat]:
    """Name labels of what is no error case."""
    cases = {(case.sample, asked.model) for asked in scores.family("N") for case in asked.errors}
    if stray := sorted(set(labels) - cases):
        listed = ", ".join(f"'{sample}' of {model}" for sample, model in stray[:_LISTED])
        yield Caveat(scope="report", text=f"{ERRORS} labels what is no error case: {listed}")
