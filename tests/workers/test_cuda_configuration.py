"""How vLLM is configured on a GPU: its own CUDA platform over a driver that is a table, up to the first kernel."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import read_entry
from gigavqa.workers.engines.vllm.device_support import capability_fault
from tests.checkpoints.build import ensure_checkpoint
from tests.workers.examples import ENTRY
from tests.workers.fake_gpus import GB10, H100, L40S, V100, FakeMachine, machine

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]
FAMILIES = ["tiny-qwen3.5", "tiny-gemma-4", "tiny-kimi-vl", "tiny-glm-4.5v"]
ENTRIES = [ENTRY, *(read_entry(Path(__file__).parent / "families" / f"{name}.toml") for name in FAMILIES)]
TWO = [{**H100, "uuid": "GPU-a"}, {**L40S, "uuid": "GPU-b"}]
SLICED = {**H100, "uuid": "GPU-a", "slices": [{"uuid": "MIG-a", "bytes": 10 * 2**30}]}


class Place:
    """A folder with checkpoints, and the machine that starts engines of them."""

    def __init__(self, folder: Path, machine: FakeMachine) -> None:
        self._folder = folder
        self._machine = machine

    def started(self, gpus: list[dict[str, Any]], entries: list[Any] | None = None, **more: Any) -> Any:
        """How vLLM was configured, and what the engines ended with."""
        entries = entries or [ENTRY]
        folders = [ensure_checkpoint(entry.weights, self._folder) for entry in entries]
        return self._machine.start_on(gpus, entries, folders, **more)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where checkpoints and the plugin lie."""
    with machine(tmp_path_factory.mktemp("machine")) as started:
        yield Place(tmp_path_factory.mktemp("cuda"), started)


@pytest.fixture(scope="module")
def whole(place: Place) -> dict[str, Any]:
    """How vLLM is configured for the whole of a GPU."""
    (told,), _ = place.started([{**H100, "uuid": "GPU-a"}])
    found: dict[str, Any] = told
    return found


def test_families_are_configured_for_the_gpu_that_its_uuid_names(place: Place) -> None:
    """Spawned, in a process of their own, compiled, by model runner V2, prefilled in parts and found again."""
    told, said = place.started(TWO, ENTRIES, variables={"CUDA_VISIBLE_DEVICES": "GPU-b"})
    assert {device for device, _ in said} == {"NVIDIA L40S"}
    assert all("no kernels here" in text for _, text in said), said
    for each in told:
        assert (each["method"], each["cores_in_process"], each["device"]) == ("spawn", False, "cuda")
        assert (each["v2"], each["worker"], each["eager"]) == (True, "vllm.v1.worker.gpu_worker.Worker", False)
        assert each["chunked"] and each["prefix"] and not each["sleep"]
        assert each["embeddings"] >= each["batched"] and 0.8 < each["share"] <= 0.92


def test_an_engine_of_several_may_sleep_and_the_older_runner_is_a_word_away(place: Place) -> None:
    """Its graphs leave the GPU with its weights; VLLM_USE_V2_MODEL_RUNNER=0 takes V1."""
    variables = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
    (told,), ((device, _),) = place.started(TWO, sleep_bytes=2**40, variables=variables)
    assert device == "NVIDIA H100 80GB HBM3"
    assert (told["v2"], told["sleep"], told["graphs_leave"]) == (False, True, True)


@pytest.mark.parametrize("variables", [{}, {"CUDA_VISIBLE_DEVICES": "MIG-a"}], ids=["shown", "named"])
def test_a_slice_of_a_gpu_counts_its_own_memory(place: Place, whole: dict[str, Any], variables: dict[str, str]) -> None:
    """What embeddings take is a larger share of it than of the whole GPU."""
    (part,), _ = place.started([SLICED], variables=variables)
    assert part["embeddings"] == whole["embeddings"]
    taken = [0.92 - each["share"] for each in (part, whole)]
    assert taken[0] == pytest.approx(taken[1] * H100["bytes"] / (10 * 2**30))


@pytest.mark.parametrize(
    ("gpus", "told"),
    [
        ([{**H100, "uuid": "GPU-a", "lost": True}], "GPU is lost; reset the GPU"),
        ([], "finds no NVIDIA GPU; `nvidia-smi`"),
        ([{**V100, "uuid": "GPU-a"}], capability_fault("GPU 0 (Tesla V100-SXM2-32GB)", "7.0")),
    ],
    ids=["lost", "none", "without kernels"],
)
def test_a_gpu_that_cannot_be_taken_is_told_with_what_to_do(
    place: Place, gpus: list[dict[str, Any]], told: str
) -> None:
    """Errors of the driver's library are no RuntimeError; no platform at all has no word of its own."""
    _, ((_, said),) = place.started(gpus)
    assert told in said


def test_a_gpu_of_unknown_memory_is_taken_as_vllm_takes_it(place: Place) -> None:
    """Embeddings are kept for one step, which needs no memory to be known."""
    (told,), ((device, _),) = place.started([{**GB10, "uuid": "GPU-a"}])
    assert (device, told["embeddings"], told["share"]) == ("NVIDIA GB10", told["batched"], 0.92)
