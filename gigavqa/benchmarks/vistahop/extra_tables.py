"""Tables that the paper has none of: how chats went, what evidence they had, and how judges agree."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from gigavqa.benchmarks.vistahop.asking import DIRECT
from gigavqa.benchmarks.vistahop.judging import ANNOTATOR
from gigavqa.benchmarks.vistahop.metrics import SettingScores, compare_judges, pass_at_1
from gigavqa.benchmarks.vistahop.rule_judge import RULES_VERSION
from gigavqa.benchmarks.vistahop.scores import VistaHopScores, count_column, number_column
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import estimate_share
from gigavqa.evaluation.tables import ColumnGroup, Row, Table, Value
from gigavqa.evaluation.verdicts import FILTERED

_STOPS = ("answered", "rounds", "context")
_STATUSES = ("tag", "whole", "unfinished", "empty")


def process_table(scores: VistaHopScores) -> Table:
    """Why chats ended, how answers were found, and how much of later prompts was reused."""
    names = _STOPS if not any(one.stops[FILTERED] for one in scores.settings) else (*_STOPS, FILTERED)
    stops = (number_column(name, name, "stop_share", "rate", 1, stop=name) for name in names)
    return Table(
        name="process",
        title="How chats went",
        caption="Chats by why they ended, in %; answers by how they were found; strict: Pass@1 where a call by which "
        "the authors' program loses a sample makes its chat wrong; reuse: of later rounds' prompts, "
        "the share of tokens that came from the prefix cache.",
        groups=(
            ColumnGroup(title="Ended by", columns=tuple(stops)),
            ColumnGroup(title="Answers", columns=tuple(count_column(name, name, status=name) for name in _STATUSES)),
            ColumnGroup(
                title="",
                columns=(
                    count_column("cut_off", "cut off"),
                    number_column("strict", "strict P@1", "strict_pass_at_1", "rate"),
                    number_column("reuse", "prefix reuse", "prefix_reuse", "rate", 1),
                    count_column("failed", "failed", of="requests"),
                    count_column("chats", "chats"),
                ),
            ),
        ),
        rows=tuple(_process_row(scores, one, names) for one in scores.settings),
    )


def _process_row(scores: VistaHopScores, one: SettingScores, stops: Sequence[str]) -> Row:
    chats = len(one.chats)
    return scores.row(
        one,
        (
            *(estimate_share(one.stops[name], chats) for name in stops),
            *(one.statuses[name] for name in _STATUSES),
            one.chats.counts("cut_off")[True],
            pass_at_1(one.strict_scores),
            one.reuse,
            one.failed,
            chats,
        ),
    )


def call_table(scores: VistaHopScores) -> Table:
    """Calls by tool and status."""
    rows = []
    for one in scores.settings:
        total = one.tools.total()
        for (name, status), found in sorted(one.tools.items()):
            keys = {"tool": name or "none", "status": status}
            title = f"{scores.title(one)} · {name or 'no tool'} · {status}"
            rows.append(scores.row(one, (found, estimate_share(found, total)), title, **keys))
    return Table(
        name="calls",
        title="Calls by tool and status",
        caption="Calls of all chats; those that are ok or not run, being in the last round, are counted calls.",
        groups=(
            ColumnGroup(
                title="",
                columns=(count_column("calls", "calls"), number_column("share", "share", "call_share", "rate", 1)),
            ),
        ),
        rows=tuple(rows),
        detail=True,
    )


def evidence_table(scores: VistaHopScores) -> Table:
    """Return whether crops showed anchors and searches found the chain's documents, where those are annotated."""
    rows = []
    for one in scores.settings:
        found = (one.anchors_seen, one.documents_found)
        if one.protocol != DIRECT and any(value.count for value in found):
            rows.append(scores.row(one, found))
    return Table(
        name="evidence",
        title="What chats saw and found",
        caption="In %. Anchor seen: a crop covers half of an anchor's box and shows its shorter side with 24 pixels or "
        "more. Documents found: share of the chain's documents among the results.",
        groups=(
            ColumnGroup(
                title="",
                columns=(
                    number_column("anchor", "anchor seen", "anchor_seen", "rate", 1),
                    number_column("documents", "documents found", "documents_found", "rate", 1),
                ),
            ),
        ),
        rows=tuple(rows),
    )


