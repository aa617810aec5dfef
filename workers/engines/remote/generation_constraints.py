"""Constraints of generation in a server's dialect."""

from collections.abc import Iterator, Mapping
from typing import Any

from gigavqa.contract.requests import GenerationConstraints, StructuredOutput
from gigavqa.workers.engines.engine import EngineError
from gigavqa.workers.engines.remote.dialects import Dialect

_OPENAI_PARAMETERS = frozenset(
    {
        "stop",
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "response_format",
    }
)
_PASSED_PARAMETERS = ("bad_words", "min_tokens", "ignore_eos", "min_p", "presence_penalty", "frequency_penalty")
_SCHEMA_NAME = "answer"


def constraint_parameters(
    steering: GenerationConstraints | None, dialect: Dialect, asked: Mapping[str, Any], ends: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters to send for it beside what is `asked` already; `ends` are the parameters that end a turn of
    the family.

    Raises EngineError for what such a server does not take: whoever asked for it is not to get something else.
    """
    if steering is None:
        return dict(ends)
    sent = (
        dict(_passed_parameters(steering))
        | dict(_structure_parameters(steering.structure, dialect))
        | _stop_parameters(steering, ends)
    )
    if steering.template and dialect.templates:
        sent["chat_template_kwargs"] = {**asked.get("chat_template_kwargs", {}), **steering.template}
    unknown = set(sent) - _OPENAI_PARAMETERS - dialect.extras - {"chat_template_kwargs"}
    unknown |= {"response_format"} & set(sent) if not dialect.schemas else set()
    unknown |= {"chat_template_kwargs"} if steering.template and not dialect.templates else set()
    if unknown:
        raise EngineError(f"a server of the kind '{dialect.name}' takes no {', '.join(sorted(unknown))}")
    return sent


def _passed_parameters(steering: GenerationConstraints) -> Iterator[tuple[str, Any]]:
    untouched = GenerationConstraints()
    for name in _PASSED_PARAMETERS:
        if (value := getattr(steering, name)) != getattr(untouched, name):
            yield name, list(value) if isinstance(value, tuple) else value
    if steering.logit_bias:
        yield "logit_bias", {str(token): bias for token, bias in steering.logit_bias.items()}
    if steering.logprobs is not None:
        yield "logprobs", True
        yield "top_logprobs", steering.logprobs


def _stop_parameters(steering: GenerationConstraints, ends: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stops an answer: what the chat says, and what ends a turn unless the chat wants to go beyond it."""
    own = {} if steering.ignore_eos else ends
    tokens = [*own.get("stop_token_ids", ()), *steering.stop_token_ids]
    texts = [*own.get("stop", ()), *steering.stop]
    return ({"stop_token_ids": tokens} if tokens else {}) | ({"stop": texts} if texts else {})


def _structure_parameters(structure: StructuredOutput | None, dialect: Dialect) -> Iterator[tuple[str, Any]]:
    if structure is None:
        return
    if structure.json_object:
        yield "response_format", {"type": "json_object"}
    elif structure.in_object and "structured_outputs" not in dialect.extras:
        yield "response_format", _schema(structure.in_object, strict=True)
    elif isinstance(structure.json_schema, dict):
        yield "response_format", _schema(structure.json_schema)
    else:
        said = structure.model_dump(exclude_none=True, exclude={"in_object"})
        yield "structured_outputs", {"json" if name == "json_schema" else name: value for name, value in said.items()}


def _schema(schema: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": _SCHEMA_NAME, "schema": schema, **more}}
