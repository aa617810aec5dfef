"""Checkpoints on Hugging Face, with a server on this machine in its place, or none."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.installation import Installation

pytest.importorskip("huggingface_hub", reason="no engine is installed")

NOBODY = "http://127.0.0.1:9"
ERRORS = {"gated": (403, "GatedRepo"), "gone": (404, "RepoNotFound"), "empty": (404, "EntryNotFound")}


class Hub(BaseHTTPRequestHandler):
    """Answers for every model what its name says."""

    def do_HEAD(self) -> None:
        """Refuse whatever is asked for of a model."""
        status, code = next((ERRORS[name] for name in ERRORS if name in self.path), (200, ""))
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """As HEAD."""
        self.do_HEAD()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def error_of(model: str, home: Path, hub: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one line that a command about the model ends with."""
    monkeypatch.setenv("HF_ENDPOINT", hub)
    monkeypatch.setenv("HF_HOME", str(home / "hf"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    run = Installation(home).run("budget", model, "1000x1000")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    return line


def test_without_a_network_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is tried again and again."""
    line = error_of("Qwen/Qwen9-VL", tmp_path, NOBODY, monkeypatch)
    assert "Qwen/Qwen9-VL" in line
    for remedy in ("HF_HOME", "HF_TOKEN", "local checkpoint folder", str(tmp_path / "hf")):
        assert remedy in line


@pytest.mark.parametrize(("model", "remedy"), [("x/gated", "HF_TOKEN"), ("x/gone", "name"), ("x/empty", "config.json")])
def test_what_the_hub_refuses_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: str, *, model: str, remedy: str
) -> None:
    """A model of others', none at all, and one without a configuration."""
    line = error_of(model, tmp_path, hub, monkeypatch)
    assert model in line
    assert remedy in line


def test_without_a_network_the_cache_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model that was fetched before is found."""
    model = tmp_path / "hf" / "hub" / "models--x--cached"
    snapshot = model / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0" * 40)
    config = {"model_type": "qwen3_vl", "text_config": {"max_position_embeddings": 32768}}
    (snapshot / "config.json").write_text(json.dumps(config))
    (snapshot / "preprocessor_config.json").write_text(json.dumps({"patch_size": 16, "merge_size": 2}))
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert Installation(tmp_path).json("budget", "x/cached", "1000x1000")["visual_tokens"] > 0


def test_a_worker_does_not_wait_for_weights_that_are_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It ends with the same sentence, before vLLM is asked."""
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    installation = Installation(tmp_path)
    command = [sys.executable, "-P", "-m", "gigavqa.workers", "--model", "qwen3-vl-8b"]
    run = subprocess.run(
        command, env=installation.environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 2
    assert "HF_HOME" in run.stderr.splitlines()[-1]
    assert not (tmp_path / "server").exists()
