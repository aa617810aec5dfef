"""The start page: one file that lists the jobs live, and may run its own script alone and ask this gateway alone."""

import base64
import hashlib
import html
import re
from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse

_FILE = Path(__file__).with_name("start.html")
_LINK = "<!-- viewer -->"
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def start_page(viewer: str | None) -> HTMLResponse:
    """The page as an answer, with a link to the viewer where there is one.

    What it shows it asks for itself, with a key where the gateway wants one.
    """
    text, policy = _page()
    text = text.replace(_LINK, f'<a href="{html.escape(viewer)}">pictures</a>' if viewer else "")
    headers = {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
        "Vary": "Accept",
    }
    return HTMLResponse(text, headers=headers)


@cache
def _page() -> tuple[str, str]:
    text = _FILE.read_text(encoding="utf-8")
    allowed = {f"{name}-src": f"'sha256-{_digest(content)}'" for name, content in _INLINE.findall(text)}
    rules = {"default-src": "'none'", **allowed, "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'"}
    rules["frame-ancestors"] = "'none'"
    return text, "; ".join(f"{rule} {sources}" for rule, sources in rules.items())


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
