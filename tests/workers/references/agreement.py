"""How far an engine's answer is from a reference's."""

import math
from collections.abc import Mapping
from typing import Any

Told = Mapping[str, Any]
"""An `Answer` of `tests.workers.references.reference`, as JSON has it."""


def distance(engine: Told, reference: Told) -> float:
    """The largest difference, in nats, of the logprobs of a token that both wrote.

    Where the answers part, each has to have the other's token for its second, and the difference is the sum of both
    leads on it; else they are infinitely far. Nothing is compared behind that.
    """
    furthest = 0.0
    for ours, theirs in zip(engine["steps"], reference["steps"], strict=True):
        if ours["token"] != theirs["token"]:
            near = ours["token"] == theirs["second"] and ours["second"] == theirs["token"]
            return max(furthest, ours["lead"] + theirs["lead"]) if near else math.inf
        furthest = max(furthest, abs(ours["logprob"] - theirs["logprob"]))
    return furthest


def text(answer: Told) -> str:
    """What was written."""
    return "".join(step["token"] for step in answer["steps"])
