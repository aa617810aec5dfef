"""Calls that the tests ask."""

from typing import Any

from gigavqa.construction.calls.model_call import CallSampling, ModelCall
from tests.workers.examples import ENTRY

SCHEMA = {
    "type": "object",
    "properties": {"about": {"type": "string"}, "score": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["about", "score"],
    "additionalProperties": False,
}


def call(number: int, **changes: Any) -> ModelCall:
    """One call of the stage `familiarity`."""
    return ModelCall(
        **{
            "stage": "familiarity",
            "prompt": "familiarity/1",
            "model": ENTRY.id,
            "text": f"How well known is it? Return JSON about e{number}",
            "schema": SCHEMA,
            "sampling": CallSampling(max_tokens=50, temperature=0.0),
            **changes,
        }
    )
