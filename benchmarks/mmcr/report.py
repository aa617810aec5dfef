"""What a report says of MMCR: the paper's tables and figures, the same by the careful reader, and tables of our own."""

from collections.abc import Iterator

from benchmarks.mmcr.beside import ERRORS, Labels
from benchmarks.mmcr.own_tables import matchers, readings, rotations
from benchmarks.mmcr.paper_tables import cot, cot_types, distribution, error_categories, main, subjects, table_s1
from benchmarks.mmcr.sheet import Sheet
from benchmarks.mmcr.taxonomy import KINDS
from evaluation.tables import Caveat, Contents, Figure
from evaluation.verdicts import Verdicts

_LISTED = 100


def report(verdicts: Verdicts, labels: Labels) -> Contents:
    """Fill the tables that have any row."""
    sheet = Sheet.of(verdicts)
    tables = (
        main(sheet),
        cot(sheet),
        table_s1(sheet),
        readings(sheet),
        error_categories(sheet, labels),
        rotations(sheet),
        matchers(sheet),
        distribution(sheet, "type"),
        distribution(sheet, "subject"),
        subjects(sheet),
        cot_types(sheet),
        *(fill(sheet, "careful") for fill in (main, cot, subjects, cot_types)),
    )
    filled = {table.name: table for table in tables if table.rows}
    figures = (figure for figure in _figures(sheet) if figure.table in filled)
    caveats = (*_left_out(sheet), *_stray_labels(sheet, labels))
    return Contents(tables=tuple(filled.values()), figures=tuple(figures), caveats=caveats)


def _figures(sheet: Sheet) -> Iterator[Figure]:
    yield Figure(
        name="figure_s3",
        caption="Figure S.3: circular accuracy by type of evidence.",
        form="radar",
        axis="circular accuracy (%)",
        table="main",
        columns=KINDS,
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


def _left_out(sheet: Sheet) -> Iterator[Caveat]:
    """Name the samples that circular accuracy leaves out, where it was asked for at all."""
    for asked in sheet.asked:
        names = asked.left_out
        if names and asked.is_circular:
            listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
            told = (
                f"{sheet.title(asked)}, {asked.family}0 to {asked.family}4: not all rotations of {listed} have a reply"
            )
            yield Caveat(scope="cell", text=f"{told}; circular accuracy leaves such repeats out")


def _stray_labels(sheet: Sheet, labels: Labels) -> Iterator[Caveat]:
    """Name labels of what is no error case."""
    cases = {(case.sample, asked.model) for asked in sheet.family("N") for case in asked.errors}
    if stray := sorted(set(labels) - cases):
        listed = ", ".join(f"'{sample}' of {model}" for sample, model in stray[:_LISTED])
        yield Caveat(scope="report", text=f"{ERRORS} labels what is no error case: {listed}")
