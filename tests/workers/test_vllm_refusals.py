"""vLLM's refusals become errors that say how much too long a prompt was, where vLLM says how long it is."""

import pytest

from gigavqa.workers.engines.engine import ContextExceededError, EngineError
from gigavqa.workers.engines.vllm.errors import translate_error

CONTEXT = 8192


class RefusedError(ValueError):
    """As vLLM's own: names the parameter that is wrong."""

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


@pytest.mark.parametrize(
    ("error", "excess"),
    [
        (RefusedError("The decoder prompt (length 8200) is longer than the maximum model length of 8192."), 9),
        (RefusedError("your request contains 9000 input tokens, which is too many", "input_tokens"), 809),
        (RefusedError("the text is too long", "input_text"), None),
    ],
)
def test_a_prompt_that_is_too_long_is_told_apart(error: Exception, excess: int | None) -> None:
    """The context needs room for one token of the answer, too; without a count none is made up."""
    refused = translate_error(error, CONTEXT)
    assert isinstance(refused, ContextExceededError)
    assert (refused.excess, str(refused)) == (excess, str(error))


def test_anything_else_is_told_in_its_own_words() -> None:
    """Also where only what lies beneath says anything."""
    silent = ValueError()
    silent.__cause__ = KeyError("image")
    assert str(translate_error(ValueError("no such modality"), CONTEXT)) == "no such modality"
    assert str(translate_error(silent, CONTEXT)) == "KeyError('image')"
    assert type(translate_error(silent, CONTEXT)) is EngineError
