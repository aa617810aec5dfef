"""Operation labels of steps (tables C.2 to C.5), by domain, category and step id."""

from gigavqa.benchmarks.ultravr.errors import StepUnknownError
from gigavqa.benchmarks.ultravr.samples import Operation, ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import Category, Domain

_OperationLabels = dict[str, Operation]


def _label_steps(**steps: str) -> _OperationLabels:
    found: _OperationLabels = {}
    for name, ids in steps.items():
        operation: Operation = _NAMES[name]
        found |= dict.fromkeys(ids.split(), operation)
    return found


_NAMES: dict[str, Operation] = {"gnd": "GND", "per": "PER", "qua": "QUA", "int_": "INT", "inf": "INF"}

_WSI = _label_steps(gnd="Q1 Q2 Q2.1", per="Q3 Q4", int_="Q5 Q5.1 Q5.2", inf="Q6.1 Q6.2 Q6.3")

OPERATIONS: dict[tuple[Domain, Category], _OperationLabels] = {
    ("cctv", "comparison"): _label_steps(gnd="S1 S4", per="S2 S5", qua="S3 S6 S7 S8 S9", int_="S10", inf="S11"),
    ("cctv", "logical_verification"): _label_steps(
        gnd="S1 S3 S5 S7", qua="S2 S4 S6 S8 S9", int_="S10", inf="S11 S12 S13"
    ),
    ("cctv", "relational_inference"): _label_steps(gnd="S1 S2", per="S3 S4", int_="S5 S6", inf="S7"),
    ("rs", "comparison"): _label_steps(gnd="S1 S5", int_="S2 S6", per="S3 S7", qua="S4 S8", inf="S9"),
    ("rs", "logical_verification"): _label_steps(gnd="S1 S3", qua="S2 S4", inf="S5"),
    ("rs", "relational_inference"): _label_steps(gnd="S1 S3", per="S2 S4", int_="S5"),
    ("wsi", "comparison"): _WSI,
    ("wsi", "logical_verification"): _WSI,
    ("wsi", "relational_inference"): _WSI,
}

AD_LAST_STEPS = {"breakfast_box": 15, "juice_bottle": 14, "pushpins": 7, "screw_bag": 11}
"""Number of the last step by product (table C.5)."""

_AD_GROUNDING = frozenset({"S1", "S2", "S3"})


def operation_of(sample: UltraVRSample, step: ReasoningStep) -> Operation:
    """Return a step's operation: the record's own label, else the table's. Raises StepUnknownError."""
    if step.operation:
        return step.operation
    if sample.domain == "ad":
        return _ad_operation(sample, step)
    try:
        return OPERATIONS[sample.domain, sample.category][step.step_id]
    except KeyError:
        raise _unknown_step_error(sample, step) from None


def ad_last_step(sample: UltraVRSample) -> int | None:
    """Return the number of the last step for a product of table C.5; None for any other product."""
    return AD_LAST_STEPS.get(sample.subcategory.strip().lower().replace(" ", "_").replace("-", "_"))


def _ad_operation(sample: UltraVRSample, step: ReasoningStep) -> Operation:
    number = int(step.step_id[1:]) if step.step_id[:1] == "S" and step.step_id[1:].isdecimal() else 0
    if not 1 <= number <= (ad_last_step(sample) or number):
        raise _unknown_step_error(sample, step)
    return "GND" if step.step_id in _AD_GROUNDING else "PER"


def _unknown_step_error(sample: UltraVRSample, step: ReasoningStep) -> StepUnknownError:
    return StepUnknownError(
        f"sample '{sample.id}': step '{step.step_id}' belongs to no schema of {sample.domain} {sample.category}"
    )
