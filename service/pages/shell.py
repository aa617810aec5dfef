"""The shell that all pages share: one head, one style sheet, one place for keys; each page has a script of its own."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from gigavqa.service.pages.assets import address_of

_TEMPLATE = Path(__file__).parent / "shell.html"
_HEAD = {
    "Jobs": "/",
    "Ask": "/ask",
    "Data sets": "/datasets",
    "Models": "/models",
    "Workers": "/workers",
    "Watch": "/watch",
    "API": "/docs",
}


@dataclass(frozen=True)
class Page:
    """A page: its title, where it stands in the head, and its own script.

    Libraries and styles are addresses of what it needs before; `allows` is what its policy lets it do besides, by rule.
    """

    title: str
    place: str
    script: str
    libraries: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    allows: Mapping[str, str] = field(default_factory=dict)


def render_page(page: Page, viewer: str | None, depth: int) -> HTMLResponse:
    """Write a page. It says nothing of anybody: what it shows its script asks for, with a key where one is wanted.

    Its addresses are relative, from `depth` folders below the gateway's own, which may stand below a path of its host.
    """
    root = "../" * depth or "./"
    links = "".join(_link(name, root + address[1:], is_here=name == page.place) for name, address in _HEAD.items())
    scripts = [f'<link rel="stylesheet" href="{root}{address[1:]}">' for address in page.styles]
    scripts += [f'<script defer src="{root}{address[1:]}"></script>' for address in page.libraries]
    scripts += [f'<link rel="modulepreload" href="{root}{address_of("parts.js")[1:]}">']
    scripts += [f'<script type="module" src="{root}{address_of(page.script)[1:]}"></script>']
    text = _load_template().substitute(
        title=html.escape(page.title),
        viewer=html.escape((viewer or "").rstrip("/")),
        root=root,
        icon=root + address_of("icon.svg")[1:],
        style=root + address_of("pages.css")[1:],
        shell=root + address_of("shell.js")[1:],
        scripts="\n".join(scripts),
        links=links,
    )
    return HTMLResponse(
        text,
        headers={
            "Content-Security-Policy": _policy(page, viewer),
            "Cache-Control": "no-cache",
            "Vary": "Accept",
        },
    )


def _link(name: str, address: str, *, is_here: bool) -> str:
    return f'<a href="{address}"{" aria-current=page" if is_here else ""}>{name}</a>'


def _policy(page: Page, viewer: str | None) -> str:
    """Return what a page may do: run the gateway's files, ask this gateway alone, and show pictures of the viewer."""
    pictures = ["'self'", "data:", *([_origin(viewer)] if viewer else [])]
    rules = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": " ".join(pictures),
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(" ".join([rule, sources, page.allows.get(rule, "")]).strip() for rule, sources in rules.items())


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


@cache
def _load_template() -> Template:
    return Template(_TEMPLATE.read_text(encoding="utf-8"))
