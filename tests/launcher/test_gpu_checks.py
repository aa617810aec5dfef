"""`gigavqa up` refuses GPUs on which an engine would fail, by a driver that answers as NVIDIA's does."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.launcher import preflight
from gigavqa.launcher.errors import DevicesTooSmallError, DevicesUnusableError
from gigavqa.launcher.placement import WorkerPlan
from gigavqa.launcher.worker_plans import PlacementOptions, plan_workers
from tests.cli.installation import MODEL, Installation
from tests.launcher.machines import DRIVER, write_asked_driver

PENDING = {"--query-remapped-rows=": "echo GPU-1, 1, 0"}
BEYOND = {"--query-remapped-rows=": "echo GPU-1, Yes, Yes"}
RETIRED = {"--query-gpu=uuid,retired": "echo GPU-0, Yes, 0"}
ERRORS = {"--query-gpu=uuid,retired": "echo GPU-0, No, 3"}
TAKEN = {
    "--query-gpu=uuid,memory": "printf 'GPU-0, 2000, 81559\\nGPU-1, 70000, 81559\\n'",
    "--query-compute-apps=": "printf 'GPU-0, 11\\nGPU-1, 4711\\n'",
}


def plan(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: dict[str, str],
    *,
    entry: CatalogueEntry | None = None,
    driver: str = DRIVER,
    skip_checks: bool = False,
) -> tuple[WorkerPlan, ...]:
    """What `gigavqa up --gpus all` would start with vLLM's build for GPUs, on two of them."""
    write_asked_driver(folder, answers, driver=driver)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(preflight, "engine_package", lambda: "vllm")
    monkeypatch.setattr(preflight, "require_weights", lambda _: None)
    return plan_workers([entry or load_catalogue()[MODEL]], PlacementOptions(gpus="all", skip_checks=skip_checks), {})


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (PENDING, "GPU 1: a repair of its memory is pending: .*`nvidia-smi -i 1 --gpu-reset`"),
        (RETIRED, "GPU 0: a repair of its memory is pending: .*`nvidia-smi -i 0 --gpu-reset`"),
        (BEYOND, "GPU 1: its memory cannot be repaired any more: have it replaced"),
        (TAKEN, "GPU 1: 70,000 of its 81,559 MiB are in use by process 4711, and an engine takes 92%"),
    ],
)
def test_a_gpu_on_which_an_engine_would_fail_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, str], said: str
) -> None:
    """Before any process is started; who knows better takes it all the same."""
    with pytest.raises(DevicesUnusableError, match=f"{said}.*--skip-gpu-checks"):
        plan(tmp_path, monkeypatch, answers)
    assert len(plan(tmp_path, monkeypatch, answers, skip_checks=True)) == 2


@pytest.mark.parametrize(("used", "share"), [(30000, "0.6"), (60000, None)])
def test_the_share_that_is_named_fits_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: int, share: str | None
) -> None:
    """And none is where too little is left."""
    answers = {"--query-gpu=uuid,memory": f"printf 'GPU-0, {used}, 81559\\n'"}
    with pytest.raises(DevicesUnusableError) as caught:
        plan(tmp_path, monkeypatch, answers)
    found = re.search(r"gpu_memory_utilization=([\d.]+)", str(caught.value))
    assert (found and found[1]) == share


def test_a_driver_that_is_too_old_is_refused_with_the_one_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's own error comes half a minute later."""
    with pytest.raises(DevicesUnusableError, match=r"driver 575\.57\.08 is too old for vLLM's CUDA 13: install 580"):
        plan(tmp_path, monkeypatch, {}, driver="575.57.08")


def test_a_model_that_is_too_large_is_refused_unless_checks_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context of two million tokens, on GPUs of 80 GiB."""
    huge = load_catalogue()["qwen3-vl-8b"].model_copy(update={"max_model_len": 2_000_000})
    with pytest.raises(DevicesTooSmallError, match=r"'qwen3-vl-8b' .*--skip-gpu-checks, turns this off"):
        plan(tmp_path, monkeypatch, {}, entry=huge)
    assert plan(tmp_path, monkeypatch, {}, entry=huge, skip_checks=True)


@pytest.mark.parametrize("answers", [{}, ERRORS], ids=["a driver without an answer", "errors that were counted"])
def test_gpus_of_which_nothing_bad_is_known_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, str]
) -> None:
    """Errors alone are no reason: rows that had them are put aside."""
    assert len(plan(tmp_path, monkeypatch, answers)) == 2


@dataclass(frozen=True)
class WithDriver(Installation):
    """An installation on a machine whose driver lists GPUs."""

    @property
    def environment(self) -> dict[str, str]:
        """As ever, with the driver's folder first on the path."""
        return super().environment | {"PATH": f"{self.home.parent}:{os.environ['PATH']}"}


def test_up_ends_with_the_sentence_and_starts_nothing(installation: Installation) -> None:
    """As a user sees it: status 1, and no state store of that home."""
    write_asked_driver(installation.home.parent, PENDING)
    ended = WithDriver(installation.home).run(
        "up", "--engine", "simulated", "--port", "0", "--model", MODEL, "--gpus", "all"
    )
    assert ended.returncode == 1
    assert "GPU 1: a repair of its memory is pending" in ended.stderr
    assert not list(installation.home.rglob("*.sock"))
