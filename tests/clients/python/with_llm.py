"""`llm`, by its `extra-openai-models.yaml` and its command line."""

import base64
import json
import os
from pathlib import Path

from checks import DATA_URL, KEY, MODEL, QUESTION, URL, VIEWED, WRONG_KEY, Finding, absent, tried
from click.testing import CliRunner
from llm.cli import cli

HOME = Path("llm")
HOME.mkdir()
os.environ["LLM_USER_PATH"] = str(HOME)
(HOME / "extra-openai-models.yaml").write_text(
    "".join(
        f"- model_id: {name}\n  model_name: {asked}\n  api_base: {URL}\n  api_key_name: here\n"
        "  vision: true\n  supports_schema: true\n  supports_tools: true\n"
        for name, asked in (("served", MODEL), ("absent", "nobody"))
    )
)
(HOME / "keys.json").write_text(json.dumps({"here": KEY}))


def run(*arguments: str, fails: str = "") -> str:
    """Return what a command prints, which fails with certain words or not at all."""
    done = CliRunner().invoke(cli, arguments)
    assert bool(done.exit_code) == bool(fails) and fails in done.output, done.output
    return str(done.stdout).rstrip("\n")


def said(*arguments: str, model: str = "served", fails: str = "") -> str:
    """Return the answer to the question."""
    return run("prompt", QUESTION, "-m", model, *arguments, fails=fails)


@tried("chat")
def chat() -> None:
    assert said("--no-stream")


@tried("data URL")
def data_url() -> None:
    Path("look.png").write_bytes(base64.b64decode(DATA_URL.partition(",")[2]))
    assert said("-a", "look.png")


@tried("gigavqa:")
def reference() -> str:
    assert said("--at", VIEWED, "image/jpeg")
    return "the viewer's address"


@tried("stream, usage")
def stream() -> None:
    assert said()
    assert json.loads(run("logs", "--json", "-n", "1"))[0]["output_tokens"]


@tried("JSON schema")
def schema() -> None:
    schema = json.dumps(Finding.model_json_schema())
    Finding.model_validate_json(said("--schema", schema, "-o", "max_tokens", "200", "-o", "temperature", "0"))


@tried("n, stop, seed, logprobs")
def sampling() -> None:
    seeded = ("-o", "seed", "5")
    whole = said(*seeded)
    assert said(*seeded, "-o", "stop", whole[2:4]) == whole[: whole.find(whole[2:4])].rstrip()


absent("async", "a command line")
absent("timeout", "no such option")


@tried("401, 404, 429")
def errors() -> None:
    said("--key", WRONG_KEY, fails="401")
    said(model="absent", fails="404")


@tried("tools")
def tools() -> None:
    assert said("-T", "llm_version")


absent("responses", "chats alone")
absent("files, batches", "none")
