"""`python -m gigavqa.service`: runs one gateway until it is told to stop."""

import asyncio
import gc
import sys
from typing import TYPE_CHECKING

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.exit_statuses import ExitStatus
from gigavqa.runtime.logs import configure_logging
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.listen_settings import require_protected, requires_keys
from gigavqa.store.object_stores import require_results
from gigavqa.store.reachability import require_usable

if TYPE_CHECKING:
    from gigavqa.service.server import GatewayServer

_SWITCH_SECONDS = 0.0005  # judging in threads holds no request up: decision 0010
"""How long a thread that judges keeps a probe waiting, a few times over: Python's own 5 ms are too long for that
(docs/decisions/0010-reading-answers.md)."""


def main() -> int:
    """Read the settings, and serve; returns the exit status: 1 when it cannot go on, 2 for wrong settings."""
    try:
        settings = GatewaySettings.read(sys.argv[1:])
        requires_keys(settings)
    except SettingsInvalidError as error:
        return _complain(error)
    configure_logging(settings.log_format, "gateway")
    try:
        if settings.redis_url:
            asyncio.run(require_usable(settings.redis_url))
        require_results(settings.results_uri)
        require_protected(settings)
        server = _server(settings)
    except SettingsInvalidError as error:
        return _complain(error)
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()  # what was imported stays; to look through it each time would hold every answer for 50 to 300 ms
    server.run()
    return ExitStatus.DONE if server.started else ExitStatus.FAILED


def _server(settings: GatewaySettings) -> "GatewayServer":
    from gigavqa.service.app import create_app  # noqa: PLC0415 - takes seconds; wrong settings are told before
    from gigavqa.service.server import GatewayServer  # noqa: PLC0415 - the same

    return GatewayServer(create_app(settings), settings)


def _complain(error: SettingsInvalidError) -> ExitStatus:
    print(f"gigavqa gateway: {error}", file=sys.stderr)
    return ExitStatus.WRONG_INPUT


if __name__ == "__main__":
    sys.exit(main())
