"""The gateway's own pages: each is one file, and may run its own scripts alone and ask this gateway alone."""

import base64
import hashlib
import html
import re
from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse

_HERE = Path(__file__).parent
_LINK = "<!-- viewer -->"
_FILE = re.compile(r"/\* file: ([\w.-]+) \*/")
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def start_page(viewer: str | None) -> HTMLResponse:
    """Return the page that lists the jobs live, with a link to the viewer where there is one.

    What it shows it asks for itself, with a key where the gateway wants one.
    """
    link = f'<a href="{html.escape(viewer)}">pictures</a>' if viewer else ""
    return _page_response("start.html", link)


def watch_page() -> HTMLResponse:
    """Return the operator page, which asks for what it shows in the same way."""
    return _page_response("watch.html", "")


def _page_response(name: str, link: str) -> HTMLResponse:
    text, policy = _load_page(name)
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-cache",
        "Vary": "Accept",
    }
    return HTMLResponse(text.replace(_LINK, link), headers=headers)


@cache
def _load_page(name: str) -> tuple[str, str]:
    """Return a page with the files that it names, and what it may do."""
    text = _FILE.sub(lambda found: _read_asset(found[1]), (_HERE / name).read_text(encoding="utf-8"))
    allowed: dict[str, list[str]] = {}
    for kind, content in _INLINE.findall(text):
        allowed.setdefault(f"{kind}-src", []).append(f"'sha256-{_digest(content)}'")
    rules = {"default-src": "'none'", **{kind: " ".join(digests) for kind, digests in allowed.items()}}
    rules |= {"connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'"}
    return text, "; ".join(f"{rule} {sources}" for rule, sources in rules.items())


def _read_asset(name: str) -> str:
    return (_HERE / "files" / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
