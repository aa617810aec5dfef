"""Chats about one picture are told so that those that share work are neighbours; none is lost and none is added."""

import random
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest, Turn
from gigavqa.evaluation.chat_order import order_chats
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.benchmarks.ultravr.good_records import GOOD, good_record
from tests.evaluation.folders import write_dataset

FULL, THUMBNAIL = View(image="plaza"), View(image="plaza", sizing="longest:1024")
LEFT, RIGHT, LOWER = (View(image="plaza", region=f"pct:{place},50,50") for place in ("0,0", "50,0", "0,50"))
MODEL = "demo-qwen3-vl"


@dataclass(frozen=True)
class Chat:
    """A chat that shows `views` and asks as many turns as `given` is long, some of them with given answers."""

    name: str
    views: tuple[View, ...] = ()
    given: tuple[str | None, ...] = (None,)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Its turns; the views come first."""
        return tuple(Turn(parts=(*(() if n else self.views), "?"), given=answer) for n, answer in enumerate(self.given))


def told(*chats: Chat) -> list[str]:
    """Names of the chats in their order."""
    return [chat.name for chat in order_chats(chats)]


def test_equal_views_are_neighbours() -> None:
    """Three questions on the full image stand together, although the plan lists other views between them."""
    chats = [
        Chat("a", (FULL,)),
        Chat("b", (THUMBNAIL,)),
        Chat("c", (FULL,)),
        Chat("d", (THUMBNAIL,)),
        Chat("e", (FULL,)),
    ]
    assert told(*chats) == ["a", "c", "e", "b", "d"]


def test_the_longest_chain_goes_first() -> None:
    """Turns that wait for the model's own answers make a chain; those with given answers go out together."""
    chats = [
        Chat("one", (FULL,)),
        Chat("given", (FULL,), ("yes", "no", "yes", None)),
        Chat("three", (FULL,), (None, None, None)),
        Chat("two", (FULL,), (None, None)),
    ]
    assert told(*chats) == ["three", "two", "given", "one"]


def test_the_view_with_the_longest_chain_goes_first() -> None:
    """And of those with equally long ones, the view that is shown most often."""
    once, twice = Chat("once", (LEFT,)), [Chat(f"twice-{n}", (RIGHT,)) for n in range(2)]
    assert told(once, *twice) == ["twice-0", "twice-1", "once"]
    assert told(once, *twice, Chat("chain", (LOWER,), (None, None)))[0] == "chain"


def test_crops_alone_stand_before_the_same_crops_behind_the_full_image() -> None:
    """Sample by sample; their encodings are still there, and so is the prefix of the full image."""
    samples = {"one": (LEFT,), "two": (LEFT, RIGHT), "three": (LOWER,)}
    full = [Chat(f"{name} full", (FULL,)) for name in samples]
    alone = [Chat(f"{name} alone", crops) for name, crops in samples.items()]
    behind = [Chat(f"{name} behind", (FULL, *crops)) for name, crops in samples.items()]
    order = told(*full, *alone, *behind)
    assert order[:3] == ["one full", "two full", "three full"]
    assert [[name.split()[0] for name in pair] for pair in (order[3:5], order[5:7], order[7:9])] == [
        ["one", "one"],
        ["two", "two"],
        ["three", "three"],
    ]
    assert [name.split()[1] for name in order[3:]] == ["alone", "behind"] * 3


def test_longer_views_follow_their_beginning() -> None:
    """A walk through the trie: nothing stands between a prefix and what begins with it."""
    chats = [Chat("abc", (FULL, LEFT, RIGHT)), Chat("d", (LOWER,)), Chat("ab", (FULL, LEFT)), Chat("a", (FULL,))]
    assert told(*chats) == ["a", "ab", "abc", "d"]


def test_chats_without_a_view_go_last() -> None:
    """They share nothing that is large, and wait for no picture: they fill what the others leave."""
    chats = [Chat("text", (), (None, None)), Chat("shown", (FULL,)), Chat("short", ())]
    assert told(*chats) == ["shown", "text", "short"]


@pytest.mark.parametrize("seed", range(20))
def test_every_chat_is_told_once(seed: int) -> None:
    """Whatever views there are: ends of ends of others, too; chats with equal views stay together."""
    draw = random.Random(seed)
    views = [FULL, THUMBNAIL, LEFT, RIGHT, LOWER]
    chats = [Chat(str(n), tuple(draw.choices(views, k=draw.randint(0, 4)))) for n in range(60)]
    ordered = order_chats(chats)
    assert sorted(ordered, key=lambda chat: int(chat.name)) == chats
    together = [key for key, _ in groupby(chat.views for chat in ordered)]
    assert len(together) == len(set(together))


def test_a_whole_plan_is_told_prefix_by_prefix(tmp_path: Path) -> None:
    """Four questions on one image: all at V2, their longest chats first, then sample by sample, then V1 and V0."""
    quadrants = ["upper-left", "upper-right", "lower-left", "lower-right"]
    records = [
        good_record("rs-logic") | {"id": f"rs-{n}", "evidence": {"quadrants": [name]}}
        for n, name in enumerate(quadrants)
    ]
    job = JobSpec(dataset="tiny", models=(MODEL,), plan="ultravr")
    dataset = load_dataset(write_dataset(tmp_path / "tiny", *records))
    asked = [request for _, request in expand(dataset, job, load_catalogue(), lambda _: Size(1000, 600))]

    runs = [(condition, len(list(run))) for condition, run in groupby(request.condition for request in asked)]
    assert runs == [("V2", 24), *[("V3", 1), ("V4", 1)] * 4, ("V1", 4), ("V0", 4)]
    chains = [sum(turn.given is None for turn in request.turns) for request in asked[:24]]
    assert chains == sorted(chains, reverse=True)
    assert chains[0] > chains[4] == 1
    local = [request.sample_id for request in asked if request.condition in ("V3", "V4")]
    assert local == [f"rs-{n}" for n in range(4) for _ in range(2)]


def test_the_order_changes_nothing_of_what_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids, seeds, sampling, views and texts are those of chats that are told as the plan lists them."""
    dataset = load_dataset(write_dataset(tmp_path / "tiny", *GOOD.values()))
    job = JobSpec(dataset="tiny", models=(MODEL, "qwen3-vl-8b"), plan="ultravr", repeats=2, seed=3)

    def asked() -> list[InferenceRequest]:
        return [request for _, request in expand(dataset, job, load_catalogue(), lambda _: Size(1000, 600))]

    ordered = asked()
    monkeypatch.setattr("gigavqa.evaluation.expansion.order_chats", list)
    listed = asked()
    assert ordered != listed
    assert sorted(ordered, key=str) == sorted(listed, key=str)
