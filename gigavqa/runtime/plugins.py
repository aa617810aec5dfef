"""Entry points of installed packages: each is loaded by itself, and one that cannot be costs no other."""

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gigavqa.runtime.errors import PluginInvalidError

log = logging.getLogger(__name__)


@cache
def plugin_points(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by their names, in order; nothing is imported."""
    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def load_plugin(group: str, name: str) -> Any:
    """Import what an entry point names; raises PluginInvalidError with whatever its package raised."""
    point = plugin_points(group)[name]
    try:
        return point.load()
    except Exception as error:
        raise PluginInvalidError(f"{group}: '{name}' ({point.value}): {type(error).__name__}: {error}") from error


@cache
def load_plugins(group: str) -> Mapping[str, Any]:
    """Return all of a group that can be loaded; the log says why the others cannot."""
    loaded = dict[str, Any]()
    for name in plugin_points(group):
        try:
            loaded[name] = load_plugin(group, name)
        except PluginInvalidError as error:
            log.warning("%s", error)
    return loaded
