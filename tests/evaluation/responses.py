"""Makes responses as the service records them."""

from datetime import UTC, datetime
from typing import Any

from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, Failure, Response, TurnResponse

MODEL = "qwen3-vl-8b"


def response(sample_id: str, text: str | None, condition: str = "V2", **changes: Any) -> Response:
    """Record the answer `text` to a sample, or, for None, a failure."""
    repeat = changes.get("repeat", 0)
    fields = {
        "request_id": f"{sample_id}:S0-{condition}:{MODEL}:{repeat}",
        "job_id": "job",
        "sample_id": sample_id,
        "model": MODEL,
        "protocol": "S0",
        "condition": condition,
        "turns": () if text is None else (TurnResponse(text=text, finish_reason="stop"),),
        "failure": Failure(type="EngineDiedError", message="gone") if text is None else None,
        "sampling": Sampling(seed=1),
        "worker": "w",
        "engine": EngineInfo(name="vllm", version="0.32.0"),
        "created_at": datetime(2026, 11, 21, tzinfo=UTC),
    }
    return Response.model_validate({**fields, **changes})
