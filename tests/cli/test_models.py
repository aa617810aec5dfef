"""The catalogue at the command line: what pictures demand of models, and entries for other checkpoints."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.families.registry import FAMILIES
from gigavqa.catalogue.gpus import GPU_CARDS, GpuRequirement
from gigavqa.catalogue.load import load_catalogue, read_entry
from gigavqa.cli.plans import place
from gigavqa.evaluation.installed import models_of_papers
from tests.cli.installation import Installation
from tests.launcher.machines import DRIVER, H100, WithDriver, write_driver

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


def test_a_model_of_random_weights_is_marked(installation: Installation) -> None:
    """And no other one."""
    rows = installation.run("models").stdout.splitlines()
    marked = {row.split()[0] for row in rows if "(random)" in row}
    assert marked == {entry.id for entry in load_catalogue().values() if entry.random_weights}


def listed(installation: Installation, *options: str) -> list[str]:
    """Ids of the models that these options leave, in the order of the listing."""
    return [entry["id"] for entry in installation.json("models", *options, "--json")]


@pytest.mark.parametrize(("paper", "models"), models_of_papers().items())
def test_the_models_of_a_paper_are_listed_in_its_order(
    installation: Installation, paper: str, models: Sequence[str]
) -> None:
    """All that its tables name, and each says of which papers it is."""
    entries = installation.json("models", "--paper", paper, "--json")
    assert [entry["id"] for entry in entries] == [*models]
    assert all(paper in entry["papers"] for entry in entries)
    rows = [line.split()[0] for line in installation.ok("models", "--paper", paper).splitlines()]
    assert rows == ["model", *models]


def test_options_leave_what_has_all_that_they_ask(installation: Installation) -> None:
    """A family's beginning stands for all of its kind; of closed models nobody knows the size."""
    known = {entry.id: entry for entry in load_catalogue().values()}
    small = listed(installation, "--max-billions", "9")
    assert {"qwen3-vl-8b", "internvl3-8b"} <= {*small} and "gpt-5" not in small
    assert all((known[model].billions or 99) <= 9 for model in small)
    families = {known[model].family for model in listed(installation, "--family", "Qwen")}
    assert families == {family for family in FAMILIES if family.startswith("qwen")} & {e.family for e in known.values()}
    both = listed(installation, "--family", "internvl", "--min-billions", "70", "--paper", "atombench")
    assert both == ["internvl3-78b", "internvl2.5-78b"]


def test_what_fits_a_gpu_is_what_a_plan_says_fits_it(installation: Installation) -> None:
    """Over as many as are named; nothing that only its vendor serves."""
    for options in (("--fits", "a100-40"), ("--fits", "l40s", "--count", "4")):
        card, number = GPU_CARDS[options[1]], int(options[-1]) if len(options) > 2 else 1
        fitting = listed(installation, *options)
        entries = [entry for entry in load_catalogue().values() if entry.gpus]
        assert {*fitting} >= {entry.id for entry in entries if place(entry, card, number).fit.holds}
        assert not any(load_catalogue()[model].is_closed for model in fitting)


def test_what_fits_here_is_what_the_doctor_finds_room_for(installation: Installation) -> None:
    """On the GPUs that the driver shows; without one it is said."""
    blind = installation.run("models", "--fits", "here")
    assert (blind.returncode, "no GPU is visible here" in blind.stderr) == (1, True)
    write_driver(installation.home.parent, [f"0, GPU-0, {H100}, 40536, 00000000:F0:00.0, [N/A], {DRIVER}, 9.0"])
    held = {*listed(WithDriver(installation.home), "--fits", "here")}
    assert {"minicpm-v-4.5", "qwen2.5-vl-7b"} <= held and not {"qwen3-vl-8b", "qwen3-vl-32b"} & held


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--paper", "vistahip"), "did you mean 'vistahop'"),
        (("--family", "quen3-vl"), "did you mean 'qwen3-vl'"),
        (("--fits", "h10"), "did you mean 'h100'"),
        (("--count", "2"), "name it by --fits"),
        (("--max-billions", "-1"), "--max-billions '-1' is out of range (0 or more)"),
    ],
)
def test_what_is_asked_of_models_in_vain_is_refused(
    installation: Installation, options: tuple[str, ...], said: str
) -> None:
    """In one sentence."""
    run = installation.run("models", *options)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert said in run.stderr


def test_models_are_listed_in_groups_by_family_and_size(installation: Installation) -> None:
    """Those with open weights first; an answer to what none has is a sentence."""
    rows = [line.split()[0] for line in installation.ok("models").splitlines()]
    order = [rows.index(row) for row in ("qwen3-vl-8b", "qwen3-vl-32b", "glm-4.1v-9b-thinking", "glm-4.5v", "closed")]
    assert order == sorted(order)
    assert "no model" in installation.ok("models", "--family", "gpt", "--max-billions", "5")


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
def test_a_shorter_context_wants_the_least_of_the_named_gpus(context: int, memory_gib: int, others: int) -> None:
    """Where an entry names some for shorter contexts; and of a longer one nothing is known."""
    smaller = ({"memory_gib": 48, "max_model_len": 98304}, {"memory_gib": 40, "max_model_len": 65536})
    named = GpuRequirement.model_validate({"memory_gib": 80, "smaller": smaller})
    gpus = named.with_context(context, 131072)
    assert gpus and (gpus.memory_gib, len(gpus.smaller)) == (memory_gib, others)
    assert named.with_context(131073, 131072) is None
