"""Ports that a gateway can listen on."""

import contextlib
import socket

from cli.errors import PortTakenError


def require_free_port(host: str, port: int) -> None:
    """Raise PortTakenError when another program listens there."""
    with contextlib.closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise PortTakenError(
                f"{host}:{port} cannot be listened on ({error.strerror}). If a gateway runs there already, use it or "
                "stop it; `--port 0` takes any free port."
            ) from error


def free_port(host: str) -> int:
    """A port that nobody listens on at this moment."""
    with contextlib.closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
