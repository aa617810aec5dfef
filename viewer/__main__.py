"""`python -m viewer`: runs one viewer until it is told to stop."""

import logging
import sys
from collections.abc import Sequence

import uvicorn

from jobs.errors import SettingsInvalidError
from jobs.hosts import is_loopback
from jobs.logs import configure_logging
from viewer.app import create_app
from viewer.settings import ViewerSettings

_GRACE_SECONDS = 5
_MOST_CONNECTIONS = 1024  # more are a 503
_KEEP_ALIVE_SECONDS = 75


def main(arguments: Sequence[str]) -> int:
    """Read the settings, and serve; returns the exit status: 1 when it cannot go on, 2 for wrong settings."""
    try:
        settings = ViewerSettings.read(arguments)
        _require_protected(settings)
    except SettingsInvalidError as error:
        print(f"gigavqa viewer: {error}", file=sys.stderr)
        return 2
    configure_logging(settings.log_format, "viewer")
    logging.getLogger("pyvips").setLevel(logging.WARNING)  # which tells of every picture how it was resized
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    server.run()
    return 0 if server.started else 1


def _require_protected(settings: ViewerSettings) -> None:
    """Refuse to show pictures to other machines, unless the operator said that anybody may see them."""
    if not settings.allow_unauthenticated and not is_loopback(settings.host):
        raise SettingsInvalidError(
            f"{settings.host} can be reached from other machines, and whoever reaches the viewer may see every picture "
            "of the data root. Listen on 127.0.0.1 behind a proxy that knows its users; or, where the network lets in "
            "only who may, say GIGAVQA_VIEWER_ALLOW_UNAUTHENTICATED=1 (or --allow-unauthenticated)"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
