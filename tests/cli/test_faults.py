"""The doctor names GPUs that wait for a repair of their memory, by a driver that answers as NVIDIA's does."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from gigavqa.cli.checks import faults
from tests.launcher.machines import write_asked_driver


def driver(folder: Path, monkeypatch: pytest.MonkeyPatch, remaps: str, pages: str) -> None:
    """An `nvidia-smi` of two GPUs, with what it does for the two questions about their memory."""
    write_asked_driver(folder, {"--query-remapped-rows=": remaps, "--query-gpu=uuid,retired": pages})
    monkeypatch.setenv("PATH", str(folder), prepend=":")


CLEAN_ROWS = "printf 'GPU-0, 0, 0\\nGPU-1, 0, 0\\n'"
CLEAN_PAGES = "printf 'GPU-0, [N/A], 0\\nGPU-1, No, 0\\n'"


@pytest.mark.parametrize(
    ("answers", "found", "advice"),
    [
        ((CLEAN_ROWS, CLEAN_PAGES), "none pending on 2 GPUs", ""),
        (("exit 2", "exit 2"), "none pending on 0 GPUs", ""),
        (("printf 'GPU-1, Yes, No\\n'", CLEAN_PAGES), "GPU 1: a repair of its memory is pending", "-i 1 --gpu-reset"),
        (("printf 'GPU-1, 1, 1\\n'", CLEAN_PAGES), "GPU 1: its memory cannot be repaired any more", "replaced"),
        ((CLEAN_ROWS, "printf 'GPU-0, Yes, 0\\n'"), "GPU 0: a repair of its memory is pending", "-i 0 --gpu-reset"),
        ((CLEAN_ROWS, "printf 'GPU-0, No, 3\\n'"), "GPU 0: 3 uncorrected memory errors", "-i 0 --gpu-reset"),
    ],
)
def test_a_gpu_whose_memory_is_to_be_repaired_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, str], found: str, advice: str
) -> None:
    """With what to do; a driver that does not know the question has nothing pending."""
    driver(tmp_path, monkeypatch, *answers)
    said = faults.repairs()
    assert found in said.found
    assert (said.status, advice in said.advice) == ("warn" if advice else "ok", True)


def test_little_shared_memory_is_named_where_there_are_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a container has unless it is told."""
    driver(tmp_path, monkeypatch, CLEAN_ROWS, CLEAN_PAGES)
    monkeypatch.setattr(faults.shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * 2**20))
    said = faults.shared_memory()
    assert (said.status, said.found, "--shm-size" in said.advice) == ("warn", "64 MiB free", True)
