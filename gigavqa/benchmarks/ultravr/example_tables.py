"""The examples that S3 told: which, where they come from, and how often there were too few."""

from collections import Counter
from collections.abc import Iterator

from gigavqa.benchmarks.ultravr.examples import SCORED_SET
from gigavqa.benchmarks.ultravr.judging import UltraVRDetails
from gigavqa.evaluation.samples import EXAMPLES
from gigavqa.evaluation.score_frame import CellKey, ScoreFrame
from gigavqa.evaluation.tables import Caveat, Column, ColumnGroup, Row, Table

_COLUMNS = (
    Column(key="from", title="from", unit="text", keys={"metric": "example_origin"}),
    Column(key="told", title="responses", unit="count", keys={"metric": "examples_told"}),
)


def example_table(frame: ScoreFrame[UltraVRDetails]) -> Table:
    """Return one row for each sample that was told as an example, those that were set apart first."""
    told: Counter[tuple[str, str]] = Counter()
    for (_, origin, *ids), count in _told(frame).items():
        told.update(dict.fromkeys(((origin, one) for one in ids), count))
    origins = {EXAMPLES: "set apart, never asked", SCORED_SET: "scored set"}
    return Table(
        name="examples",
        title="Examples of S3",
        caption="Whose trajectories S3 told, and to how many responses. An example of the scored set is asked and "
        'scored itself; records with `"split": "examples"` are not.',
        groups=(ColumnGroup(title="", columns=_COLUMNS),),
        rows=tuple(
            Row(title=one, keys={"example": one, "from": origin}, values=(origins[origin], count))
            for (origin, one), count in sorted(told.items(), key=lambda item: (item[0][0] != EXAMPLES, item[0]))
        ),
        detail=True,
    )


def example_caveats(frame: ScoreFrame[UltraVRDetails]) -> Iterator[Caveat]:
    """Tell of responses to S3 whose prompts told fewer examples than others, or such that are asked themselves."""
    for key in frame.cells:
        yield from (Caveat(scope="cell", text=f"{key}: {text}") for text in _faults(frame, key))


def _faults(frame: ScoreFrame[UltraVRDetails], key: CellKey) -> Iterator[str]:
    traits = _told(frame.of_cell(key))
    numbers, origins = Counter[int](), Counter[str]()
    for (number, origin, *_), count in traits.items():
        numbers[number] += count
        origins[origin] += count
    total, most = numbers.total(), max(numbers, default=0)
    if none := numbers[0]:
        yield f"{none} of {total} responses were told no example, for want of one on another image"
    if fewer := sum(count for number, count in numbers.items() if 0 < number < most):
        yield f"{fewer} of {total} responses were told fewer examples than the others"
    scored = origins[SCORED_SET] - none
    if origins[EXAMPLES] and scored:
        yield f"{scored} of {total} responses were told examples of the scored set, as none of their kind is set apart"


def _told(frame: ScoreFrame[UltraVRDetails]) -> Counter[tuple[int, str, *tuple[str, ...]]]:
    """Return by how many examples were told, from where and which, the number of responses.

    What was counted before origins were is of the scored set.
    """
    found: Counter[tuple[int, str, *tuple[str, ...]]] = Counter()
    for (name, number, *rest), count in frame.traits.items():
        if name == "examples":
            origin, *ids = rest or (SCORED_SET,)
            found[number, origin, *ids] += count
    return found
