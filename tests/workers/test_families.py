"""Every model family at a small budget: its architecture with random weights, in the real vLLM, one after the other."""

import importlib.util
import multiprocessing
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import read_entry
from tests.workers.references.agreement import distance, text

ENTRIES = sorted((Path(__file__).parent / "families").glob("*.toml"))
NEAR = {"float32": 1e-3, "bfloat16": 0.5}
"""Nats by which an engine's logprobs may differ from the reference's, which reckons in float32.

Measured: 4e-5 in float32, and 0.23 in bfloat16, at logits of up to 15.
"""
PARTED_AT_MOST = {"float32": 1, "bfloat16": 3}  # texts of nine; in bfloat16 two logits are often the same number
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


def _play(folder: Path, asked: Connection) -> None:
    from tests.workers.family_play import play_families  # torch, which is not needed here

    play_families(folder, asked)


class Player:
    """The process of `tests.workers.family_play`; its log is kept in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        context = multiprocessing.get_context("spawn")  # as an engine's: forked where that can be
        self._asked, theirs = context.Pipe()
        self._process = context.Process(target=_play, args=(folder, theirs))
        self._process.start()
        theirs.close()

    def play(self, entry: Path) -> dict[str, Any]:
        """Play one family; where that is cut short the process ends, lest the next one read this one's result."""
        try:
            return self._played(entry)
        except BaseException:
            self.end()
            raise

    def _played(self, entry: Path) -> dict[str, Any]:
        self._asked.send(entry)
        try:
            result: dict[str, Any] = self._asked.recv()
        except EOFError:
            raise AssertionError(self._log.read_text(errors="replace")[-6000:]) from None
        return result

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.join()

    @property
    def runs(self) -> bool:
        """Whether it can play another one."""
        return self._process.is_alive()


@pytest.fixture(scope="module")
def players(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Player]]:
    """The player of now is the last; one that a family has ended is followed by another."""
    made = [Player(tmp_path_factory.mktemp("families"))]
    yield made
    for player in made:
        player.end()


@pytest.fixture(scope="module")
def played(entry: Path, players: list[Player], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What happened when the family was played."""
    if not players[-1].runs:
        players.append(Player(tmp_path_factory.mktemp("families")))
    return players[-1].play(entry)


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


def test_the_engine_reads_and_writes_what_the_reference_does(played: dict[str, Any], entry: Path) -> None:
    """As many tokens of every prompt, the same logits, and the same texts but where two tokens are equally likely."""
    asked, dtype = played["asked"], read_entry(entry).engine["dtype"]
    assert set(asked) == {"V0", "V1", "V2", "V3", "V4", "slide", "grid", "land", "many"}
    for said in asked.values():
        assert said["engine"]["prompt_tokens"] == said["reference"]["prompt_tokens"]
        assert len(said["engine"]["steps"]) == 8
        assert distance(**said) <= NEAR[dtype]
    parted = [name for name, said in asked.items() if text(said["engine"]) != text(said["reference"])]
    assert len(parted) <= PARTED_AT_MOST[dtype]


def test_pictures_that_go_wrong_would_be_noticed(played: dict[str, Any], entry: Path) -> None:
    """The reference answers otherwise when it is shown them mirrored, with other colors, or in another order."""
    gone_wrong, dtype = played["gone_wrong"], read_entry(entry).engine["dtype"]
    assert set(gone_wrong) == {"mirrored", "blue for red", "in another order"}
    for said in gone_wrong.values():
        assert distance(**said) > 10 * NEAR[dtype]


def test_a_raster_is_processed_once(played: dict[str, Any]) -> None:
    """The second question finds it by its key, and the same question gets the same answer."""
    assert played["processed_again"] == 0
    assert played["same_text"]


def test_a_seed_makes_draws_repeatable(played: dict[str, Any]) -> None:
    """With pictures and without, though the second time the prompt is found in a cache, and in fewer parts."""
    for first, second in played["seeded"]:
        assert first
        assert first == second


def test_raw_text_holds_the_marks_and_not_the_end_of_the_turn(played: dict[str, Any]) -> None:
    """Thought, box, place and tool marks come back as they were written, whichever of its marks ends the turn."""
    assert played["dictated"]
    for answer in played["dictated"]:
        assert answer == {"text": played["marked"], "finish_reason": "stop"}


def test_four_pictures_of_a_prompt_are_counted_one_by_one(played: dict[str, Any], entry: Path) -> None:
    """As planned for that many pictures; a family that crops up to two of them makes as few tokens as one tile."""
    many = played["many"]
    assert many["counted"] == many["planned"] == many["recorded"]
    assert len(many["counted"]) == 4 > CROPPED_AT_MOST
    if "deepseek" in read_entry(entry).family:
        assert set(many["counted"]) == {421}


def test_what_was_made_ready_was_encoded_once(entry: Path, played: dict[str, Any]) -> None:
    """No raster went through the vision encoder twice, whatever it stood behind and however often it was shown.

    DeepSeek-VL2's pictures in prompts of more than two are made ready past vLLM's cache, which does not count them.
    """
    past_the_cache = 0
    if entry.stem == "tiny-deepseek-vl2":
        shown = [len(played["conditions"]["V4"]["counted"])] * 3  # once as a condition, twice with seeds
        past_the_cache = sum(number for number in (*shown, len(played["many"]["counted"])) if number > CROPPED_AT_MOST)
    assert played["processed"] <= played["encoded"] <= played["processed"] + past_the_cache
    assert played["processed"] > 0


def test_a_second_question_finds_the_picture_in_the_cache(played: dict[str, Any], cached: bool, step: int) -> None:
    """All full blocks up to the end of the view: one after the other, and all but one of those asked at once."""
    caching = played["caching"]
    for asked in ("serially", "together"):
        found = [tokens > visual - step for _, tokens, visual in caching[asked]]
        assert found.count(True) >= (len(found) - 1 if cached else 0)
        assert cached or [tokens for _, tokens, _ in caching[asked]] == [0, 0, 0]
    assert all(tokens < visual + step for _, tokens, visual in caching["serially"])


def test_a_later_turn_finds_the_turn_before_it_in_the_cache(played: dict[str, Any], cached: bool, step: int) -> None:
    """All full blocks of its prompt before the last token, which belongs to the header of the answer."""
    for (earlier, _, _), (_, tokens, _) in pairwise(played["caching"]["chat"]):
        assert tokens >= (earlier - 1) // step * step if cached else tokens == 0


@pytest.fixture
def cached(played: dict[str, Any], entry: Path) -> bool:
    """Whether the family has a prefix cache: on a CPU, vLLM 0.32 has none for latent attention, and says so itself."""
    family = read_entry(entry).known_family
    assert family is not None
    assert played["caching"]["cached"] == (not family.latent_attention)
    return not family.latent_attention


@pytest.fixture
def step(played: dict[str, Any], entry: Path) -> int:
    """Tokens by which hits grow: a block, or two where the global layers' heads are twice as wide as the others'."""
    block: int = played["caching"]["unit"]
    return block * (2 if read_entry(entry).family == "gemma-4" else 1)
