"""`python -m gigavqa.viewer`: runs one viewer until it is told to stop."""

import logging
import sys
from collections.abc import Sequence

import uvicorn

from gigavqa.runtime.errors import SettingsInvalidError, StateStoreUnavailableError
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.logs import configure_logging
from gigavqa.store.listen_settings import require_protected
from gigavqa.tiling.digest import store_digests
from gigavqa.viewer.app import create_app
from gigavqa.viewer.settings import ViewerSettings

_GRACE_SECONDS = 5
_MOST_CONNECTIONS = 1024  # more are a 503
_KEEP_ALIVE_SECONDS = 75


def main(arguments: Sequence[str]) -> int:
    """Read the settings, and serve; returns the exit status: 1 when it cannot go on, 2 for wrong settings."""
    try:
        settings = ViewerSettings.read(arguments)
        require_protected(settings)
    except (SettingsInvalidError, StateStoreUnavailableError) as error:
        print(f"gigavqa viewer: {error}", file=sys.stderr)
        return ExitStatus.WRONG_INPUT if isinstance(error, SettingsInvalidError) else ExitStatus.FAILED
    configure_logging(settings.log_format, "viewer")
    logging.getLogger("pyvips").setLevel(logging.WARNING)  # which tells of every picture how it was resized
    store_digests(settings.digests)
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
    return ExitStatus.DONE if server.started else ExitStatus.FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
