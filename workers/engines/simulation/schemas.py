"""The smallest value that a JSON schema allows, as far as schemas of records and calls go."""

from collections.abc import Mapping
from typing import Any

_PLAIN: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None}
_DEEPEST = 32


def smallest_value(schema: Any, root: Any = None, depth: int = 0) -> Any:
    """Return a value that a schema allows; `root` is what its references begin at.

    It knows constants, enumerations, alternatives, references, objects with what they require, lists with the fewest
    items, and bounds of numbers; patterns and lengths of texts are not looked at. Raises ValueError.
    """
    root = schema if root is None else root
    if depth > _DEEPEST or not isinstance(schema, dict):
        raise ValueError("the schema contains itself without an end, or a part that is none")
    if "$ref" in schema:
        return smallest_value(_resolve(schema["$ref"], root), root, depth + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        if schema.get(name):
            return smallest_value(schema[name][0], root, depth + 1)
    if "const" in schema or schema.get("enum"):
        return schema.get("const", (schema.get("enum") or [None])[0])
    return _of_type(schema, root, depth)


def _of_type(schema: Mapping[str, Any], root: Any, depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: smallest_value(properties.get(name, {}), root, depth + 1) for name in schema.get("required", ())}
    if kind == "array":
        return [smallest_value(schema.get("items", {}), root, depth + 1) for _ in range(schema.get("minItems", 0))]
    return schema.get("minimum", _PLAIN.get(kind))


def _resolve(reference: str, root: Any) -> Any:
    found = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found[name.replace("~1", "/").replace("~0", "~")] if name else found
    return found
