"""The score frame: rows of judged replies, the same in whatever order they came."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.evaluation.score_frame import NO_SCORE, CellKey, ReplyScore, ScoreFrame

CELLS = [CellKey("b", "S0", "V2"), CellKey("a", "S0", "V2"), CellKey("a", "S0", "V1")]
JOBS = ["job-2", "job-1"]


class Pixels(NamedTuple):
    """What a benchmark may keep of a reply."""

    pixels: int


SCORES = [
    ReplyScore("marker", "right", 1.0, details=Pixels(3)),
    ReplyScore("last", "wrong", 0.0, details=Pixels(5)),
    ReplyScore("last", "partial", 1 / 3, details=Pixels(5), trait="odd"),
    ReplyScore("last", "partial", 1 / 3, details=Pixels(4)),
    ReplyScore("none", "unscored", NO_SCORE),
    ReplyScore("", "failed", failure="EngineError"),
]
SAMPLES = 4

Row = tuple[int, int, int, int, int]
rows_of_frames = st.lists(
    st.tuples(
        st.integers(0, len(CELLS) - 1),
        st.integers(0, len(JOBS) - 1),
        st.integers(0, 2),
        st.integers(0, SAMPLES - 1),
        st.integers(0, len(SCORES) - 1),
    ),
    max_size=40,
)


def frame_of(rows: Sequence[Row], cells: Sequence[CellKey] = CELLS, jobs: Sequence[str] = JOBS) -> ScoreFrame[Pixels]:
    """The frame of rows, each cell, job, repeat, sample and score by number."""
    return ScoreFrame.of(cells, jobs, SCORES, [[row[at] for row in rows] for at in range(5)])


@settings(deadline=None, max_examples=100, derandomize=True)
@given(rows=rows_of_frames, seed=st.integers(0, 99))
def test_a_frame_is_the_same_in_whatever_order_its_rows_came(rows: list[Row], seed: int) -> None:
    """And in whatever order cells and jobs were met."""
    drawn = random.Random(seed)
    other = drawn.sample(rows, len(rows))
    turned = [(len(CELLS) - 1 - cell, 1 - job, *rest) for cell, job, *rest in other]
    frames = (frame_of(rows), frame_of(other), frame_of(turned, CELLS[::-1], JOBS[::-1]))  # type: ignore[arg-type]
    first, *others = ([repr(row) for row in frame] for frame in frames)
    assert others == [first, first]
    places = [(cell, job, repeat, sample) for cell, job, repeat, sample, _ in frames[0]]
    assert places == sorted(places)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(rows=rows_of_frames)
def test_what_a_frame_says_is_what_its_rows_say(rows: list[Row]) -> None:
    """Of every cell: how many there are of each value, their means by sample, and their repeats."""
    frame = frame_of(rows)
    for number, key in enumerate(CELLS):
        found, own = frame.of_cell(key), [row for row in rows if row[0] == number]
        assert found.counts("outcome") == Counter(SCORES[row[4]].outcome for row in own)
        assert found.counts("sample") == Counter(row[3] for row in own)
        assert len(found.answered) == sum(not SCORES[row[4]].failure for row in own)
        assert len(found.where(status="last", repeat=1)) == sum(
            SCORES[row[4]].status == "last" and row[2] == 1 for row in own
        )
        assert {key: len(one) for key, one in found.by_repeat().items()} == Counter(
            (JOBS[row[1]], row[2]) for row in own
        )
        for sample, mean in enumerate(found.means(SAMPLES).tolist()):
            scores = [score for row in own if row[3] == sample and not np.isnan(score := SCORES[row[4]].score)]
            assert mean == pytest.approx(sum(scores) / len(scores)) if scores else np.isnan(mean)


def test_columns_of_details_are_typed_and_stand_for_rows_that_have_some() -> None:
    """Rows of failures have none."""
    frame = frame_of([(0, 0, 0, at, score) for at, score in enumerate((0, 1, 4, 5))])
    detailed = frame.detailed
    assert detailed.detail("pixels", int).dtype == np.int64
    assert [one.pixels for one in detailed.details] == detailed.detail("pixels", int).tolist() == [3, 5]
    assert frame.column("condition").tolist() == ["V2"] * 4
    assert frame.column("score").dtype == np.float64
    assert frame.traits == {}
    with pytest.raises(AttributeError):
        frame.column("nothing")


def test_a_cell_that_was_not_asked_has_no_rows() -> None:
    """And no means."""
    frame = frame_of([]).of_cell(CellKey("c", "S0", "V2"))
    assert len(frame) == 0
    assert np.isnan(frame.means(SAMPLES)).all()
    assert frame.by_repeat() == {}
