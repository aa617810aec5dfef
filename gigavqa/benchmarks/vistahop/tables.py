"""Tables 4, 5 and 9 of the paper, and the composition of the data (Tables 3 and 8)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gigavqa.benchmarks.vistahop.asking import DIRECT, PAPERS_ROUNDS, SEARCH, SEARCH_CROP
from gigavqa.benchmarks.vistahop.judging import VistaHopDetails
from gigavqa.benchmarks.vistahop.metrics import SettingScores, estimate_gap, pass_at_1
from gigavqa.benchmarks.vistahop.scores import PROTOCOL_TITLES, VistaHopScores, count_column, number_column
from gigavqa.benchmarks.vistahop.sidecars import FAILURE_TYPES, UNLABELLED
from gigavqa.benchmarks.vistahop.taxonomy import ANCHOR_KINDS, ANSWER_TYPES, CATEGORIES, FORMS, LEVELS
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import estimate_share
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Value, mean_estimate
from gigavqa.evaluation.verdicts import FILTERED

_SEVERAL = 2
PROCESS_COLUMNS = (
    number_column("calls", "Calls", "calls", note="valid calls of a chat, those of its last round among them"),
    number_column("rounds", "Rnds", "rounds", note="answers of a chat, the last one among them"),
    number_column(
        "utilization", "Util.", "utilization", "rate", 1, note="calls as a share of the rounds that were allowed"
    ),
)


def _process_values(one: SettingScores) -> tuple[Estimate, ...]:
    if one.protocol == DIRECT:
        chats = len(one.chats)
        return tuple(Estimate(value=value, count=chats) for value in (0.0, 1.0, 0.0))
    return one.calls, one.rounds, one.utilization


def table4(scores: VistaHopScores) -> Table:
    """Return what search and zooms add, model by model; means over models below."""
    rows = [row for model in scores.base.models for row in _comparison_rows(scores, model)]
    columns = (*scores.level_columns(), *PROCESS_COLUMNS)
    alike = [row for row in rows if row.keys["protocol"] == DIRECT or row.keys["rounds"] == str(PAPERS_ROUNDS)]
    means = [mean for name in PROTOCOL_TITLES if (mean := _mean_row(name, alike, columns))]
    return Table(
        name="table4",
        title="Table 4: what tools add",
        caption="Pass@1 in %, over repeats first and over samples then, with Wilson's interval; gains are Search less "
        "No-Tool and Search+Crop less Search with as many rounds, over the samples that both have; means are of rows "
        f"with N = {PAPERS_ROUNDS} alone. L2 has 5 to 9 hops, L3 ten or more. Judged by {scores.judge}.",
        groups=(
            ColumnGroup(title="Answer", columns=columns[: -len(PROCESS_COLUMNS)]),
            ColumnGroup(title="Process", columns=PROCESS_COLUMNS),
            ColumnGroup(
                title="Gain",
                columns=(
                    number_column("gain", "gain", "gain", "difference", note="over the setting before it"),
                    count_column("chats", "chats"),
                ),
            ),
        ),
        rows=(*rows, *means),
    )


def _comparison_rows(scores: VistaHopScores, model: str) -> Iterator[Row]:
    found = scores.compared(model)
    before = {SEARCH: DIRECT, SEARCH_CROP: SEARCH}
    for name, one in found.items():
        other = found.get(before.get(name, ""))
        is_alike = other and (other.protocol == DIRECT or other.limit == one.limit)
        gain = estimate_gap(one.scores, other.scores) if other and is_alike else None
        yield scores.row(one, (*scores.passed(one.scores), *_process_values(one), gain, len(one.chats)))


def _mean_row(protocol: str, rows: Sequence[Row], columns: Sequence[Column]) -> Row | None:
    """Plain means over the models of a setting, as the paper's text has them."""
    alike = [row.values for row in rows if row.keys["protocol"] == protocol]
    if len(alike) < _SEVERAL:
        return None
    values: list[Value] = [mean_estimate([row[at] for row in alike]) for at in range(len(columns) + 1)]
    keys = {"model": "mean", "protocol": protocol}
    return Row(title=f"Mean · {PROTOCOL_TITLES[protocol]}", keys=keys, values=(*values, None), summary=True)


def table5(scores: VistaHopScores) -> Table:
    """Search+Crop with ever more rounds, where a model was given different numbers of them."""
    rows = []
    for model in scores.base.models:
        found = [one for one in scores.pictured(model) if one.protocol == SEARCH_CROP]
        for one in found if len(found) >= _SEVERAL else ():
            title = scores.named(model, f"N = {one.limit}")
            rows.append(scores.row(one, (*scores.passed(one.scores), *_process_values(one), len(one.chats)), title))
    return Table(
        name="table5",
        title="Table 5: the limit of rounds",
        caption=f"Search+Crop, in %. N bounds the rounds, the answer among them. Judged by {scores.judge}.",
        groups=(
            ColumnGroup(title="Answer", columns=scores.level_columns()),
            ColumnGroup(title="Process", columns=(*PROCESS_COLUMNS, count_column("chats", "chats"))),
        ),
        rows=tuple(rows),
    )


_DIMENSIONS: dict[str, tuple[str, ...]] = {
    "level": LEVELS,
    "answer type": tuple(ANSWER_TYPES),
    "anchor": tuple(ANCHOR_KINDS),
    "form": tuple(FORMS),
    "category": CATEGORIES,
    "scenario": (),
    "hops": (),
}


