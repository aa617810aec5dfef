"""`python -m service`: runs one gateway until it is told to stop."""

import argparse
import os
import sys

from service.app import create_app
from service.errors import SettingsInvalidError
from service.server import GatewayServer, configure_logging
from service.settings import Settings

DEFAULT_PORT = 8470


def main() -> int:
    """Read the arguments and the environment, and serve; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m service", description="The gateway of gigavqa.")
    parser.add_argument("--host", default=os.environ.get("GIGAVQA_HOST", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=int(os.environ.get("GIGAVQA_PORT", DEFAULT_PORT)))
    arguments = parser.parse_args()
    configure_logging()
    try:
        settings = Settings.from_environment()
    except SettingsInvalidError as error:
        print(f"gigavqa gateway: {error}", file=sys.stderr)
        return 2
    server = GatewayServer(create_app(settings), arguments.host, arguments.port)
    server.run()
    return 0 if server.started else 1


if __name__ == "__main__":
    sys.exit(main())
