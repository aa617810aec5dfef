"""Packages beside torch whose builds do not fit it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="no engine is installed")

CHILD = "import importlib.util, torchvision.transforms; print(importlib.util.find_spec('torchaudio'))"
PARENT = f"""
import subprocess, sys
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
print("torchaudio" in repair_torch_companions())
exec({CHILD!r})
subprocess.run([sys.executable, "-c", {CHILD!r}], check=True)
"""


@pytest.mark.engine
def test_a_broken_companion_is_hidden_from_the_process_and_its_children(tmp_path: Path) -> None:
    """A package whose library cannot be loaded looks absent in both; torchvision's transforms work in both."""
    broken = tmp_path / "torchaudio"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise OSError('libtorchaudio.so: cannot open shared object file')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-u", "-c", PARENT], capture_output=True, text=True, env=environment, check=False, timeout=120
    )
    assert done.stdout.split() == ["True", "None", "None"], done.stderr