def stratum_names(scores: VistaHopScores, dimension: str) -> list[str]:
    """Return the names that a dimension has in the data, those of the paper first."""
    used = {name for sample in scores.samples if (name := sample.groups.get(dimension))}
    known = [name for name in _DIMENSIONS[dimension] if name in used]
    return known + sorted(used - set(known), key=lambda name: (int(name) if name.isdecimal() else 0, name))


def composition_table(scores: VistaHopScores) -> Table:
    """Return how many samples of each kind there are, from the data alone."""
    return Table(
        name="composition",
        title="Tables 3 and 8: composition of the data",
        caption="Samples by what they are sorted by, with their pictures and the mean number of their hops.",
        groups=(
            ColumnGroup(
                title="",
                columns=(
                    count_column("samples", "samples"),
                    count_column("pictures", "pictures"),
                    number_column("hops", "mean hops", "hops"),
                ),
            ),
        ),
        rows=tuple(
            row
            for dimension in _DIMENSIONS
            for name in stratum_names(scores, dimension)
            for row in (_composition_row(scores, dimension, name),)
        ),
        detail=True,
    )


def _composition_row(scores: VistaHopScores, dimension: str, name: str) -> Row:
    samples = [scores.samples[at] for at in scores.positions(dimension, name)]
    hops = [sample.hops for sample in samples if sample.hops is not None]
    return Row(
        title=f"{dimension} · {name}",
        keys={"dimension": dimension, "name": name},
        values=(
            len(samples),
            len({sample.images[0] for sample in samples if sample.images}),
            Estimate(value=sum(hops) / len(hops), count=len(hops)) if hops else NO_ESTIMATE,
        ),
    )


def strata_table(scores: VistaHopScores) -> Table:
    """Pass@1 of every stratum, with the settings of Table 4."""
    protocols = [name for name in PROTOCOL_TITLES if any(one.protocol == name for one in scores.settings)]
    rows = []
    for model in scores.base.models:
        found = scores.compared(model)
        loops = (one for one in found.values() if one.protocol != DIRECT and one.limit != PAPERS_ROUNDS)
        others = [f"{PROTOCOL_TITLES[one.protocol]} N = {one.limit}" for one in loops]
        for dimension in _DIMENSIONS if found else ():
            for name in stratum_names(scores, dimension):
                at = scores.positions(dimension, name)
                values = [pass_at_1(found[one].scores, at) if one in found else NO_ESTIMATE for one in protocols]
                title = scores.named(model, dimension, name, *others)
                keys = {"model": model, "dimension": dimension, "name": name}
                rows.append(Row(title=title, keys=keys, values=(*values, len(at))))
    columns = (number_column(name, PROTOCOL_TITLES[name], "pass_at_1", "rate", 2, protocol=name) for name in protocols)
    return Table(
        name="strata",
        title="Pass@1 by stratum",
        caption=f"In %, with the settings of Table 4. Judged by {scores.judge}.",
        groups=(
            ColumnGroup(title="Pass@1", columns=tuple(columns)),
            ColumnGroup(title="", columns=(count_column("samples", "samples"),)),
        ),
        rows=tuple(rows),
        detail=True,
    )


def classify_failure(chat: VistaHopDetails, fused: bool) -> str:
    """Return what our rules say that an incorrect chat failed by: the first that holds."""
    said = {verdict for _, verdict in chat.judges if verdict >= 0}
    holds = {
        "anchor": chat.anchor == 0,
        "drift": chat.drift == 1,
        "planning": chat.stop not in ("answered", FILTERED),
        "fusion": fused,
        "boundary": len(said) > 1,
    }
    return next((name for name in FAILURE_TYPES if holds[name]), UNLABELLED)


def table9(scores: VistaHopScores) -> Table:
    """Return what incorrect chats with all tools failed by: as people found, and by rules of ours."""
    rows = []
    for one in (one for one in scores.settings if one.protocol == SEARCH_CROP):
        wrong = one.chats.where(score=0.0)
        fused = (scores.samples[at].is_fused for at in wrong.sample.tolist())
        ruled = Counter(map(classify_failure, wrong.details, fused))
        told = Counter(chat.label for chat in wrong.details if chat.label)
        for source, counts in (("people", told), ("rules of ours", ruled)):
            if total := counts.total():
                values = [estimate_share(counts[name], total) for name in (*FAILURE_TYPES, UNLABELLED)]
                title = f"{scores.title(one)} · {source}"
                rows.append(scores.row(one, (*values, total), title, source=source))
    names = {**FAILURE_TYPES, UNLABELLED: "none of these"}
    columns = (
        number_column(name, name, "failure_share", "loss", 1, note=told, type=name) for name, told in names.items()
    )
    return Table(
        name="table9",
        title="Table 9: what incorrect chats fail by",
        caption="Shares of the incorrect Search+Crop chats, in %. Rules of ours take the first that holds: no crop "
        "showed an anchor; the documents of a hop were never found; the chat ended without an answer; the question is "
        "fused; judges disagree.",
        groups=(
            ColumnGroup(title="Share", columns=tuple(columns)),
            ColumnGroup(title="", columns=(count_column("chats", "chats"),)),
        ),
        rows=tuple(rows),
    )
