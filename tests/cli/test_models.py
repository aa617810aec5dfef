"""The catalogue at the command line: what pictures demand of models, and entries for other checkpoints."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.gpus import GpuRequirement
from gigavqa.catalogue.load import load_catalogue, read_entry
from tests.cli.installation import Installation

INTERNVL = {
    "model_type": "internvl_chat",
    "architectures": ["InternVLChatModel"],
    "max_dynamic_patch": 12,
    "force_image_size": 448,
    "vision_config": {"patch_size": 14},
    "llm_config": {"max_position_embeddings": 40960},
}


def checkpoint(installation: Installation, config: dict[str, Any]) -> Path:
    """A folder with a configuration and no weights."""
    folder = installation.home.parent / "My-InternVL"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_a_size_adds_what_each_condition_needs(installation: Installation) -> None:
    """DeepSeek's four quadrants are cropped no more: 421 tokens each, beside the answer's 1024."""
    entries = {entry["id"]: entry for entry in installation.json("models", "--size", "9000x7000", "--json")}
    picture = entries["deepseek-vl2"]["picture"]
    assert picture["visual_tokens"] == 2017
    assert picture["context_needed"] == {"V0": 1024, "V1": 3041, "V2": 3041, "V3": 2708, "V4": 3129}


def test_what_exceeds_the_context_is_marked(installation: Installation) -> None:
    """Phi's context of 16384 tokens holds four pictures and the least answer, and not five."""
    lines = installation.ok("models", "--size", "20000x20000").splitlines()
    line = next(line for line in reversed(lines) if "phi-4" in line)
    assert line.count(" !") == 1


def test_a_picture_too_small_for_quadrants_is_told_so(installation: Installation) -> None:
    """V3 and V4 are refused, and the rest stands."""
    lines = installation.ok("models", "--size", "1x1").splitlines()
    line = next(line for line in reversed(lines) if "qwen3-vl-8b" in line)
    assert line.split()[-3:-1] == ["refused", "refused"]


def test_a_size_that_is_none_is_refused(installation: Installation) -> None:
    """The message says the form."""
    run = installation.run("models", "--size", "big")
    assert (run.returncode, "WIDTHxHEIGHT" in run.stderr) == (2, True)


def test_an_added_checkpoint_is_an_entry_of_the_installation(installation: Installation) -> None:
    """Family, budget and context come from its config.json, and the model is listed."""
    folder = checkpoint(installation, INTERNVL)
    path = Path(installation.ok("models", "add", str(folder), "--id", "mine").strip())
    entry = read_entry(path)
    assert (entry.family, entry.max_model_len, entry.visual_budget.max_visual_tokens) == (
        "internvl3.5-chat",
        40960,
        13 * 256,
    )
    assert "mine" in {model["id"] for model in installation.json("models", "--json")}


def test_an_entry_is_not_replaced_unasked(installation: Installation) -> None:
    """What the operator edited stays until --force."""
    folder = checkpoint(installation, INTERNVL)
    path = Path(installation.ok("models", "add", str(folder)).strip())
    path.write_text(path.read_text().replace("max_tiles = 12", "max_tiles = 6"))
    assert installation.run("models", "add", str(folder)).returncode == 2
    assert tomllib.loads(path.read_text())["visual_budget"]["max_tiles"] == 6
    installation.ok("models", "add", str(folder), "--force")
    assert tomllib.loads(path.read_text())["visual_budget"]["max_tiles"] == 12


def test_code_of_a_folder_needs_no_revision(installation: Installation) -> None:
    """It is on this machine already, and cannot change unnoticed."""
    folder = checkpoint(installation, INTERNVL)
    path = Path(installation.ok("models", "add", str(folder), "--trust-remote-code").strip())
    assert read_entry(path).trust_remote_code


def test_a_copy_of_the_catalogues_entry_with_less_context_replaces_it(installation: Installation) -> None:
    """For smaller GPUs, which it then names; all else is as it was."""
    shipped = load_catalogue()["qwen3-vl-8b"]
    path = Path(installation.ok("models", "add", "qwen3-vl-8b", "--context", "65536").strip())
    written = read_entry(path)
    assert (written.max_model_len, written.gpus) == (65536, GpuRequirement(memory_gib=40))
    assert written.model_copy(update={"max_model_len": shipped.max_model_len, "gpus": shipped.gpus}) == shipped
    (listed,) = [model for model in installation.json("models", "--json") if model["id"] == "qwen3-vl-8b"]
    assert listed["max_model_len"] == 65536


@pytest.mark.parametrize(
    ("context", "memory_gib", "others"),
    [(131072, 80, 2), (100_000, 80, 2), (98304, 48, 1), (70_000, 48, 1), (1, 40, 0)],
)
def test_a_shorter_context_wants_the_least_gpus_that_hold_it(context: int, memory_gib: int, others: int) -> None:
    """And of a longer one nothing is known."""
    entry = load_catalogue()["qwen3-vl-8b"]
    assert entry.gpus
    gpus = entry.gpus.with_context(context, entry.max_model_len)
    assert gpus and (gpus.memory_gib, len(gpus.smaller)) == (memory_gib, others)
    assert entry.gpus.with_context(entry.max_model_len + 1, entry.max_model_len) is None
