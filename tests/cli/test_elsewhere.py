"""`gigavqa up` in front of a server that runs already."""

import pytest

from tests.cli.conftest import start_service, stop_service
from tests.cli.installation import MODEL, Installation
from tests.workers.remote_server import Elsewhere, serving

pytestmark = pytest.mark.slow


def test_a_job_is_played_by_a_server_elsewhere(installation: Installation) -> None:
    """Submitted, answered, and told with what it went to; `models` says which ones are only to be had so."""
    with serving(Elsewhere(model="Own/demo")) as there:
        options = ("--engine", "remote", "--endpoint", there.url, "--remote-model", "Own/demo")
        service = start_service(installation, options=options)
        try:
            service.installation.ok("submit", "-d", "tiny", "-m", MODEL, "--watch")
            (worker,) = service.installation.json("workers", "--json")
            responses = [line for line in service.installation.ok("results").splitlines() if line]
        finally:
            stop_service(service)
    assert len(responses) == len(there.chats) > 0
    assert worker["engine"]["remote"] == {
        "endpoint": there.url,
        "model": "Own/demo",
        "dialect": "vllm",
        "pictures": "png",
        "detail": None,
        "not_sent": [],
    }
    assert all(there.url in line for line in responses)
    entries = {entry["id"]: entry for entry in installation.json("models", "--json")}
    assert entries["gpt-5.5"]["weights"] == "remote:gpt-5.5"
    line = next(line for line in installation.ok("models").splitlines() if line.startswith("gpt-5.5"))
    assert "elsewhere" in line
