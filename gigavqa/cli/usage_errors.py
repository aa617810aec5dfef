"""Arguments that cannot be taken, each in one sentence: which, what was given, and what is allowed."""

from typing import Any

import typer
from pydantic import ValidationError
from typer.core import TyperOption

from gigavqa.cli.help import choice_names, describe_bounds
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_rule

_OUT_OF_RANGE = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})


def describe_usage_error(error: typer.TyperException) -> str:
    """Return what is wrong with the arguments of a command, and the command whose help says more."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    if parameter is None:
        message = " ".join(error.format_message().split()).rstrip(".")
        message = message[:1].lower() + message[1:]
    elif isinstance(error, typer.BadParameter) and not hasattr(error, "param_type"):
        message = f"{_name(parameter, context)}{_fault(parameter, error)}"
    else:
        message = f"{_name(parameter, context)} is missing: {str(parameter.help or 'it has to be given').rstrip('.')}"
    more = f"; `{context.command_path} --help` says more" if context else ""
    return message + more


def _name(parameter: Any, context: Any) -> str:
    """Return what a user would look for: the variable where the value came from it, else the longest spelling."""
    source = context and context.get_parameter_source(parameter.name)
    if parameter.envvar and source and source.name == "ENVIRONMENT":
        return str(parameter.envvar)
    return str(max(parameter.opts, key=len) if isinstance(parameter, TyperOption) else parameter.display_name_raw)


def _fault(parameter: Any, error: typer.BadParameter) -> str:
    if not isinstance(error.__cause__, ValidationError):
        return f": {error.message[:1].lower()}{error.message[1:].rstrip('.')}"
    detail, described = _innermost(error.__cause__), parameter.type_descriptor
    given, kind = detail["input"], described.annotation
    if described.choices:
        known = choice_names(described.choices)
        return f" '{given}' is none of {', '.join(known)}{did_you_mean(str(given), known).rstrip('?')}"
    if kind in {int, float}:
        number = "whole number" if kind is int else "number"
        bounds = describe_bounds(described.parameter_info.min, described.parameter_info.max)
        fault = "is out of range" if detail["type"] in _OUT_OF_RANGE else f"is no {number}"
        return f" '{given}' {fault}{f' ({bounds})' if bounds else ''}"
    return f" '{given}' is neither true nor false" if kind is bool else f" '{given}': {describe_rule(detail)}"


def _innermost(error: ValidationError) -> Any:
    """Return the first fault; of a list it is that of the value which is wrong."""
    detail = error.errors(include_url=False)[0]
    inner = detail.get("ctx", {}).get("error")
    return _innermost(inner) if isinstance(inner, ValidationError) else detail
