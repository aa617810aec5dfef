"""The gateway's address, and the headers that a client sends. Imports little: the shell's completion waits for it."""

import os
from importlib.metadata import version

from gigavqa.client.errors import KeyRefusedError

DEFAULT_URL = "http://127.0.0.1:8470"
"""Where the gateway is, unless told otherwise."""


def gateway_url(url: str | None = None) -> str:
    """Return the gateway's address: the one that is given, else GIGAVQA_URL, else this machine's."""
    return (url or os.environ.get("GIGAVQA_URL") or DEFAULT_URL).rstrip("/")


def request_headers(api_key: str | None = None) -> dict[str, str]:
    """Return the headers of every request: who asks, and the key that is given, else that of GIGAVQA_API_KEY, if any.

    Raises KeyRefusedError for a key that cannot stand in a header.
    """
    key = (os.environ.get("GIGAVQA_API_KEY", "") if api_key is None else api_key).strip()
    if not (key.isascii() and key.isprintable()):
        raise KeyRefusedError("GIGAVQA_API_KEY holds characters that no key has", 401)
    agent = {"User-Agent": f"gigavqa/{version('gigavqa')}"}
    return {**agent, "Authorization": f"Bearer {key}"} if key else agent
