"""Files of the pages: scripts, the style sheet and the icon, under addresses that change with their content."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

_FOLDER = Path(__file__).parent / "files"
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
PREFIX = "/pages/"
"""Where they lie; what is there says nothing of anybody."""

router = APIRouter(include_in_schema=False)


@cache
def _contents() -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _MEDIA_TYPES}


@cache
def _folder_digest() -> str:
    """Name all contents together: scripts that import each other by name are then always of one version."""
    digest = hashlib.sha256()
    for name, content in _contents().items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def address_of(name: str) -> str:
    """Return the address of a file, which is never used for another content. Raises KeyError."""
    _ = _contents()[name]
    return f"{PREFIX}{_folder_digest()}/{name}"


@router.get(f"{PREFIX}{{digest}}/{{name}}")
async def get_file(digest: str, name: str) -> Response:
    """Return a file of the pages as this version has it."""
    content = _contents().get(name) if digest == _folder_digest() else None
    if content is None:
        return PlainTextResponse("no such file in this version; load the page again\n", 404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(content, headers=headers, media_type=_MEDIA_TYPES[Path(name).suffix])
