"""A server of this machine that speaks S3."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from gigavqa.launcher.preflight import free_port
from tests.waiting import wait_until


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of moto's server for as long as the block lasts; skips the test where moto is not installed."""
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip("moto_server is not installed on this machine (pip install 'moto[server]', anywhere on PATH)")
    port = free_port("127.0.0.1")
    url = f"http://127.0.0.1:{port}"
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([program, "-p", str(port)], **output) as process:  # type: ignore[call-overload]
        wait_until(lambda: _answers(url), timeout=30, what="moto's server")
        yield url
        process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/moto-api/data.json").is_success
    except httpx.TransportError:
        return False
