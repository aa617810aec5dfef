"""`python -m service`: runs one gateway until it is told to stop."""

import argparse
import asyncio
import sys

from jobs.connection import refuse_eviction
from jobs.errors import ServerEvictsError
from service.app import create_app
from service.errors import SettingsInvalidError
from service.http.guard import require_protected
from service.server import GatewayServer, configure_logging
from service.settings import Settings


def main() -> int:
    """Read the arguments and the environment, and serve; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m service", description="The gateway of gigavqa.")
    parser.add_argument("--host", help="address to listen on (GIGAVQA_HOST, or 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (GIGAVQA_PORT, or 8470); 0 takes any free one")
    parser.add_argument(
        "--allow-unauthenticated",
        action="store_true",
        default=None,
        help="listen beyond this machine though whoever connects may do everything (GIGAVQA_ALLOW_UNAUTHENTICATED)",
    )
    given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    configure_logging()
    try:
        settings = Settings.from_environment().model_copy(update=given)
        require_protected(settings.host, allow_unauthenticated=settings.allow_unauthenticated)
    except SettingsInvalidError as error:
        print(f"gigavqa gateway: {error}", file=sys.stderr)
        return 2
    try:
        if settings.home.redis_url:
            asyncio.run(refuse_eviction(settings.home.redis_url))
    except ServerEvictsError as error:
        print(f"gigavqa gateway: {error}", file=sys.stderr)
        return 1
    server = GatewayServer(create_app(settings), settings)
    server.run()
    return 0 if server.started else 1


if __name__ == "__main__":
    sys.exit(main())
