"""Figure 2: where the way from question to answer fails (equations 6 to 8), as tables and what is drawn of them."""

from collections.abc import Sequence

from gigavqa.benchmarks.ultravr.metrics import OPERATIONS
from gigavqa.benchmarks.ultravr.scores import (
    FAILURE_STAGES,
    StepScores,
    cells_of_protocol,
    model_row,
    named_columns,
    operation_values,
)
from gigavqa.evaluation.metrics.accuracy import Contrast, group_accuracies
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE
from gigavqa.evaluation.tables import Column, ColumnGroup, Contents, Figure, Row, Table

_FIGURES = (
    Figure(
        name="figure2a",
        caption="Figure 2a. Relative operation difficulty under S2: step error less the model's mean.",
        form="differences",
        axis="Δ step error (points)",
        table="figure2a",
        columns=OPERATIONS,
        replaces_table=True,
    ),
    Figure(
        name="figure2b",
        caption="Figure 2b. Operation recoverability under S5: step accuracy behind ground-truth steps.",
        form="bars",
        axis="step accuracy (%)",
        table="figure2b",
        columns=OPERATIONS,
        replaces_table=True,
    ),
    Figure(
        name="figure2c",
        caption="Figure 2c. Where S4 trajectories fail first: share of trajectories in %.",
        form="shares",
        table="figure2c",
        columns=FAILURE_STAGES,
        replaces_table=True,
    ),
)


def figure2_contents(cells: Sequence[StepScores]) -> Contents:
    """Fill the parts of Figure 2 from S2, S5 and S4 under V2; what has rows is drawn."""
    s2, s5, s4 = (cells_of_protocol(cells, protocol) for protocol in ("S2", "S5", "S4"))
    tables = (_figure2a(s2), _figure2b(s5), _figure2c(s4))
    drawn = {table.name for table in tables if table.rows}
    return Contents(
        tables=(*tables, _figure2c_domains(s4)), figures=tuple(one for one in _FIGURES if one.table in drawn)
    )


def _figure2a(cells: Sequence[StepScores]) -> Table:
    """Return how far each operation's step error under S2 lies from their mean (equation 6)."""
    at = {"protocol": "S2", "condition": "V2"}
    mean = Column(key="mean_error", title="mean error", label="mean step error (%)", unit="loss", strong=True,
                  keys={**at, "metric": "mean_step_error"})  # fmt: skip
    rows = []
    for steps in cells:
        error, deltas = steps.accuracies.errors()
        values = (error, *(deltas.get(operation, NO_ESTIMATE) for operation in OPERATIONS))
        rows.append(model_row(steps, values))
    return Table(
        name="figure2a",
        title="Figure 2a: step error under S2",
        caption="By operation, in points from the model's mean; the mean in %.",
        groups=(
            ColumnGroup(title="", columns=(mean,)),
            ColumnGroup(title="Operation", columns=named_columns(OPERATIONS, "step_error_delta", at, "difference")),
        ),
        rows=tuple(rows),
    )


def _figure2b(cells: Sequence[StepScores]) -> Table:
    """Step accuracy under S5 by operation (equation 5)."""
    columns = named_columns(OPERATIONS, "step_accuracy", {"protocol": "S5", "condition": "V2"})
    return Table(
        name="figure2b",
        title="Figure 2b: step accuracy under S5",
        caption="By operation, in %.",
        groups=(ColumnGroup(title="Operation", columns=columns),),
        rows=tuple(model_row(steps, operation_values(steps.accuracies.macro())) for steps in cells),
    )


def _figure2c(cells: Sequence[StepScores]) -> Table:
    """Shares of S4 trajectories by where they fail first (equation 8); counts trajectories."""
    columns = named_columns(FAILURE_STAGES, "first_error", {"protocol": "S4", "condition": "V2"})
    contrasts = [
        (steps, Contrast({str(name): share for name, share in steps.outcomes().items()}, steps.strata))
        for steps in cells
    ]
    return Table(
        name="figure2c",
        title="Figure 2c: where S4 fails first",
        caption="In % of trajectories.",
        groups=(ColumnGroup(title="First error", columns=columns),),
        rows=tuple(
            model_row(steps, [contrast.accuracy(outcome) for outcome in FAILURE_STAGES])
            for steps, contrast in contrasts
        ),
    )


def _figure2c_domains(cells: Sequence[StepScores]) -> Table:
    """Return the shares of Figure 2c within each domain."""
    rows: list[Row] = []
    for steps in cells:
        shares = {outcome: group_accuracies(share, steps.strata) for outcome, share in steps.outcomes().items()}
        known = [domain for domain in steps.strata.groups if shares["NoErr"][domain].value is not None]
        rows += [steps.row([shares[name][domain] for name in FAILURE_STAGES], domain=domain) for domain in known]
    return Table(
        name="figure2c_domains",
        title="Figure 2c by domain",
        caption="Where S4 fails first, in % of trajectories.",
        groups=(ColumnGroup(title="First error", columns=named_columns(FAILURE_STAGES, "first_error", {})),),
        rows=tuple(rows),
        detail=True,
    )
