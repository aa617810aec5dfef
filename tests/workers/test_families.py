"""Every model family at a small budget: its architecture with random weights, in the real vLLM, a process a family."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from catalogue.load import read_entry

ENTRIES = sorted((Path(__file__).parent / "families").glob("*.toml"))
CROPPED_AT_MOST = 2  # pictures in a prompt to DeepSeek-VL2; with more it crops none

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]


@pytest.fixture(scope="module", params=ENTRIES, ids=lambda path: path.stem)
def entry(request: pytest.FixtureRequest) -> Path:
    """The catalogue entry of one family."""
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def played(entry: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What happened when `tests.workers.family_play` played the family."""
    arguments = [sys.executable, "-m", "tests.workers.family_play", str(entry), str(tmp_path_factory.mktemp("family"))]
    done = subprocess.run(arguments, capture_output=True, text=True, env=os.environ, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.parametrize("condition", ["V0", "V1", "V2", "V3", "V4"])
def test_the_engine_counts_the_visual_tokens_of_the_plan(played: dict[str, Any], condition: str) -> None:
    """Of every raster of every condition; the response records that number."""
    chat = played["conditions"][condition]
    assert chat["text"]
    assert chat["counted"] == chat["planned"] == chat["recorded"]
    assert len(chat["counted"]) == {"V0": 0, "V1": 1, "V2": 1, "V3": 2, "V4": 3}[condition]


def test_rasters_lengthen_the_prompt(played: dict[str, Any]) -> None:
    """By their visual tokens and the few that enclose them."""
    without = played["conditions"]["V0"]["prompt_tokens"]
    for chat in played["conditions"].values():
        around = chat["prompt_tokens"] - without - sum(chat["counted"])
        assert 0 <= around <= 40 * len(chat["counted"])


def test_different_pictures_are_answered_differently(played: dict[str, Any]) -> None:
    """Four pictures, at least three answers at temperature 0."""
    assert len(set(played["answers"])) >= 3


def test_a_raster_is_processed_once(played: dict[str, Any]) -> None:
    """The second question finds it by its key, and the same question gets the same answer."""
    assert played["processed_again"] == 0
    assert played["same_text"]


def test_four_pictures_of_a_prompt_are_counted_one_by_one(played: dict[str, Any], entry: Path) -> None:
    """As planned for that many pictures; a family that crops up to two of them makes as few tokens as one tile."""
    many = played["many"]
    assert many["counted"] == many["planned"] == many["recorded"]
    assert len(many["counted"]) == 4 > CROPPED_AT_MOST
    if "deepseek" in read_entry(entry).family:
        assert set(many["counted"]) == {421}
