"""What the viewer answers instead of a picture: problem documents (RFC 9457)."""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


def problem_response(
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    kind: type[Exception] | None = None,
    parameter: str = "",
) -> Response:
    """Write a problem document; `kind` names its type, `parameter` what of the address's query is wrong."""
    told = {
        "type": f"urn:gigavqa:problem:{_slug(kind)}" if kind else "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **({"errors": [{"detail": detail, "parameter": parameter}]} if parameter else {}),
    }
    content = f"{json.dumps(told, ensure_ascii=False)}\n".encode("utf-8", "replace")
    return Response(content, status, headers, MEDIA_TYPE)


def _slug(kind: type[Exception]) -> str:
    """Return `image-not-found` of ImageNotFoundError."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__.removesuffix("Error")).lower()
