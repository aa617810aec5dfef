"""The chats that the suite of engines asks, and the marks of their answers."""

import json
import re
from functools import cache
from typing import Any

from gigavqa.contract.requests import GenerationConstraints, Sampling, StructuredOutput
from gigavqa.testing.pictures import textured
from gigavqa.workers.engines.engine import Message, PromptRaster

_SIDE = 512
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"seen": {"type": "boolean"}},
    "required": ["seen"],
    "additionalProperties": False,
}
STRUCTURES = {
    "choice": StructuredOutput(choice=("left", "right")),
    "regex": StructuredOutput(regex="[ab]{3}"),
    "json_schema": StructuredOutput(json_schema=_SCHEMA),
}
"""Of each kind one that no answer keeps to by chance."""
QUESTION = "What is to be seen?\nA. a field\nB. a town\nC. a lake"


@cache
def raster(number: int) -> PromptRaster:
    """Return one of the rasters, the same each time."""
    return PromptRaster(f"suite-{number}", textured(_SIDE, _SIDE, number))


def question(*rasters: PromptRaster, text: str = QUESTION) -> list[Message]:
    """Return a chat of one question, behind what it is about."""
    return [Message("user", (*rasters, text))]


def sampling(seed: int = 0, max_tokens: int = 16, steering: GenerationConstraints | None = None) -> Sampling:
    """Return how an answer is drawn: short, and by a seed."""
    return Sampling(temperature=1.0, seed=seed, max_tokens=max_tokens, steering=steering)


def keeps_to(name: str, text: str) -> bool:
    """Return whether an answer keeps to the structure of this name."""
    said = STRUCTURES[name]
    if said.choice:
        return text in said.choice
    if said.regex:
        return re.fullmatch(said.regex, text) is not None
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and [*found] == ["seen"] and isinstance(found["seen"], bool)
