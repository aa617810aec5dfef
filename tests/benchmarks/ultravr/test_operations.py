"""Operation labels of tables C.2 to C.5."""

import numpy as np
import pytest

from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.benchmarks.ultravr.errors import StepUnknownError
from gigavqa.benchmarks.ultravr.metrics import OPERATIONS as NAMES
from gigavqa.benchmarks.ultravr.metrics import OperationAccuracies
from gigavqa.benchmarks.ultravr.operations import OPERATIONS, operation_of
from gigavqa.benchmarks.ultravr.samples import ReasoningStep
from gigavqa.benchmarks.ultravr.schemas import SCHEMAS
from gigavqa.benchmarks.ultravr.taxonomy import Category, Domain
from gigavqa.evaluation.metrics.accuracy import Strata
from gigavqa.evaluation.sample_columns import SampleColumns
from tests.benchmarks.ultravr.good_records import good_sample


def step(step_id: str, operation: str | None = None) -> ReasoningStep:
    """A step of which only the id and the record's own label matter."""
    fields = {
        "step_id": step_id,
        "question": "?",
        "ground_truth": 1,
        "answer_format": "integer",
        "operation": operation,
    }
    return ReasoningStep.model_validate(fields)


@pytest.mark.parametrize("task", SCHEMAS)
def test_every_step_of_every_schema_has_one_operation(task: tuple[Domain, Category]) -> None:
    """The tables cover exactly the steps that the schemas have."""
    assert sorted(OPERATIONS[task]) == sorted(SCHEMAS[task])


@pytest.mark.parametrize(
    ("name", "step_id", "operation"),
    [
        ("cctv-comparison", "S2", "PER"),
        ("cctv-comparison", "S9", "QUA"),
        ("cctv-logic", "S10", "INT"),
        ("cctv-relation", "S7", "INF"),
        ("rs-comparison", "S6", "INT"),
        ("rs-logic", "S5", "INF"),
        ("rs-relation", "S5", "INT"),
        ("wsi-comparison", "Q2.1", "GND"),
        ("wsi-comparison", "Q5.2", "INT"),
        ("ad-coordinate", "S3", "GND"),
        ("ad-coordinate", "S7", "PER"),
    ],
)
def test_a_step_has_the_operation_of_its_table(name: str, step_id: str, operation: str) -> None:
    """Spot checks against the printed tables."""
    assert operation_of(good_sample(name), step(step_id)) == operation


def test_the_records_own_label_wins() -> None:
    """A record may carry its own operation."""
    assert operation_of(good_sample("rs-logic"), step("S1", "INF")) == "INF"


@pytest.mark.parametrize(("name", "step_id"), [("rs-logic", "S6"), ("ad-coordinate", "S8"), ("ad-coordinate", "Q1")])
def test_a_step_outside_the_schema_names_the_sample(name: str, step_id: str) -> None:
    """Pushpins end at S7."""
    with pytest.raises(StepUnknownError, match=f"sample '{name}': step '{step_id}'"):
        operation_of(good_sample(name), step(step_id))


def test_step_intervals_have_a_width_where_all_steps_are_right() -> None:
    """Two steps of every operation in each of eight samples: no error, and as far as 0 goes none for certain."""
    samples = [good_sample(name, id=f"{name}{at}") for name in ("rs-logic", "ad-choice") for at in range(4)]
    steps = np.full((8, len(NAMES)), 2.0)
    accuracies = OperationAccuracies(steps, steps, Strata.of(SampleColumns.of(samples), UltraVR.grouping))

    mean, deltas = accuracies.errors()

    assert (mean.value, mean.low) == (0.0, 0.0)
    for estimate in (mean, *accuracies.macro().values(), *deltas.values()):
        assert (estimate.high or 0.0) - (estimate.low or 0.0) > 0.05
