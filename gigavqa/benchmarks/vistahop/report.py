"""All that is reported of VistaHop: the paper's tables, ours, and what must be known beside them."""

from collections.abc import Iterator

from gigavqa.benchmarks.vistahop.extra_tables import (
    call_table,
    evidence_table,
    judge_agreement_table,
    judge_score_table,
    process_table,
    text_only_table,
)
from gigavqa.benchmarks.vistahop.judging import ANNOTATOR
from gigavqa.benchmarks.vistahop.metrics import VistaHopBaseScores
from gigavqa.benchmarks.vistahop.rule_judge import RULES_VERSION
from gigavqa.benchmarks.vistahop.scores import VistaHopScores
from gigavqa.benchmarks.vistahop.sidecars import FAILURES, JUDGEMENTS, Sidecars
from gigavqa.benchmarks.vistahop.tables import composition_table, strata_table, table4, table5, table9
from gigavqa.evaluation.tables import Caveat, Contents


def report(base: VistaHopBaseScores, beside: Sidecars) -> Contents:
    """Fill the tables that have any row; `beside` holds what people said."""
    scores = VistaHopScores(base)
    tables = (
        table4(scores),
        table5(scores),
        text_only_table(scores),
        process_table(scores),
        evidence_table(scores),
        table9(scores),
        judge_score_table(scores),
        judge_agreement_table(scores),
        strata_table(scores),
        call_table(scores),
        composition_table(scores),
    )
    caveats = (*_report_caveats(scores), *_label_caveats(scores, beside), *_round_caveats(scores))
    return Contents(tables=tuple(table for table in tables if table.rows), caveats=caveats)


def _label_caveats(scores: VistaHopScores, beside: Sidecars) -> Iterator[Caveat]:
    """Count what people said of chats that are not here, as a slip in a job's name makes it."""
    chats = [chat for one in scores.settings for chat in one.chats.details]
    judged = sum(any(name.startswith(ANNOTATOR) for name, _ in chat.judges) for chat in chats)
    labelled = sum(bool(chat.label) for chat in chats)
    for file, named, found in ((JUDGEMENTS, beside.judgements, judged), (FAILURES, beside.failures, labelled)):
        if strays := len(named) - found:
            text = f"{file}: {strays} of the chats that it names have no answer among these responses"
            yield Caveat(scope="report", text=f"{text} ({found} have); what people said of them counts nowhere")


def _round_caveats(scores: VistaHopScores) -> Iterator[Caveat]:
    for one in scores.settings:
        beyond = sum(chat.rounds > one.limit > 0 for chat in one.chats.details)
        if beyond:
            text = f"{beyond} of {len(one.chats)} chats went on for more rounds than N = {one.limit} allows"
            yield Caveat(scope="cell", text=f"{scores.title(one)}: {text}, so that Util. is no share of it")


def _report_caveats(scores: VistaHopScores) -> Iterator[Caveat]:
    if scores.settings and not scores.base.judges:
        text = (
            f"answers are judged by {RULES_VERSION}, without any model; the paper's numbers are by a model that judges"
        )
        yield Caveat(
            scope="report", text=f"{text}, so compare them only where how judges agree is known ({JUDGEMENTS})"
        )
    unknown = [sample.id for sample in scores.samples if sample.hops is None]
    if unknown:
        text = f"{len(unknown)} of {len(scores.samples)} samples have no hops: they count in P@1, and in no level"
        yield Caveat(scope="report", text=text)
    sources = sorted({source for one in scores.settings for chat in one.chats.details for source in chat.sources})
    if len(sources) > 1:
        text = f"chats searched different sources, or one at different times: {'; '.join(sources)}"
        yield Caveat(scope="report", text=f"{text}; what they found may differ for that alone")
    for one in scores.settings:
        voided = int(one.chats.detail("voided", bool).sum())
        if voided:
            text = f"{voided} of {len(one.chats)} chats have a call by which the authors' program loses the sample"
            yield Caveat(
                scope="cell", text=f"{scores.title(one)}: {text}; they went on, and strict P@1 counts them wrong"
            )
