"""Tables of judges: whose verdicts the scores are, and what each judge said."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.evaluation.judgements import Panel
from gigavqa.evaluation.metrics.intervals import estimate_share
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Caveat, Column, ColumnGroup, Contents, Row, Table
from gigavqa.runtime.plurals import count_noun

_JUDGEMENTS = ("yes", "no", "unreadable")


def judge_caveats(
    panel: Panel, judged: AbstractSet[str], catalogue: Mapping[str, CatalogueEntry]
) -> tuple[Caveat, ...]:
    """Say whose verdicts the scores are, and what must be known of those who gave them to the models `judged`."""
    return tuple(Caveat(scope="report", text=text) for text in _judge_caveats(panel, judged, catalogue))


def _judge_caveats(panel: Panel, judged: AbstractSet[str], catalogue: Mapping[str, CatalogueEntry]) -> Iterator[str]:
    if panel.judges:
        first, *others = panel.names
        yield f"right and wrong are by {first}{'; beside it ' if others else ''}{', '.join(others)}"
    for one in panel.judges:
        if one.model in judged:
            yield f"{one.name} judges answers of its own, too, which models may favour"
        if one.model in catalogue and catalogue[one.model].random_weights:
            yield f"{one.name}: its weights are random; its verdicts mean nothing"
        if one.simulated:
            yield f"{one.name}: {one.simulated} verdicts come from the simulated engine; no model judged"
        if one.failed:
            yield f"{one.name}: {count_noun(one.failed, 'request')} brought no verdict"
        if one.contradicted:
            cases = count_noun(len(one.contradicted), "case")
            yield f"{one.name}: said yes and no of {cases}; the earlier verdict counts"
        if strays := len(one.said.keys() - one.asked):
            yield f"{one.name}: {count_noun(strays, 'verdict')} fit no answer among these responses, and count nowhere"


def judgement_contents(scores: AnyScores) -> Contents:
    """Return what models said of the cases that they were asked about, where nothing else is reported."""
    columns = (
        Column(key="share", title="yes", keys={"metric": "yes_rate"}, note="of the verdicts that can be read"),
        *(Column(key=name, title=name, unit="count", keys={"metric": name}) for name in (*_JUDGEMENTS, "failed")),
    )
    table = Table(
        name="judgements",
        title="What judges said",
        caption="Verdicts on different answers, each with each truth once, however many replies gave it. Reports over "
        "the judged jobs join them where they name this job as `judge`.",
        groups=(ColumnGroup(title="", columns=columns),),
        rows=tuple(_row(scores, key) for key in scores.cells),
    )
    return Contents(tables=(table,))


def _row(scores: AnyScores, key: CellKey) -> Row:
    frame = scores.frame.of_cell(key)
    said = frame.answered.counts("status")
    read = said["yes"] + said["no"]
    values = (
        estimate_share(said["yes"], read),
        *(said[name] for name in _JUDGEMENTS),
        len(frame) - len(frame.answered),
    )
    return Row(title=scores.title_of(key.model), keys=key.keys, values=values)
