"""One small data set for all tests of the demo: the logic and the boxes are those of the full size."""

from pathlib import Path

import pytest

from gigavqa.benchmarks.ultravr.samples import UltraVRSample
from gigavqa.demo.ultravr import dataset as ultravr
from gigavqa.demo.vistahop.dataset import build_dataset
from gigavqa.evaluation.datasets import load_dataset

SEED = 7
SCALE = 0.1
HOP_SCALE = 0.25
"""Of the sides of VistaHop's large pictures: their letters are as high in what is shown as at full size."""


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo data set at a tenth of its size; painted here, since two painters take two seconds to begin."""
    folder = tmp_path_factory.mktemp("data") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ultravr, "AT_ONCE", 1)
        return ultravr.build_demo_dataset(folder, seed=SEED, scale=SCALE, progress=lambda _: None)


@pytest.fixture(scope="session")
def hop_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VistaHop's demo data set, at a quarter of its size."""
    folder = tmp_path_factory.mktemp("hop") / "data" / "signs"
    return build_dataset(folder, seed=SEED, scale=HOP_SCALE, progress=lambda _: None)


@pytest.fixture(scope="session")
def samples(demo_folder: Path) -> tuple[UltraVRSample, ...]:
    """Its samples, as anybody loads them."""
    return load_dataset(demo_folder).samples
