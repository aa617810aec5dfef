"""Choose the cells that a job asks for: those of a plan of its benchmark, or its own."""

from collections.abc import Sequence
from typing import Any

from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import CellRules
from gigavqa.evaluation.errors import PlanUnknownError, ProtocolUnavailableError
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.runtime.suggestions import did_you_mean


def select_cells(benchmark: Benchmark[Any, Any], spec: JobSpec) -> tuple[Cell, ...]:
    """Return the cells that a job asks for, each once: those of its plan, its own, or those of the first plan.

    Cells with a loop have the job's rounds, if it names some.
    Raises PlanUnknownError, and ProtocolUnavailableError naming every protocol or condition that the benchmark has not,
    or every protocol with rounds that has none, or the reverse.
    """
    if spec.plan and spec.cells:
        raise PlanUnknownError("name either a plan or cells, not both")
    plans = benchmark.plans
    if not spec.cells and not spec.plan:
        return _with_rounds(next(iter(plans.values())), benchmark, spec.rounds)
    if spec.plan and spec.plan not in plans:
        if others := [name for name, one in installed_benchmarks().items() if spec.plan in one.plans]:
            own = f"data set '{spec.dataset}' is of {benchmark.name}, which has {', '.join(plans)}"
            raise PlanUnknownError(f"plan '{spec.plan}' belongs to {', '.join(others)}; {own}")
        close = did_you_mean(spec.plan, plans)
        raise PlanUnknownError(f"plan '{spec.plan}' is unknown{close or ';'} there are {', '.join(plans)}")
    cells = _with_rounds(plans[spec.plan] if spec.plan else spec.cells, benchmark, spec.rounds)
    for kind, asked, known in (
        ("protocol", [cell.protocol for cell in cells], list(benchmark.protocols)),
        ("condition", [cell.condition for cell in cells], list(benchmark.conditions)),
    ):
        if missing := sorted(set(asked) - set(known)):
            close = did_you_mean(missing[0], known)
            raise ProtocolUnavailableError(
                f"{kind} {', '.join(missing)} is not available{close or ';'} there is {', '.join(known)}"
            )
    loops = CellRules.of(benchmark).loops
    for has, which in ((True, "has rounds; name how many"), (False, "has no rounds")):
        wrong = {cell.protocol for cell in cells if (cell.protocol in loops) is has is (cell.rounds is None)}
        if wrong:
            raise ProtocolUnavailableError(f"protocol {', '.join(sorted(wrong))} {which}")
    return cells


def _with_rounds(cells: Sequence[Cell], benchmark: Benchmark[Any, Any], rounds: int | None) -> tuple[Cell, ...]:
    """Return the cells, each once, and those with a loop with so many rounds."""
    if rounds is not None:
        loops = CellRules.of(benchmark).loops
        if not any(cell.protocol in loops for cell in cells):
            protocols = ", ".join(dict.fromkeys(cell.protocol for cell in cells))
            raise ProtocolUnavailableError(f"the job names {rounds} rounds, and protocol {protocols} has no rounds")
        cells = [cell.model_copy(update={"rounds": rounds}) if cell.protocol in loops else cell for cell in cells]
    return tuple(dict.fromkeys(cells))
