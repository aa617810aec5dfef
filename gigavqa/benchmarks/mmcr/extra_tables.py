"""Tables that the paper has none of: rotation by rotation, letters and statuses, what was shown, and both readers."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gigavqa.benchmarks.mmcr.asking import ROTATIONS
from gigavqa.benchmarks.mmcr.metrics import RotationScores, estimate_accuracy, estimate_shares
from gigavqa.benchmarks.mmcr.scores import MMCRScores, family_title, number_column, row_keys
from gigavqa.benchmarks.mmcr.taxonomy import LETTERS
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import estimate_share
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Value
from gigavqa.evaluation.verdicts import FILTERED

_STATUSES = ("option", "text", "refused", "unmatched")


def rotation_effect_table(scores: MMCRScores) -> Table:
    """Return how steady answers are over rotations, what was shown, and which letters are preferred."""
    return Table(
        name="consistency",
        title="Over rotations",
        caption="In %. Consistent: the same option in all rotations, right or wrong. Excess: by how much the commonest "
        "letter's share of the matched answers exceeds an even one. Pages and visual tokens are those of a prompt.",
        groups=(
            ColumnGroup(
                title="Accuracy",
                columns=(
                    number_column("circular", "circular", "circular_accuracy", strong=True),
                    number_column("mean", "mean over rotations", "mean_over_rotations"),
                    number_column("plain", "plain", "plain_accuracy"),
                    Column(key="repeats", title="over repeats", unit="text", note="of circular accuracy"),
                ),
            ),
            ColumnGroup(
                title="Answers",
                columns=(
                    number_column("consistent", "consistent", "consistency"),
                    number_column("excess", "excess", "position_excess", "difference"),
                    number_column("unmatched", "unmatched", "unmatched_rate", "loss", note="refused ones among them"),
                    number_column("refused", "refused", "refused_rate", "loss"),
                ),
            ),
            ColumnGroup(
                title="Shown",
                columns=(
                    Column(key="pages", title="pages", unit="text", keys={"metric": "pages"}),
                    Column(key="tokens", title="visual tokens", unit="text", keys={"metric": "visual_tokens"}),
                ),
            ),
        ),
        rows=tuple(_reading_row(scores, asked) for asked in scores.asked),
    )


def _reading_row(scores: MMCRScores, asked: RotationScores) -> Row:
    statuses, shown = asked.statuses, scores.shown(asked)
    replies, excess = statuses.total(), asked.excess
    return Row(
        title=f"{scores.title(asked)} · {family_title(asked.family)}",
        keys=row_keys(asked) | {"protocol": asked.family},
        values=(
            estimate_accuracy(asked.circular(), scores.questions),
            estimate_accuracy(asked.over_rotations(), scores.questions),
            estimate_accuracy(asked.plain(), scores.questions),
            asked.spread or None,
            estimate_accuracy(asked.consistent(), scores.questions),
            NO_ESTIMATE if excess is None else Estimate(value=excess, count=asked.positions.total()),
            estimate_share(replies - statuses["option"] - statuses["text"], replies),
            estimate_share(statuses["refused"], replies),
            _format_span(Counter(pages for pages, _, _ in shown.elements())),
            _format_span(Counter(tokens for _, tokens, _ in shown.elements())),
        ),
    )


def _format_span(found: Counter[int]) -> str | None:
    """One number, or the least, the greatest and the mean."""
    if not found:
        return None
    least, most = min(found), max(found)
    mean = sum(value * count for value, count in found.items()) / found.total()
    return f"{least:,}" if least == most else f"{least:,} to {most:,} (mean {mean:,.1f})"


def rotation_table(scores: MMCRScores) -> Table:
    """Return each rotation by itself: accuracy, letters as they were answered, and how answers were found."""
    letters = tuple(number_column(letter, letter, "position_share", keys={"letter": letter}) for letter in LETTERS)
    names = (*_STATUSES, FILTERED) if any(asked.statuses[FILTERED] for asked in scores.asked) else _STATUSES
    counts = tuple(
        Column(key=name, title=name, unit="count", keys={"metric": "replies", "status": name}) for name in names
    )
    return Table(
        name="rotations",
        title="By rotation",
        caption="Accuracy in %, the share of each letter among the matched answers as it was shown, and replies by how "
        "their answer was found.",
        groups=(
            ColumnGroup(title="", columns=(number_column("accuracy", "accuracy", "accuracy", strong=True),)),
            ColumnGroup(title="Letters answered", columns=letters),
            ColumnGroup(title="Replies", columns=counts),
        ),
        rows=tuple(row for asked in scores.asked for row in _rotation_rows(scores, asked, names)),
        detail=True,
    )


def _rotation_rows(scores: MMCRScores, asked: RotationScores, names: Sequence[str]) -> Iterator[Row]:
    for k in ROTATIONS:
        if statuses := asked.statuses_of(k):
            values: tuple[Value, ...] = (
                estimate_accuracy(asked.rotation(k), scores.questions),
                *estimate_shares(asked.positions_of(k), LETTERS),
                *(statuses[name] for name in names),
            )
            name = f"{asked.family}{k}"
            yield Row(title=f"{scores.title(asked)} · {name}", keys=row_keys(asked) | {"protocol": name}, values=values)


def matcher_table(scores: MMCRScores) -> Table:
    """Circular and plain accuracy by either reader, and how their letters compare."""
    rates = tuple(
        number_column(f"{reader} {key}", title, f"{key}_accuracy", keys={"matcher": reader})
        for reader, title_of_reader in (("matcher", "matcher"), ("careful", "careful"))
        for key, title in (("circular", f"circular, {title_of_reader}"), ("plain", f"plain, {title_of_reader}"))
    )
    counts = {
        "same": "same letter", "other": "another letter", "only_matcher": "matcher alone",
        "only_careful": "careful alone", "neither": "neither",
    }  # fmt: skip
    return Table(
        name="matchers",
        title="Matcher and careful reader",
        caption="Accuracy in % by the paper's rules and by the careful reader, and replies by what both found.",
        groups=(
            ColumnGroup(title="Accuracy", columns=rates),
            ColumnGroup(
                title="Replies",
                columns=tuple(
                    Column(key=key, title=title, unit="count", keys={"metric": key}) for key, title in counts.items()
                ),
            ),
        ),
        rows=tuple(
            Row(
                title=f"{scores.title(asked)} · {family_title(asked.family)}",
                keys={"model": asked.model, "condition": asked.condition, "protocol": asked.family},
                values=(
                    estimate_accuracy(asked.circular(), scores.questions),
                    estimate_accuracy(asked.plain(), scores.questions),
                    estimate_accuracy(asked.circular("careful"), scores.questions),
                    estimate_accuracy(asked.plain("careful"), scores.questions),
                    *(asked.agreement()[key] for key in counts),
                ),
            )
            for asked in scores.asked
        ),
        detail=True,
    )
