"""Clients that nobody here wrote, each in an environment of its own, and a gateway that they are tried against."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gigavqa.catalogue.load import load_catalogue
from gigavqa.runtime.embedded_store import start_store
from gigavqa.workers.engines.simulation.engine import Latencies, SimulatedEngine
from tests.service.datasets import NAME, write_town
from tests.service.gateways import MODEL, running, settings_of
from tests.service.openai.pictures import data_url, png
from tests.service.openai.workers import Make, RunningWorker, working
from tests.service.tenants import make_key
from tests.waiting import wait_until

ENVIRONMENTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gigavqa" / "clients"
"""Where `scripts/clients` installs them."""
FEATURES = (
    "chat",
    "data URL",
    "gigavqa:",
    "stream, usage",
    "JSON schema",
    "n, stop, seed, logprobs",
    "async",
    "timeout",
    "401, 404, 429",
    "tools",
    "responses",
    "files, batches",
)


class Client(NamedTuple):
    """A client: its environment, its script, and the package whose version is told."""

    environment: str
    script: str
    package: str


CLIENTS = {
    "openai": Client("openai-3", "with_openai.py", "openai"),
    "LiteLLM": Client("openai-3", "with_litellm.py", "litellm"),
    "LangChain": Client("openai-3", "with_langchain.py", "langchain-openai"),
    "pydantic-ai": Client("openai-3", "with_pydantic_ai.py", "pydantic-ai-slim"),
    "llm": Client("openai-3", "with_llm.py", "llm"),
    "instructor": Client("openai-2", "with_instructor.py", "instructor"),
    "LlamaIndex": Client("openai-2", "with_llama_index.py", "llama-index-llms-openai-like"),
    "openai-node": Client("node", "with_openai.mjs", "openai"),
    "AI SDK": Client("node", "with_ai_sdk.mjs", "@ai-sdk/openai"),
    "AI SDK, compatible": Client("node", "with_ai_sdk_compatible.mjs", "@ai-sdk/openai-compatible"),
}
_SLOW = load_catalogue()["qwen3-vl-8b"]
_SECONDS = 400
_SCRIPTS = Path(__file__).parent


class ServedModels(NamedTuple):
    """A gateway's address, and what a client must be told of it; `slow` plays the model that says nothing for long."""

    environ: Mapping[str, str]
    slow: RunningWorker


@contextmanager
def serving(folder: Path, make: Make | None = None) -> Iterator[ServedModels]:
    """Run a gateway that asks for keys, with the demo's model on the simulated engine or what `make` makes."""
    server = start_store(folder / "server")
    settings = settings_of(folder, server.url, require_keys=True, audit_log="/dev/null")
    write_town(settings.data)
    key, limited = (make_key(server.url, "lab", requests_a_minute=rate)[0] for rate in (None, 1))
    make_fast = make or (lambda: SimulatedEngine(load_catalogue()[MODEL], speed=0))
    make_slow = lambda: SimulatedEngine(_SLOW, latencies=Latencies(prompt=600))  # noqa: E731
    try:
        with (
            running(settings) as gateway,
            working(settings, make_fast),
            working(settings, make_slow, entry=_SLOW) as slow,
        ):
            asked = {"url": "/v1/workers", "headers": {"Authorization": f"Bearer {key}"}}
            states = lambda: [each["state"] for each in gateway.client.get(**asked).json()["data"]]  # noqa: E731
            wait_until(lambda: states() == ["ready", "ready"], timeout=600, what="the workers")
            yield ServedModels(
                {
                    "OPENAI_BASE_URL": f"{gateway.url}/v1",
                    "OPENAI_API_KEY": key,
                    "GIGAVQA_MODEL": MODEL,
                    "GIGAVQA_SLOW_MODEL": _SLOW.id,
                    "GIGAVQA_LIMITED_KEY": limited,
                    "GIGAVQA_SHOWN": f"gigavqa:{NAME}/images/plaza-1.png?region=pct:10,10,50,50",
                    "GIGAVQA_ADDRESS": f"{gateway.url}/iiif/{NAME}%2Fimages%2Fplaza-1.png/full/max/0/default.jpg",
                    "GIGAVQA_DATA_URL": data_url(png(1, (64, 48))),
                    "GIGAVQA_LOGPROBS": str(int(make is not None)),
                },
                slow,
            )
    finally:
        server.stop()


def is_installed(client: str) -> bool:
    """Return whether a client's environment is as its lock says."""
    installed = ENVIRONMENTS / CLIENTS[client].environment / "installed"
    return installed.is_file() and installed.read_text(encoding="utf-8") == _lock(client)


def version_of(client: str) -> str:
    """Return the version of a client in its lock."""
    package = re.escape(CLIENTS[client].package)
    found = re.search(
        rf'^{package}==(\S+)|"node_modules/{package}": {{\s*"version": "([^"]+)"', _lock(client), re.MULTILINE
    )
    assert found
    return str(found[1] or found[2])


def _lock(client: str) -> str:
    environment = CLIENTS[client].environment
    lock = "node/package-lock.json" if environment == "node" else f"python/{environment}.txt"
    return (_SCRIPTS / lock).read_text(encoding="utf-8")


def try_client(client: str, served: ServedModels) -> dict[str, str]:
    """Return what came of each feature: `ok`, what it needs or lacks, or `FAILED:` with the error."""
    here = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with TemporaryDirectory() as folder:
        environ = {**here, **served.environ, "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            _command(client, Path(folder)),
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    told = dict[str, str]()
    for line in done.stdout.splitlines():
        told |= json.loads(line) if line.startswith('{"') else {}  # clients print lines of their own
    if told.get("timeout") == "ok":
        wait_until(lambda: served.slow.running == 0, timeout=10, what="the end of the work of a client that left")
    missing = f"FAILED: the script ended with {done.returncode}: {done.stderr[-1500:]}"
    return {feature: told.get(feature, missing) for feature in FEATURES}


def _command(client: str, folder: Path) -> Sequence[str]:
    """Return what runs a client's script; Node looks for packages beside it, and so it gets a copy below `folder`."""
    environment, script, _ = CLIENTS[client]
    if environment != "node":
        return str(ENVIRONMENTS / environment / "bin" / "python"), str(_SCRIPTS / "python" / script)
    (folder / "node_modules").symlink_to(ENVIRONMENTS / "node" / "node_modules")
    for each in (_SCRIPTS / "node").glob("*.mjs"):
        shutil.copy(each, folder)
    return "node", str(folder / script)
