"""All that is reported of VistaHop: the paper's tables, ours, and what must be known beside them."""

from collections.abc import Iterator

from benchmarks.vistahop.extra_tables import (
    call_table,
    evidence_table,
    judge_agreement_table,
    judge_score_table,
    process_table,
    text_only_table,
)
from benchmarks.vistahop.judging import ANNOTATOR
from benchmarks.vistahop.rule_judge import RULES_VERSION
from benchmarks.vistahop.scores import VistaHopScores
from benchmarks.vistahop.sidecars import FAILURES, JUDGEMENTS, Sidecars
from benchmarks.vistahop.tables import composition_table, strata_table, table4, table5, table9
from evaluation.tables import Caveat, Contents
from evaluation.verdicts import Verdicts


def report(verdicts: Verdicts, beside: Sidecars) -> Contents:
    """Fill the tables that have any row; `beside` holds what people said."""
    sheet = VistaHopScores.of(verdicts)
    tables = (
        table4(sheet),
        table5(sheet),
        text_only_table(sheet),
        process_table(sheet),
        evidence_table(sheet),
        table9(sheet),
        judge_score_table(sheet),
        judge_agreement_table(sheet),
        strata_table(sheet),
        call_table(sheet),
        composition_table(sheet),
    )
    caveats = (*_report_caveats(sheet), *_label_caveats(sheet, beside), *_round_caveats(sheet))
    return Contents(tables=tuple(table for table in tables if table.rows), caveats=caveats)


def _label_caveats(sheet: VistaHopScores, beside: Sidecars) -> Iterator[Caveat]:
    """Count what people said of chats that are not here, as a slip in a job's name makes it."""
    chats = [chat.kept for one in sheet.settings for chat in one.chats]
    judged = sum(any(name.startswith(ANNOTATOR) for name, _ in kept.judges) for kept in chats)
    labelled = sum(bool(kept.label) for kept in chats)
    for file, named, found in ((JUDGEMENTS, beside.judgements, judged), (FAILURES, beside.failures, labelled)):
        if strays := len(named) - found:
            text = f"{file}: {strays} of the chats that it names have no answer among these responses"
            yield Caveat(scope="report", text=f"{text} ({found} have); what people said of them counts nowhere")


def _round_caveats(sheet: VistaHopScores) -> Iterator[Caveat]:
    for one in sheet.settings:
        beyond = sum(chat.kept.rounds > one.limit > 0 for chat in one.chats)
        if beyond:
            text = f"{beyond} of {len(one.chats)} chats went on for more rounds than N = {one.limit} allows"
            yield Caveat(scope="cell", text=f"{sheet.title(one)}: {text}, so that Util. is no share of it")


def _report_caveats(sheet: VistaHopScores) -> Iterator[Caveat]:
    if sheet.settings and not sheet.verdicts.judges:
        text = (
            f"answers are judged by {RULES_VERSION}, without any model; the paper's numbers are by a model that judges"
        )
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
