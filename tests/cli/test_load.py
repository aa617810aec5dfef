"""`gigavqa load`, as it is typed: against a server whose delays are known, and against the gateway."""

import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile

from tests.cli.conftest import Service
from tests.cli.installation import MODEL, Installation, hear_ctrl_c, sample, write_dataset
from tests.load.streaming_server import PROMPT_TOKENS, TOKENS, StreamingServer, streaming_server
from tests.waiting import wait_until
from tests.warm import warm_process


@pytest.fixture(scope="module")
def there() -> Iterator[StreamingServer]:
    """One server for all tests."""
    with streaming_server() as server:
        yield server


def test_a_service_is_measured(installation: Installation, there: StreamingServer, tmp_path: Path) -> None:
    """People get a table, the file has every figure."""
    file = tmp_path / "load.json"
    words = ("--users", "2", "--requests", "4", "--slo", "ttft=60s", "-o", str(file))
    text = installation.ok("load", "--url", there.url, "-m", "steady", *words)
    assert "4 answered, 0 failed" in text
    assert "time to first token" in text
    assert "requests/s within ttft 60000 ms" in text
    figures = json.loads(file.read_text())
    assert (figures["completed"], figures["total_output_tokens"]) == (4, 4 * TOKENS)
    assert (figures["total_input_tokens"], figures["objectives_ms"]) == (4 * PROMPT_TOKENS, {"ttft": 60_000})


def test_a_key_goes_to_whom_it_is_for(installation: Installation, there: StreamingServer) -> None:
    """The gateway's own to no other address; another's by the name of its variable."""
    there.keys.clear()
    own = ("load", "-m", "steady", "--requests", "1", "--warmup", "0")
    environment = installation.environment | {"GIGAVQA_API_KEY": "gateways-own", "THEIRS": "anothers"}

    def run(*words: str, url: str = installation.url) -> None:
        assert warm_process().run((*own, *words), environment | {"GIGAVQA_URL": url}, 60).returncode == 0

    run("--url", there.url)
    assert there.keys == {""}
    run("--url", there.url, "--api-key-env", "THEIRS")
    assert there.keys == {"", "bearer anothers"}
    run(url=there.url)
    assert there.keys == {"", "bearer anothers", "bearer gateways-own"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--users 2 --rate 3", "say one of them"),
        ("--duration 5", "'5' is no time such as 30s"),
        ("--slo tttf=1s", "did you mean 'ttft'"),
        ("--url there:80", "is no address"),
        ("--references", "name them with --dataset or --image"),
        ("--show stretch=minmax", "--show is about pictures"),
        ("--image deep.tif", "has 16 bits a sample"),
        ("--image deep.tif --show bands=2,2,2", "asks for band 2"),
        ("--dataset tyni", "did you mean 'tiny'"),
        ("--dataset tiny --region-size 4096", "images/plaza.png has 1 different region"),
        ("--api-key-env NOT_SET", "there is no such variable"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(
    installation: Installation, words: str, told: str
) -> None:
    """As wrong input, with its remedy."""
    tifffile.imwrite(installation.home / "data" / "deep.tif", np.zeros((80, 80), np.uint16))
    run = installation.run("load", "-m", "steady", *words.split())
    assert (run.returncode, told in run.stderr) == (2, True), run.stderr


def test_a_service_that_is_not_there_is_said(installation: Installation) -> None:
    """Before a minute of failures."""
    run = installation.run("load", "-m", "steady", "--url", "http://127.0.0.1:9")
    assert (run.returncode, "did not answer the request before all others: connection" in run.stderr) == (1, True)


@pytest.mark.slow
def test_ctrl_c_ends_with_what_was_measured(installation: Installation, there: StreamingServer) -> None:
    """Status 130, and figures that say that they are not all."""
    there.chats.clear()
    command = installation.command("load", "--url", there.url, "-m", "steady", "--users", "2", "--json")
    running = subprocess.Popen(
        command,
        env=installation.environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - as a terminal starts it
    )
    wait_until(lambda: len(there.chats) > 8, what="some answers")
    running.send_signal(signal.SIGINT)
    figures = json.loads(running.communicate(timeout=60)[0])
    assert running.returncode == 130
    assert figures["interrupted"]
    assert figures["completed"] >= 1


def test_a_data_set_is_shown_as_it_declares(installation: Installation, there: StreamingServer) -> None:
    """Regions of its pictures reach the service as JPEG, whatever their depth."""
    folder = write_dataset(installation.home / "data" / "deep", [sample(0, "images/deep.tif")])
    tifffile.imwrite(folder / "images" / "deep.tif", np.zeros((400, 400), np.uint16))
    settings = folder / "dataset.toml"
    settings.write_text(settings.read_text("utf-8") + 'show = "stretch=range:0:9"\n', "utf-8")
    words = ("--requests", "2", "--dataset", "deep", "--region-size", "64", "--json")
    figures = installation.json("load", "--url", there.url, "-m", "steady", *words)
    assert (figures["completed"], figures["failed_by_kind"]) == (2, {})
    address = there.chats[-1]["messages"][0]["content"][0]["image_url"]["url"]
    assert address.startswith("data:image/jpeg;base64,")


@pytest.mark.parametrize("how", ["--words 5", "--dataset tiny --region-size 64", "--dataset tiny --references"])
def test_the_gateway_is_measured(service: Service, how: str) -> None:
    """Its own counts of tokens; pictures with their pixels, and by their names."""
    words = ("--users", "2", "--requests", "4", "--region-size", "200", *how.split())
    figures = service.installation.json("load", "-m", MODEL, "--json", *words)
    assert (figures["completed"], figures["failed_by_kind"], figures["counted_by_chunks"]) == (4, {}, 0)
    assert figures["total_input_tokens"] > 0


def test_a_misspelt_model_of_the_gateway_is_suggested(service: Service) -> None:
    """In its own words."""
    run = replace(service.installation).run("load", "-m", "demo-qwen3-lv", "--requests", "1")
    assert (run.returncode, f"did you mean '{MODEL}'" in run.stderr) == (1, True)
