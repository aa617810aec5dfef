"""Check, before anything starts, that a remote endpoint's settings suffice to ask a model there."""

import os
from collections.abc import Mapping, Sequence

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.workers.errors import EndpointError

_DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"


def require_endpoint(entries: Sequence[CatalogueEntry], endpoint: str | None) -> None:
    """Raise EndpointError when nobody says where the models are asked."""
    if endpoint is None:
        vendor = next((entry.remote.endpoint for entry in entries if entry.remote.endpoint), "http://HOST:PORT/v1")
        raise EndpointError(f"--engine remote needs the address of a server: --endpoint {vendor}")


def require_open_weights(entry: CatalogueEntry) -> None:
    """Raise EndpointError for a model that no engine of this machine can load."""
    if entry.is_closed:
        terms = entry.remote
        key = f" --api-key-env {terms.key}" if terms.key else ""
        raise EndpointError(
            f"no engine here can load {entry.id}: ask a server that has it, with --engine remote "
            f"--endpoint {terms.endpoint or 'URL'}{key}"
        )


def read_api_key(name: str | None, environ: Mapping[str, str] = os.environ) -> tuple[str, str | None]:
    """Return the variable's name and the key in it. Raises EndpointError when a variable that was named is not set."""
    key = environ.get(name or _DEFAULT_KEY_VARIABLE, "").strip() or None
    if name and key is None:
        raise EndpointError(f"--api-key-env {name}: the variable is not set")
    if key and not (key.isascii() and key.isprintable()):
        raise EndpointError(f"the key in {name or _DEFAULT_KEY_VARIABLE} has characters that no key has")
    return name or _DEFAULT_KEY_VARIABLE, key
