"""Reads what is kept, in the state store or in files, in the form of now and in every form before.

A form is told by its `version`; what has none is of the first version, which had:
- a request's name in `id`, and a response's in `request_id`;
- a request's `views` beside its turns, before the `text` of the first one, where a turn has `parts`;
- what a turn asks for in `step_id`;
- `examples` beside the labels, where they have `details` for what only a benchmark knows;
- `thumbnail` and `examples` beside the other fields of a specification, where it has `options`.
"""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import from_json
from zstandard import ZstdError

from gigavqa.contract.codec import decompress
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import SCHEMA_VERSION, Bundle
from gigavqa.contract.responses import Response
from gigavqa.runtime.validation import describe_rule

_CURRENT_PREFIX = f'{{"version":{SCHEMA_VERSION},'
_CURRENT_PREFIX_BYTES = _CURRENT_PREFIX.encode()  # decision 0001
_LEGACY_OPTIONS = ("thumbnail", "examples")


def read_response(text: str | bytes, extra: Literal["ignore", "forbid"] = "forbid") -> Response:
    """Read a response; `extra` says what becomes of fields that no response has. Raises ValueError."""
    if _is_current(text):
        return Response.model_validate_json(text, extra=extra)
    try:
        fields = upgrade_response_fields(from_json(text))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("is no response of an earlier form") from error
    return Response.model_validate(fields, extra=extra)


def unpack_response(packed: bytes) -> Response:
    """Read a response as the state store holds it. Raises ValueError."""
    try:
        return read_response(decompress(packed))
    except ZstdError as error:
        raise ValueError("its bytes are damaged") from error


def describe_read_error(error: ValueError) -> str:
    """Tell in a line what is wrong with a response that cannot be read."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {describe_rule(first)}"


def upgrade_response(text: bytes) -> bytes:
    """Return a response as it is written now, with every field, whatever form it was kept in. Raises ValueError."""
    return text if _is_current(text) else read_response(text).model_dump_json().encode()


def read_bundle(text: bytes) -> Bundle:
    """Read a bundle, also one that was queued before. Raises ValueError."""
    if _is_current(text):
        return Bundle.model_validate_json(text)
    bundle = _read_fields(from_json(text))
    return Bundle.model_validate({**bundle, "requests": [*map(_upgrade_request, bundle.get("requests", ()))]})


def read_spec(text: str | bytes) -> JobSpec:
    """Read a specification. Raises ValueError."""
    try:
        return JobSpec.model_validate_json(text)
    except ValidationError:
        return JobSpec.model_validate(upgrade_spec_fields(from_json(text)))


def upgrade_response_fields(given: Any) -> Any:
    """Return the fields of a response in the form of now; what is no object is left as it is. Raises ValueError."""
    if not isinstance(given, dict) or given.get("version") == SCHEMA_VERSION:
        return given
    response = _with_details(_read_fields(given))
    turns = response.get("turns")
    return {**response, "turns": [*map(_upgrade_turn, turns)]} if isinstance(turns, list) else response


def upgrade_spec_fields(given: Any) -> Any:
    """Return the fields of a specification in the form of now; those that stand twice are left to be refused."""
    if not isinstance(given, dict) or not isinstance(options := given.get("options", {}), dict):
        return given
    moved = {name: given[name] for name in _LEGACY_OPTIONS if name in given and name not in options}
    return {name: value for name, value in given.items() if name not in moved} | {"options": {**moved, **options}}


def _is_current(text: str | bytes) -> bool:
    return text.startswith(_CURRENT_PREFIX if isinstance(text, str) else _CURRENT_PREFIX_BYTES)  # type: ignore[arg-type]


def _read_fields(given: dict[str, Any]) -> dict[str, Any]:
    version = given.get("version", 1)
    if isinstance(version, int) and version not in (1, SCHEMA_VERSION):
        raise ValueError(f"is of version {version}; this release reads versions 1 to {SCHEMA_VERSION}")
    return {**given, "version": SCHEMA_VERSION}


def _upgrade_request(given: dict[str, Any]) -> dict[str, Any]:
    request = {"request_id" if name == "id" else name: value for name, value in given.items() if name != "views"}
    shown = [given.get("views", ()), *([()] * len(given["turns"]))]
    turns = [_with_parts(turn, views) for turn, views in zip(given["turns"], shown, strict=False)]
    return _with_details({**request, "turns": turns})


def _with_parts(turn: dict[str, Any], views: Iterable[Any]) -> dict[str, Any]:
    rest = {name: value for name, value in _upgrade_turn(turn).items() if name != "text"}
    return {**rest, "parts": [*views, turn["text"]]}


def _upgrade_turn(turn: Any) -> Any:
    if not isinstance(turn, dict) or "step_id" not in turn:
        return turn
    return {"asks" if name == "step_id" else name: value for name, value in turn.items()}


def _with_details(given: dict[str, Any]) -> dict[str, Any]:
    if "examples" not in given:
        return given
    rest = {name: value for name, value in given.items() if name != "examples"}
    return {**rest, "details": {"examples": given["examples"], **given.get("details", {})}}
