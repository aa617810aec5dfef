"""What a build's calls came to, stage by stage: the dry run beside what was spent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.calls.call_desk import FORECASTS, OUTCOMES
from gigavqa.construction.calls.call_log import CallLog, Spending
from gigavqa.construction.calls.estimates import StageForecast, Workload

FORECAST_COLUMNS = (
    *("stage", "model", "calls", "answered", "prompt tokens", "visual tokens", "answer tokens", "hours", "US dollars"),
)
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class CallAccount:
    """The calls of a stage to one model: what the dry run said of all of them, and what they came to.

    `outcome` counts the stage's calls whatever their model: `read`, and `dropped` and `open` by reason.
    """

    stage: str
    model: str
    forecast: Workload | None
    spent: Spending
    outcome: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def call_accounts(folder: BuildFolder) -> list[CallAccount]:
    """Return the accounts of a build that is locked, in the order of the dry run; none where no model took part.

    Raises CallLogError.
    """
    forecasts, outcomes = (_document(folder, name) for name in (FORECASTS, OUTCOMES))
    spent = {path.stem: _spending(path) for path in sorted(folder.file("calls").glob("*.jsonl"))}
    found = []
    for stage in [*forecasts, *(stage for stage in spent if stage not in forecasts)]:
        told, came = forecasts.get(stage, {}), spent.get(stage, {})
        for model in [*told, *(model for model in came if model not in told)]:
            whole = told.get(model, {}).get("whole")
            load = Workload(**whole) if whole else None
            found.append(CallAccount(stage, model, load, came.get(model, Spending()), outcomes.get(stage, {})))
    return found


def forecast_rows(forecasts: Iterable[StageForecast]) -> list[Sequence[str]]:
    """Return a dry run as rows of FORECAST_COLUMNS; of calls that are not answered yet, and what of it is unknown."""
    return [_row(one) for one in forecasts]


def _row(one: StageForecast) -> Sequence[str]:
    if one.left is None or one.whole is None:
        return (one.stage, one.model, f"known after {one.after}", *[_UNKNOWN] * (len(FORECAST_COLUMNS) - 3))
    left = one.left
    tokens = (f"{number:,}" for number in (left.text_tokens, left.visual_tokens, left.completion_tokens))
    hours = _UNKNOWN if left.hours is None else f"{left.hours:.2f}"
    dollars = _UNKNOWN if left.dollars is None else f"{left.dollars:,.2f}"
    return one.stage, one.model, f"{left.calls:,}", f"{one.whole.calls - left.calls:,}", *tokens, hours, dollars


def _document(folder: BuildFolder, name: str) -> dict[str, Any]:
    return dict(folder.read_json(name)) if folder.file(name).is_file() else {}


def _spending(path: Path) -> Mapping[str, Spending]:
    log = CallLog(path)
    log.close()
    return log.spending
