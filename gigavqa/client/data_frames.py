"""Responses and verdicts as pandas' data frames."""

import io
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gigavqa.client.errors import PackageMissingError
from gigavqa.contract.responses import Response, UnreadableResponse

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    "request_id", "sample_id", "model", "protocol", "condition", "max_rounds", "repeat", "text", "finish_reason",
    "failure", "failure_message", "prompt_tokens", "cached_tokens", "completion_tokens", "rendering_seconds", "worker",
    "attempt", "created_at", "unreadable",
)  # fmt: skip


def require_pandas() -> None:
    """Raise PackageMissingError unless pandas is there, before anything is asked of a gateway."""
    if find_spec("pandas") is None:
        raise PackageMissingError(
            "data frames need pandas, which is not installed: `pip install pandas`; "
            "`responses` and `verdict_file` give the same without it"
        )


def from_responses(responses: Iterable[Response | UnreadableResponse]) -> "pd.DataFrame":
    """One row a response: labels, the last turn's text, what it took, and why there is none where there is none."""
    import pandas as pd  # noqa: PLC0415 - an extra

    return pd.DataFrame([_row(response) for response in responses], columns=_COLUMNS)


def from_parquet(content: bytes) -> "pd.DataFrame":
    """Return the rows of a Parquet file."""
    import pandas as pd  # noqa: PLC0415 - an extra

    return pd.read_parquet(io.BytesIO(content))


def _row(response: Response | UnreadableResponse) -> dict[str, Any]:
    if isinstance(response, UnreadableResponse):
        return response.model_dump(include={"request_id", "sample_id", "unreadable"})
    last = response.turns[-1] if response.turns else None
    usages = [turn.usage for turn in response.turns]
    return {
        **response.labels.model_dump(exclude={"details", "prompt_version"}),
        **response.model_dump(include={"max_rounds", "rendering_seconds", "worker", "attempt", "created_at"}),
        "text": last.text if last else None,
        "finish_reason": last.finish_reason if last else None,
        "failure": response.failure.type if response.failure else None,
        "failure_message": response.failure.message if response.failure else None,
        "prompt_tokens": sum(usage.prompt_tokens for usage in usages),
        "cached_tokens": sum(usage.cached_tokens for usage in usages),
        "completion_tokens": sum(usage.completion_tokens for usage in usages),
    }
