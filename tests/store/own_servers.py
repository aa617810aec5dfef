"""State stores as operators run them: Debian's redis-server with TLS, users and Sentinels, on ports of this machine."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gigavqa.launcher.preflight import free_port
from tests.waiting import wait_until


def find_program(name: str) -> str:
    """Return the path of a program; skips the test where this machine has none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed on this machine")
    return found


@contextmanager
def redis_server(folder: Path, *lines: str, is_sentinel: bool = False, port: int | None = None) -> Iterator[int]:
    """Run one with these lines of redis.conf; yields its port, which speaks TLS where a certificate is given."""
    folder.mkdir(exist_ok=True)
    port = port or free_port("127.0.0.1")
    speaks_tls = any(line.startswith("tls-cert-file") for line in lines)
    listens = ["port 0", f"tls-port {port}", "tls-auth-clients no"] if speaks_tls else [f"port {port}"]
    config = folder / "redis.conf"
    config.write_text("\n".join([*listens, "bind 127.0.0.1", f"dir {folder}", *lines, ""]))
    command = [find_program("redis-server"), str(config), *(["--sentinel"] if is_sentinel else [])]
    with (folder / "redis.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            # In TLS's case a connection alone says that it listens.
            wait_until(lambda: _listens(port), timeout=20, what="redis-server")
            yield port
        finally:
            process.terminate()


def make_certificates(folder: Path) -> tuple[Path, Path, Path]:
    """Make an authority and, for `localhost`, a certificate of it; returns the authority, the certificate, its key."""
    folder.mkdir(exist_ok=True)
    authority, key, certificate = folder / "ca.pem", folder / "server.key", folder / "server.pem"
    names = folder / "names"
    names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    constraint = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
    for command in (
        ["req", "-x509", *new, "-keyout", folder / "ca.key", "-out", authority, "-subj", "/CN=tests", *constraint],
        ["req", *new, "-keyout", key, "-out", folder / "server.csr", "-subj", "/CN=localhost"],
        [
            *("x509", "-req", "-in", folder / "server.csr", "-CA", authority, "-CAkey", folder / "ca.key"),
            *("-CAcreateserial", "-out", certificate, "-extfile", names),
        ],
    ):
        subprocess.run([find_program("openssl"), *map(str, command)], check=True, capture_output=True)
    return authority, certificate, key


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
