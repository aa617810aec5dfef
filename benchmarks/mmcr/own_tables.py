"""Tables that the paper has none of: rotation by rotation, letters and statuses, what was shown, and both readers."""

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.mmcr.asking import ROTATIONS
from benchmarks.mmcr.metrics import Asked, accuracy, share, shares
from benchmarks.mmcr.sheet import Sheet, column, family_title, keys_of
from benchmarks.mmcr.taxonomy import LETTERS
from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.tables import Column, Group, Row, Table, Value
from evaluation.verdicts import FILTERED

_STATUSES = ("option", "text", "refused", "unmatched")


def readings(sheet: Sheet) -> Table:
    """How steady answers are over rotations, what was shown, and which letters are preferred."""
    return Table(
        name="consistency",
        title="Over rotations",
        caption="In %. Consistent: the same option in all rotations, right or wrong. Excess: by how much the commonest "
        "letter's share of the matched answers exceeds an even one. Pages and visual tokens are those of a prompt.",
        groups=(
            Group(
                title="Accuracy",
                columns=(
                    column("circular", "circular", "circular_accuracy", strong=True),
                    column("mean", "mean over rotations", "mean_over_rotations"),
                    column("plain", "plain", "plain_accuracy"),
                    Column(key="repeats", title="over repeats", unit="text", note="of circular accuracy"),
                ),
            ),
            Group(
                title="Answers",
                columns=(
                    column("consistent", "consistent", "consistency"),
                    column("excess", "excess", "position_excess", "difference"),
                    column("unmatched", "unmatched", "unmatched_rate", "loss", note="refused ones among them"),
                    column("refused", "refused", "refused_rate", "loss"),
                ),
            ),
            Group(
                title="Shown",
                columns=(
                    Column(key="pages", title="pages", unit="text", keys={"metric": "pages"}),
                    Column(key="tokens", title="visual tokens", unit="text", keys={"metric": "visual_tokens"}),
                ),
            ),
        ),
        rows=tuple(_reading_row(sheet, asked) for asked in sheet.asked),
    )


def _reading_row(sheet: Sheet, asked: Asked) -> Row:
    statuses, shown = asked.statuses, sheet.shown(asked)
    replies, excess = statuses.total(), asked.excess
    return Row(
        title=f"{sheet.title(asked)} · {family_title(asked.family)}",
        keys=keys_of(asked) | {"protocol": asked.family},
        values=(
            accuracy(asked.circular(), sheet.questions),
            accuracy(asked.over_rotations(), sheet.questions),
            accuracy(asked.plain(), sheet.questions),
            asked.spread or None,
            accuracy(asked.consistent(), sheet.questions),
            NOTHING if excess is None else Estimate(value=excess, count=asked.positions.total()),
            share(replies - statuses["option"] - statuses["text"], replies),
            share(statuses["refused"], replies),
            _span(Counter(pages for pages, _, _ in shown.elements())),
            _span(Counter(tokens for _, tokens, _ in shown.elements())),
        ),
    )


def _span(found: Counter[int]) -> str | None:
    """One number, or the least, the greatest and the mean."""
    if not found:
        return None
    least, most = min(found), max(found)
    mean = sum(value * count for value, count in found.items()) / found.total()
    return f"{least:,}" if least == most else f"{least:,} to {most:,} (mean {mean:,.1f})"


def rotations(sheet: Sheet) -> Table:
    """Each rotation by itself: accuracy, letters as they were answered, and how answers were found."""
    letters = tuple(column(letter, letter, "position_share", keys={"letter": letter}) for letter in LETTERS)
    names = (*_STATUSES, FILTERED) if any(asked.statuses[FILTERED] for asked in sheet.asked) else _STATUSES
    counts = tuple(
        Column(key=name, title=name, unit="count", keys={"metric": "replies", "status": name}) for name in names
    )
    return Table(
        name="rotations",
        title="By rotation",
        caption="Accuracy in %, the share of each letter among the matched answers as it was shown, and replies by how "
        "their answer was found.",
        groups=(
            Group(title="", columns=(column("accuracy", "accuracy", "accuracy", strong=True),)),
            Group(title="Letters answered", columns=letters),
            Group(title="Replies", columns=counts),
        ),
        rows=tuple(row for asked in sheet.asked for row in _rotation_rows(sheet, asked, names)),
        detail=True,
    )


def _rotation_rows(sheet: Sheet, asked: Asked, names: Sequence[str]) -> Iterator[Row]:
    for k in ROTATIONS:
        if statuses := asked.statuses_of(k):
            values: tuple[Value, ...] = (
                accuracy(asked.rotation(k), sheet.questions),
                *shares(asked.positions_of(k), LETTERS),
                *(statuses[name] for name in names),
            )
            name = f"{asked.family}{k}"
            yield Row(title=f"{sheet.title(asked)} · {name}", keys=keys_of(asked) | {"protocol": name}, values=values)


def matchers(sheet: Sheet) -> Table:
    """Circular and plain accuracy by either reader, and how their letters compare."""
    rates = tuple(
        column(f"{reader} {key}", title, f"{key}_accuracy", keys={"matcher": reader})
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
            Group(title="Accuracy", columns=rates),
            Group(
                title="Replies",
                columns=tuple(
                    Column(key=key, title=title, unit="count", keys={"metric": key}) for key, title in counts.items()
                ),
            ),
        ),
        rows=tuple(
            Row(
                title=f"{sheet.title(asked)} · {family_title(asked.family)}",
                keys={"model": asked.model, "condition": asked.condition, "protocol": asked.family},
                values=(
                    accuracy(asked.circular(), sheet.questions),
                    accuracy(asked.plain(), sheet.questions),
                    accuracy(asked.circular("careful"), sheet.questions),
                    accuracy(asked.plain("careful"), sheet.questions),
                    *(asked.agreement()[key] for key in counts),
                ),
            )
            for asked in sheet.asked
        ),
        detail=True,
    )
