"""The page that shows evidence in a picture: files that come with the package, and what they may do."""

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

_FILES = Path(__file__).parent / "files"
_MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".txt": "text/plain"}
_POLICY = (
    "default-src 'none'; script-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; worker-src 'none'; "
    # OpenSeadragon writes one style of its own, the outline of what has the focus.
    "style-src 'self' 'sha256-9xTiqzfwFaL2SGb1rmr8gysEwVVjIvqWAgmZgqFqpEE='"
)


def page_routes() -> list[Route]:
    """Return the page at `/view`, and its files."""
    files = {path.name: path.read_bytes() for path in sorted(_FILES.iterdir()) if path.is_file()}

    async def to_page(request: Request) -> Response:
        return RedirectResponse("view", status_code=307)

    async def page(request: Request) -> Response:
        return _file_response(request, "view.html", files["view.html"])

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        return _file_response(request, name, files[name]) if name in files else Response("no such file\n", 404)

    return [Route("/", to_page), Route("/view", page), Route("/files/{name}", file)]


def _file_response(request: Request, name: str, content: bytes) -> Response:
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "no-cache",
        "Content-Security-Policy": _POLICY,
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, 200, headers, _MEDIA_TYPES[Path(name).suffix])
