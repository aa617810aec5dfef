"""Plans: named lists of (protocol, condition) pairs."""

from typing import get_args

from benchmarks.ultravr.protocols.registry import PROTOCOLS
from catalogue.names import did_you_mean
from evaluation.errors import PlanUnknownError, ProtocolUnavailableError
from jobs.models import Cell, Condition, JobSpec

CONDITIONS: tuple[Condition, ...] = get_args(Condition)


def _cells(protocols: str, conditions: str) -> tuple[Cell, ...]:
    return tuple(
        Cell.model_validate({"protocol": protocol, "condition": condition})
        for protocol in protocols.split()
        for condition in conditions.split()
    )


_TABLE1 = _cells("S0", "V2 V0")
_TABLE2 = _cells("S0", "V1 V2 V3 V4")
_TABLE3 = _cells("S0 S1 S2 S3 S4 S5", "V2")

PLANS: dict[str, tuple[Cell, ...]] = {
    "table1": _TABLE1,
    "table2": _TABLE2,
    "table3": _TABLE3,
    "ultravr": tuple(dict.fromkeys(_TABLE1 + _TABLE2 + _TABLE3)),
}


def cells_of(spec: JobSpec) -> tuple[Cell, ...]:
    """Return the pairs that a job asks for, each once.

    Raises PlanUnknownError, and ProtocolUnavailableError naming every pair that cannot be asked yet.
    """
    if bool(spec.plan) == bool(spec.cells):
        raise PlanUnknownError("name either a plan or cells")
    if spec.plan and spec.plan not in PLANS:
        close = did_you_mean(spec.plan, PLANS)
        raise PlanUnknownError(f"plan '{spec.plan}' is unknown{close or ';'} there are {', '.join(PLANS)}")
    cells = PLANS[spec.plan] if spec.plan else tuple(dict.fromkeys(spec.cells))
    missing = sorted({cell.protocol for cell in cells if cell.protocol not in PROTOCOLS})
    if missing:
        raise ProtocolUnavailableError(
            f"protocol {', '.join(missing)} is not available; there is {', '.join(PROTOCOLS)}"
        )
    return cells
