"""What a client is tried for: a function for each feature, and a line of output that says what came of it."""

import asyncio
import inspect
import json
import os
import traceback
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel

URL, KEY = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
MODEL, SLOW_MODEL = os.environ["GIGAVQA_MODEL"], os.environ["GIGAVQA_SLOW_MODEL"]
SHOWN, DATA_URL = os.environ["GIGAVQA_SHOWN"], os.environ["GIGAVQA_DATA_URL"]
VIEWED = os.environ["GIGAVQA_ADDRESS"]
"""The same picture by IIIF."""
LIMITED_KEY = os.environ["GIGAVQA_LIMITED_KEY"]
"""A key that may ask once a minute."""
WRONG_KEY = "gvq_zzzzzzzz_" + "A" * 43
HAS_LOGPROBS = os.environ["GIGAVQA_LOGPROBS"] == "1"
"""Whether the engine tells them; the simulated one does not."""
SECONDS = 1.0
"""A client's patience, within which the slow model says nothing."""
QUESTION = "Which one?\nA. One\nB. Two"
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]
ENDS = ("response.completed", "response.incomplete")
"""Of streams of responses, whole or at the bound of their tokens."""
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look closer.",
        "parameters": {"type": "object", "properties": {"near": {"type": "boolean"}}, "required": ["near"]},
    },
}


class Finding(BaseModel):
    """What an answer by a schema says."""

    letter: Literal["A", "B"]
    sure: bool


def showing(url: str) -> list[Any]:
    """Return a chat that shows a picture and asks."""
    parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": QUESTION}]
    return [{"role": "user", "content": parts}]


def tried(feature: str) -> Callable[[Callable[[], Any]], None]:
    """Try a feature now, and print `ok`, the option that it needs, which the function returns, or what went wrong."""

    def run(function: Callable[[], Any]) -> None:
        try:
            made = function()
            told = asyncio.run(made) if inspect.iscoroutine(made) else made
            print(json.dumps({feature: f"ok, with {told}" if told else "ok"}), flush=True)
        except Exception as error:  # noqa: BLE001 - the next feature is tried
            line = traceback.extract_tb(error.__traceback__)[1].line
            print(json.dumps({feature: f"FAILED: {line}: {type(error).__name__}: {str(error)[:600]}"}), flush=True)

    return run


def absent(feature: str, why: str) -> None:
    """Say why a feature cannot be tried."""
    print(json.dumps({feature: why}), flush=True)


def error_of(function: Callable[..., Any], *kinds: type[Exception], times: int = 1, **asked: Any) -> Exception:
    """Return the error that a call raises at the latest when it is made so many times."""
    try:
        for _ in range(times):
            function(**asked)
    except kinds as error:
        return error
    raise AssertionError(f"no {' or '.join(kind.__name__ for kind in kinds)}")
