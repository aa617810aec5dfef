"""Questions and answers of ATOM-Bench for tests: the worked example, and answers as a model would write them."""

import json
from typing import Any

from gigavqa.benchmarks.atombench.samples import LETTERS, AtomSample
from gigavqa.contract.responses import Response, TurnResponse
from tests.evaluation.responses import MODEL, response

DOMAINS = ("language_signs", "climate", "transportation", "license_plates", "unique_structures", "currency_flags")
WORDS = ("a blue band", "three letters", "a red roof", "an arch rock", "a tram", "a coin")


def options(number: int = 4) -> dict[str, str]:
    """So many lettered options."""
    return dict(zip(LETTERS[:number], WORDS[:number], strict=True))


def clue(image: str, step: int, **changes: Any) -> AtomSample:
    """A clue question of four options whose answer is A."""
    fields: dict[str, Any] = {
        "id": f"{image}-c{step}",
        "images": (f"images/{image}.jpg",),
        "level": "clue",
        "domain": DOMAINS[(step - 1) % len(DOMAINS)],
        "scope": ("macro", "mid", "micro")[(step - 1) % 3],
        "certainty": ("high", "medium", "low")[(step - 1) % 3],
        "step": step,
        "question": f"What is clue {step} of {image}?",
        "options": options(),
        "answer": "A",
    }
    return AtomSample.model_validate({**fields, **changes})


def conclusion(image: str, number: int, difficulty: str | None = "easy", **changes: Any) -> AtomSample:
    """A conclusion question of four options whose answer is A."""
    fields: dict[str, Any] = {
        "id": f"{image}-q{number}",
        "images": (f"images/{image}.jpg",),
        "level": "conclusion",
        "kind": "location" if number == 1 else "decisive_clue",
        "difficulty": difficulty,
        "question": f"Where was {image} taken ({number})?",
        "options": options(),
        "answer": "A",
    }
    return AtomSample.model_validate({**fields, **changes})


EXAMPLE = (
    *(clue("I1", step) for step in (1, 2, 3, 4)),
    conclusion("I1", 1, "easy"),
    conclusion("I1", 2, "medium"),
    *(clue("I2", step) for step in (1, 2, 3)),
    conclusion("I2", 1, "easy"),
    conclusion("I2", 2, "hard", options=options(5)),
    *(clue("I3", step) for step in (1, 2, 3)),
    conclusion("I3", 1, "hard"),
)
"""The worked example: three pictures, ten clue questions, five conclusion questions."""

FIRST = {
    **{f"I1-c{step}": "right" for step in (1, 2, 3, 4)},
    **{"I1-q1": "right", "I1-q2": "wrong"},
    **{"I2-c1": "right", "I2-c2": "right", "I2-c3": "wrong", "I2-q1": "right", "I2-q2": "wrong"},
    **{"I3-c1": "right", "I3-c2": "wrong", "I3-c3": "unanswered", "I3-q1": "unanswered"},
}
FINAL = {"I1-q1": "right", "I1-q2": "right", "I2-q1": "wrong", "I2-q2": "wrong", "I3-q1": "right"}

_SAID = {"right": "The best answer is A.", "wrong": "So it must be option (C).", "unanswered": "No option is correct."}


def written(outcome: str) -> str:
    """An answer in the form that the prompts ask for."""
    return json.dumps({"answer": _SAID[outcome]})


def answer(sample_id: str, outcome: str | None, protocol: str = "A0", **changes: Any) -> Response:
    """Record an answer that counts as told; None is a request that failed."""
    repeat, condition = changes.get("repeat", 0), changes.pop("condition", "V2")
    identity = f"{sample_id}:{protocol}-{condition}:{changes.get('model', MODEL)}:{repeat}"
    text = None if outcome is None else written(outcome)
    return response(sample_id, text, condition, protocol=protocol, request_id=identity, **changes)


def chat(sample_id: str, first: str, final: str, **changes: Any) -> Response:
    """Record a chat of AGC: the first answer, then the final one."""
    turns = (
        TurnResponse(text=written(first), finish_reason="stop", asks="first"),
        TurnResponse(text=written(final), finish_reason="stop"),
    )
    return response(sample_id, "", protocol="AGC", request_id=f"{sample_id}:AGC-V2:{MODEL}:0", turns=turns, **changes)


def answers(first: dict[str, str] = FIRST, final: dict[str, str] = FINAL, **changes: Any) -> list[Response]:
    """Record all answers of one repeat: A0's, and AG's."""
    direct = [answer(name, outcome, **changes) for name, outcome in first.items()]
    return direct + [answer(name, outcome, "AG", **changes) for name, outcome in final.items()]
