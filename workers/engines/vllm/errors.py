"""Translate vLLM's refusals of a prompt into the errors of `gigavqa.workers.engines.engine`."""

import re

from gigavqa.workers.engines.engine import ContextExceededError, EngineError

_TOO_LONG = re.compile(r"decoder prompt \(length (\d+)\)")
_INPUT_TOKENS = re.compile(r"contains (\d+) input tokens")


def translate_error(error: Exception, context: int) -> EngineError:
    """Return the error to be raised in place of vLLM's; `context` is how many tokens the model's holds."""
    message = str(error) or repr(error.__cause__ or error)
    return (
        ContextExceededError(message, _excess_tokens(message, context)) if _is_too_long(error) else EngineError(message)
    )


def _is_too_long(error: Exception) -> bool:
    """Return whether vLLM refuses a prompt for its length, before it counts tokens, when it does, or with its
    pictures.
    """
    told = getattr(error, "parameter", None) in ("input_tokens", "input_text")
    return told or bool(_TOO_LONG.search(str(error)))


def _excess_tokens(message: str, context: int) -> int | None:
    """Tokens too many, where vLLM says how many there are; a context must have room for one token of the answer."""
    counted = _TOO_LONG.search(message) or _INPUT_TOKENS.search(message)
    return int(counted[1]) - context + 1 if counted else None
