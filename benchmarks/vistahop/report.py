"""All that is reported of VistaHop: the paper's tables, ours, and what must be known beside them."""

from collections.abc import Iterator

from benchmarks.vistahop.beside import JUDGEMENTS
from benchmarks.vistahop.own_tables import by_judge, calls, evidence, judges, process, text_only
from benchmarks.vistahop.paper_tables import composition, strata, table4, table5, table9
from benchmarks.vistahop.rules import RULES
from benchmarks.vistahop.sheet import Sheet
from evaluation.tables import Caveat, Contents
from evaluation.verdicts import Verdicts


def report(verdicts: Verdicts) -> Contents:
    """Fill the tables that have any row."""
    sheet = Sheet.of(verdicts)
    tables = (
        table4(sheet),
        table5(sheet),
        text_only(sheet),
        process(sheet),
        evidence(sheet),
        table9(sheet),
        by_judge(sheet),
        judges(sheet),
        strata(sheet),
        calls(sheet),
        composition(sheet),
    )
    return Contents(tables=tuple(table for table in tables if table.rows), caveats=tuple(_caveats(sheet)))


def _caveats(sheet: Sheet) -> Iterator[Caveat]:
    if sheet.settings and not sheet.verdicts.judges:
        text = f"answers are judged by {RULES}, without any model; the paper's numbers are by a model that judges"
        yield Caveat(
            scope="report", text=f"{text}, so compare them only where how judges agree is known ({JUDGEMENTS})"
        )
    unknown = [sample.id for sample in sheet.samples if sample.hops is None]
    if unknown:
        text = f"{len(unknown)} of {len(sheet.samples)} samples have no hops: they count in P@1, and in no level"
        yield Caveat(scope="report", text=text)
    sources = sorted({source for one in sheet.settings for chat in one.chats for source in chat.kept.sources})
    if len(sources) > 1:
        text = f"chats searched different sources, or one at different times: {'; '.join(sources)}"
        yield Caveat(scope="report", text=f"{text}; what they found may differ for that alone")
    for one in sheet.settings:
        voided = sum(chat.kept.voided for chat in one.chats)
        if voided:
            text = f"{voided} of {len(one.chats)} chats have a call by which the authors' program loses the sample"
            yield Caveat(
                scope="cell", text=f"{sheet.title(one)}: {text}; they went on, and strict P@1 counts them wrong"
            )