def text_only_table(scores: VistaHopScores) -> Table:
    """Return how often the question alone is enough."""
    return Table(
        name="text_only",
        title="Text-only answer rate",
        caption="Pass@1 without tools and without the picture, in %: what needs no look.",
        groups=(ColumnGroup(title="", columns=scores.level_columns()),),
        rows=tuple(
            scores.row(one, tuple(scores.passed(one.scores))) for one in scores.settings if one.condition == "V0"
        ),
    )


def _list_judges(scores: VistaHopScores) -> list[str]:
    """Return all judges of any chat: the rules, models that judged in their order, then others."""
    found = {name for one in scores.settings for chat in one.chats.details for name, _ in chat.judges}
    first = [name for name in (RULES_VERSION, *scores.base.judges) if name != RULES_VERSION or name in found]
    return first + sorted(found - {*first})


def judge_score_table(scores: VistaHopScores) -> Table:
    """Pass@1 by every judge, where there is one besides the rules."""
    found = _list_judges(scores)
    verdicts = (
        count_column("judged", "judged"),
        count_column("unreadable", "unreadable"),
        count_column("missing", "missing"),
    )
    return Table(
        name="by_judge",
        title="Pass@1 by judge",
        caption="In %, over the chats that each judged; verdicts that cannot be read, and those that are missing, are "
        "left out, and counted. Models are not asked about what is right to the word, nor about no answer; questions "
        "without a truth are left out.",
        groups=(
            ColumnGroup(title="Answer", columns=scores.level_columns()),
            ColumnGroup(title="Verdicts", columns=verdicts),
        ),
        rows=tuple(row for judge in found if found != [RULES_VERSION] for row in _judge_score_rows(scores, judge)),
    )


def _judge_score_rows(scores: VistaHopScores, judge: str) -> Iterator[Row]:
    for one in scores.settings:
        said = one.said_by(judge)
        judged = said[0] + said[1]
        if judged or said[-1] or judge in scores.base.judges:
            values: tuple[Value, ...] = (*scores.passed(one.judged_by(judge)), judged, said[-1], said[None])
            yield scores.row(one, values, f"{scores.title(one)} · {judge}", judge=judge)


def _agreement_rows(title: str, ones: Sequence[str], other: str, said: Sequence[Mapping[str, int]]) -> Iterator[Row]:
    """Yield how every verdict of some judges agrees with that of another one on the same chat."""
    found = compare_judges([(row[one], row[other]) for row in said for one in ones if one in row and other in row])
    if found.both or found.unreadable:
        kappa = NO_ESTIMATE if found.kappa is None else Estimate(value=found.kappa, count=found.both)
        values = (found.rate, kappa, found.both, found.unreadable)
        yield Row(title=f"{title} · {other}", keys={"judge": title, "other": other}, values=values)


def judge_agreement_table(scores: VistaHopScores) -> Table:
    """Return how every two judges of the same chats agree."""
    said = [dict(chat.judges) for setting in scores.settings for chat in setting.chats.details]
    names = _list_judges(scores)
    people = [name for name in names if name.startswith(ANNOTATOR)]
    rows = [row for one, other in combinations(names, 2) for row in _agreement_rows(one, [one], other, said)]
    if len(people) > 1:
        others = (name for name in names if name not in people)
        rows += [row for other in others for row in _agreement_rows("all annotators", people, other, said)]
    return Table(
        name="judges",
        title="How judges agree",
        caption="Over the chats that both judged, of all models and settings: the share on which both say the same, in "
        "%, and Cohen's kappa, which has no value where both always say one thing. People may have judged questions "
        "without a truth, too. All annotators: each of their verdicts by itself.",
        groups=(
            ColumnGroup(
                title="",
                columns=(
                    number_column("agreement", "agreement", "agreement", "rate", 1),
                    number_column("kappa", "kappa", "kappa", "number", 2),
                    count_column("both", "chats"),
                    count_column("unreadable", "unreadable"),
                ),
            ),
        ),
        rows=tuple(rows),
    )
