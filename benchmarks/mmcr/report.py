"""What a report says of MMCR: the paper's tables and figures, the same by the careful reader, and tables of our own."""

from collections.abc import Iterator

from benchmarks.mmcr.extra_tables import matcher_table, rotation_effect_table, rotation_table
from benchmarks.mmcr.scores import MMCRScores
from benchmarks.mmcr.sidecars import ERRORS, ErrorLabels
from benchmarks.mmcr.tables import (
    cot_table,
    cot_type_table,
    distribution_table,
    error_category_table,
    main_table,
    subject_table,
    table_s1,
)
from benchmarks.mmcr.taxonomy import QUESTION_TYPES
from evaluation.tables import Caveat, Contents, Figure
from evaluation.verdicts import Verdicts

_LISTED = 100


def report(verdicts: Verdicts, labels: ErrorLabels) -> Contents:
    """Fill the tables that have any row."""
    sheet = MMCRScores.of(verdicts)
    tables = (
        main_table(sheet),
        cot_table(sheet),
        table_s1(sheet),
        rotation_effect_table(sheet),
        error_category_table(sheet, labels),
        rotation_table(sheet),
        matcher_table(sheet),
        distribution_table(sheet, "type"),
        distribution_table(sheet, "subject"),
        subject_table(sheet),
        cot_type_table(sheet),
        *(fill(sheet, "careful") for fill in (main_table, cot_table, subject_table, cot_type_table)),
    )
    filled = {table.name: table for table in tables if table.rows}
    figures = (figure for figure in _figures(sheet) if figure.table in filled)
    caveats = (*_left_out_caveats(sheet), *_stray_label_caveats(sheet, labels))
    return Contents(tables=tuple(filled.values()), figures=tuple(figures), caveats=caveats)


def _figures(sheet: MMCRScores) -> Iterator[Figure]:
    yield Figure(
        name="figure_s3",
        caption="Figure S.3: circular accuracy by type of evidence.",
        form="radar",
        axis="circular accuracy (%)",
        table="main",
        columns=QUESTION_TYPES,
    )
    names = {"type": sheet.questions.types, "subject": sheet.questions.subjects}
    for panel, (level, found) in zip("ab", names.items(), strict=True):
        yield Figure(
            name=f"figure_s1{panel}",
            caption=f"Figure S.1 ({panel}): questions by {level}.",
            form="shares",
            axis="share of questions (%)",
            table=f"questions_by_{level}",
            columns=tuple(f"{level}{at}" for at in range(len(found))),
        )


def _left_out_caveats(sheet: MMCRScores) -> Iterator[Caveat]:
    """Name the samples that circular accuracy leaves out, where it was asked for at all."""
    for asked in sheet.asked:
        names = asked.left_out
        if names and asked.is_circular:
            listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
            told = (
                f"{sheet.title(asked)}, {asked.family}0 to {asked.family}4: not all rotations of {listed} have a reply"
            )
            yield Caveat(scope="cell", text=f"{told}; circular accuracy leaves such repeats out")


def _stray_label_caveats(sheet: MMCRScores, labels: ErrorLabels) -> Iterator[Caveat]:
    """Name labels of what is no error case."""
    cases = {(case.sample, asked.model) for asked in sheet.family("N") for case in asked.errors}
    if stray := sorted(set(labels) - cases):
        listed = ", ".join(f"'{sample}' of {model}" for sample, model in stray[:_LISTED])
        yield Caveat(scope="report", text=f"{ERRORS} labels what is no error case: {listed}")
