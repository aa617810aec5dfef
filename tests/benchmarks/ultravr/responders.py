"""Answers requests as models of known ability would: each step right or wrong as it is told, in S2, S4 and S5."""

import json
from collections.abc import Callable
from typing import Any

from gigavqa.benchmarks.ultravr.operations import operation_of
from gigavqa.benchmarks.ultravr.samples import Operation, ReasoningStep, UltraVRSample
from gigavqa.contract.responses import Response, TurnResponse
from tests.evaluation.responses import MODEL, response

Knows = Callable[[UltraVRSample, ReasoningStep], bool]
WRONG = "zzz"
"""An answer that is right to no step."""


def answer(sample: UltraVRSample, protocol: str, *, knows: Knows, final: bool = True, **changes: Any) -> Response:
    """Answer a sample under a protocol: the steps that it `knows` right, the others not, the final answer as told."""
    letter = sample.answer if final else next(letter for letter in "AB" if letter != sample.answer)
    text = f"Final answer: {letter}"
    steps = {step.step_id: _raw(step) if knows(sample, step) else WRONG for step in sample.steps}
    turns = [TurnResponse(text=text, finish_reason="stop")]
    if protocol == "S2":
        turns = [TurnResponse(text=json.dumps({**steps, "final_answer": letter}), finish_reason="stop")]
    elif protocol in ("S4", "S5"):
        turns = [TurnResponse(text=raw, finish_reason="stop", asks=name) for name, raw in steps.items()] + turns
    repeat, model = changes.get("repeat", 0), changes.get("model", MODEL)
    identity = f"{sample.id}:{protocol}-V2:{model}:{repeat}"
    return response(sample.id, "", protocol=protocol, request_id=identity, turns=turns, **changes)


def everything(sample: UltraVRSample, step: ReasoningStep) -> bool:
    """Know every step."""
    return True


def all_but(operation: Operation) -> Knows:
    """Know the steps of every other operation."""
    return lambda sample, step: operation_of(sample, step) != operation


def only(*step_ids: str) -> Knows:
    """Know the steps named."""
    return lambda sample, step: step.step_id in step_ids


def _raw(step: ReasoningStep) -> str:
    return step.ground_truth if isinstance(step.ground_truth, str) else json.dumps(step.ground_truth)
