"""What vLLM does not divide among GPUs is said before it starts: by the worker, by `up`, and by `plan`."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.gpus import GPU_CARDS
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.quantization import read_quantization
from gigavqa.catalogue.shape_configs import shape_of
from gigavqa.cli.plans import place
from gigavqa.launcher import preflight
from gigavqa.launcher.worker_plans import PlacementOptions, plan_workers
from gigavqa.workers.engines.vllm.division import divide, require_divided
from gigavqa.workers.engines.vllm.memory import fits
from gigavqa.workers.errors import EngineArgumentError
from gigavqa.workers.served_models import served_models
from gigavqa.workers.settings import WorkerSettings

CATALOGUE = load_catalogue()
OPEN = [entry.id for entry in CATALOGUE.values() if entry.billions and not entry.is_closed]


def over(model: str, number: int, **engine: object) -> CatalogueEntry:
    """The entry of a model that is spread over so many GPUs."""
    entry = CATALOGUE[model]
    return entry.model_copy(update={"engine": {**entry.engine, "tensor_parallel_size": number, **engine}})


@pytest.mark.parametrize(
    ("model", "number", "parts"),
    [
        ("qwen3-vl-8b", 3, ("32 query heads", "16 heads of its vision encoder")),
        ("phi-4-reasoning-vision-15b", 4, ("10 KV heads",)),
        (
            "phi-4-reasoning-vision-15b",
            20,
            ("16 heads of its vision encoder", "4,304 rows of its vision encoder's MLPs"),
        ),
        ("qwen3-vl-30b-a3b", 8, ()),
        ("qwen3.5-27b", 16, ("24 query heads",)),
        ("qwen3.5-27b", 8, ()),
        ("glm-4.5v", 8, ("12 heads of its vision encoder",)),
        ("qwen2.5-vl-3b", 8, ("3,420 rows of its vision encoder's MLPs",)),
        ("internvl3-78b", 8, ()),
        ("gemma-4-26b", 8, ()),
        ("kimi-vl-a3b-thinking", 8, ()),
    ],
)
def test_the_parts_that_are_not_divided_are_named_with_their_sizes(
    model: str, number: int, parts: tuple[str, ...]
) -> None:
    """KV heads may be copied, and some families' encoders are whole on each GPU."""
    found = divide(CATALOGUE[model], shape_of(CATALOGUE[model]), number).parts
    assert (set(parts) <= set(found), bool(found)) == (True, bool(parts))


@pytest.mark.parametrize(
    ("said", "torn"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, True),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, False),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, False),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, True),
        ({"quant_method": "fp8"}, False),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["mlp"]}, False),
    ],
    ids=str,
)
def test_a_group_of_quantized_weights_is_never_torn(said: dict[str, Any], torn: bool) -> None:
    """The MLPs of a 72B model have 29,568 rows: 231 groups of 128, which two GPUs do not divide, and 924 of 32."""
    entry = CATALOGUE["qwen2.5-vl-72b"]
    shape = replace(shape_of(entry), quantization=read_quantization(said, "config.json"))

    assert divide(entry, shape, 1).parts == ()
    assert divide(entry, shape, 2).parts == (("29,568 rows of its MLPs in groups of 128",) if torn else ())


def test_attention_that_cannot_be_divided_takes_its_bytes_on_each_gpu() -> None:
    """InternViT-6B has 25 heads: of the encoder, MLPs alone are divided."""
    entry = over("internvl3-38b", 2)
    vision = shape_of(entry).vision
    assert vision is not None
    attention = 2 * vision.layers * 4 * vision.hidden**2
    h200 = GPU_CARDS["h200"].memory_bytes
    whole = fits(over("internvl3-38b", 1), h200).weights

    assert fits(entry, h200).weights == pytest.approx(attention + (whole - attention) / 2, abs=2)


@pytest.mark.parametrize("model", OPEN)
def test_every_entry_is_divided_as_it_says(model: str) -> None:
    """Those that are shipped."""
    require_divided(CATALOGUE[model])


def test_an_encoder_that_is_kept_whole_need_not_be_divided() -> None:
    """It takes its bytes on each GPU then; families without that mode are divided all the same."""
    whole, split = over("glm-4.5v", 8, mm_encoder_tp_mode="data"), over("glm-4.5v", 4)
    require_divided(whole)
    vision = shape_of(whole).vision
    assert vision is not None
    h200 = GPU_CARDS["h200"].memory_bytes
    assert fits(whole, h200).weights - fits(split, h200).weights // 2 == pytest.approx(
        2 * vision.parameters * 7 / 8, rel=0.01
    )
    with pytest.raises(EngineArgumentError, match="16 heads of its vision encoder"):
        require_divided(over("phi-4-reasoning-vision-15b", 20, mm_encoder_tp_mode="data"))


TOLD = (
    r"'glm-4\.5v' cannot be spread over 8 GPUs, among which vLLM does not divide 12 heads of its vision encoder; set "
    r"engine\.tensor_parallel_size of its entry to 1, 2 or 4, or engine\.mm_encoder_tp_mode to data, which keeps"
)


def test_up_refuses_what_is_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command line's arguments, too, and before it looks for a GPU."""
    monkeypatch.setattr(preflight, "require_weights", lambda _: None)
    with pytest.raises(EngineArgumentError, match=TOLD):
        plan_workers([CATALOGUE["glm-4.5v"]], PlacementOptions(), {"tensor_parallel_size": 8})


def test_a_worker_refuses_what_is_not_divided() -> None:
    """Before it loads vLLM."""
    settings = WorkerSettings.model_validate({"models": ("glm-4.5v",), "engine_args": ("tensor_parallel_size=8",)})
    with pytest.raises(EngineArgumentError, match=TOLD):
        served_models(settings)


def test_a_plan_keeps_the_encoder_whole_where_that_alone_can_be() -> None:
    """And says what `up` has to be told."""
    placed = place(CATALOGUE["glm-4.5v"], GPU_CARDS["a100-40"], 8)
    assert (placed.fit.holds, placed.fit.number) == (True, 8)
    assert placed.condition == (
        "gigavqa up --model glm-4.5v --engine-arg tensor_parallel_size=8 --engine-arg mm_encoder_tp_mode=data"
    )


def test_nothing_is_refused_of_a_model_of_unknown_shape() -> None:
    """vLLM says it then."""
    require_divided(over("qwen3-vl-8b", 3).model_copy(update={"weights": "somebody/else"}))


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_vllm_makes_what_is_said_to_be_divided_and_nothing_else(tmp_path: Path) -> None:
    """Of every family: its layers as they are, with heads and widths of the encoder that four GPUs do not divide."""
    command = [sys.executable, "-m", "tests.workers.tensor_parallel", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    told = [json.loads(line[5:]) for line in ended.stdout.splitlines() if line.startswith("TOLD ")]
    assert ended.returncode == 0, ended.stderr
    assert [each for each in told if each[2] != (not each[3])] == []
    kinds = [(change, made) for _, change, made, _ in told]
    assert ("as they are", False) not in kinds
    assert all((change, made) in kinds for change in ("heads", "widths") for made in (True, False))
