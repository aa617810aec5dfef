"""The race asks everybody the same, in a fair order, and its tables say what was measured."""

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.evaluation.datasets import load_dataset
from performance.peers.lane import Lap, LapOutcome, one_by_one
from performance.peers.measuring import ProcessTree
from performance.peers.records import choose, write_race
from performance.peers.running import Entrant, LapResult
from performance.peers.scenario import (
    CONDITIONS,
    PromptView,
    RaceItem,
    Scenario,
    alternating,
    distinct_prefix_tokens,
)
from performance.peers.table import OURS, ratio, ratio_table, scenario_table


def look(picture: str, side: int, region: tuple[int, int, int, int] | None = None) -> PromptView:
    """A look at a square picture."""
    region = region or (0, 0, side, side)
    return PromptView(picture, (side, side), region, None, (64, 64), 4, f"{picture}:{region}")


def item(picture: str, condition: str, number: int, side: int) -> RaceItem:
    """A question about a square picture."""
    return RaceItem(f"{picture}-{condition}-{number}", picture, condition, (look(picture, side),), (0, "?"), {})


ITEMS = [
    item(picture, condition, number, side)
    for picture, side in (("huge", 9000), ("large", 4000), ("small", 300), ("tiny", 100))
    for condition in CONDITIONS
    for number in range(2)
]


def result(racer: str, lap: Lap, answered: int, seconds: float, **outcome: object) -> LapResult:
    """A lap over one scenario."""
    ids = [each.id for each in ITEMS[:answered]]
    told = LapOutcome(answered=ids, **outcome)  # type: ignore[arg-type]
    return LapResult(racer, "race", lap, len(ITEMS), seconds, cpu_seconds=8.0, peak_bytes=2**30, outcome=told)


def test_every_picture_gets_as_many_questions_as_asked_for() -> None:
    """Where a picture has fewer, they are asked again under other ids and in other words."""
    records = [{"id": f"a{n}", "image": "a.png", "question": f"What is {n}?"} for n in range(3)]
    records.append({"id": "b", "image": "b.png", "question": "What is it?"})
    chosen = choose(records, 4)
    assert Counter(record["image"] for record in chosen) == {"a.png": 4, "b.png": 4}
    assert len({record["id"] for record in chosen}) == len({record["question"] for record in chosen}) == 8


def test_any_beginning_of_the_sample_mixes_sizes_and_conditions() -> None:
    """The first four are of four pictures and four conditions; the first two of the smallest and the largest."""
    order = alternating(ITEMS)
    assert Counter(each.id for each in order) == Counter(each.id for each in ITEMS)
    assert {each.picture for each in order[:4]} == {"huge", "large", "small", "tiny"}
    assert {each.condition for each in order[:4]} == set(CONDITIONS)
    assert {each.picture for each in order[:2]} == {"huge", "tiny"}


def test_unique_tokens_are_those_that_no_prompt_before_has_begun_with() -> None:
    """A shared beginning counts once; the same token behind another beginning counts again."""
    assert distinct_prefix_tokens([[1, 2, 3], [1, 2, 4], [2, 3]]) == 6
    assert distinct_prefix_tokens([[("view", 0), ("view", 1)], [("view", 0), ("other", 1)]]) == 3


def test_the_written_race_is_a_data_set_of_the_product(tmp_path: Path) -> None:
    """The records are read back as samples, and the pictures are links that cost no space."""
    (tmp_path / "images").mkdir()
    Image.new("RGB", (64, 64)).save(tmp_path / "images" / "land.png")
    options = {"A": "one", "B": "two"}
    record = {"id": "rs-1", "domain": "rs", "category": "comparison", "image": "images/land.png"}
    write_race(
        tmp_path / "race",
        tmp_path / "images",
        choose([{**record, "question": "?", "options": options, "answer": "A"}], 2),
    )
    dataset = load_dataset(tmp_path / "race")
    assert [sample.id for sample in dataset.samples] == ["rs-1", "rs-1-2"]
    assert (tmp_path / "race" / "images" / "land.png").stat().st_nlink == 2


def test_a_scenario_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """The racers' processes see the very items that the command made."""
    scenario = Scenario("race", "data", {"dataset": "race"}, tuple(ITEMS), "weights", {"seed": 1}, {"A": "b"})
    scenario.write(tmp_path / "race.json")
    assert Scenario.read(tmp_path / "race.json") == scenario


def test_a_racer_is_not_asked_about_larger_pictures_than_it_can_bear() -> None:
    """And what is left out is left out by the size of the whole picture, not of the region that is shown."""
    crop = RaceItem("crop", "huge", "V3", (look("huge", 9000, (0, 0, 10, 10)),), (0,), {})
    scenario = Scenario("race", "data", {}, (*ITEMS, crop), "weights", {}, {})
    asked = Entrant("peer", "peer", largest=5000.0**2).asked(scenario)
    assert {each.picture for each in asked.items} == {"large", "small", "tiny"}
    assert Entrant("peer", "peer", largest=math.inf).asked(scenario) == scenario


def test_what_fails_is_counted_and_the_next_one_asked() -> None:
    """One picture that cannot be opened costs its own items alone."""

    def ask(asked: RaceItem) -> None:
        if asked.picture == "huge":
            raise ValueError("too large\nfor this peer")

    outcome = one_by_one(ITEMS, 60.0, ask)
    assert outcome.failed == {"ValueError: too large for this peer": 8}
    assert outcome.answered == [each.id for each in ITEMS if each.picture != "huge"]
    assert set(outcome.first_response) == {"large", "small", "tiny"}


def test_the_ratio_is_of_median_rates() -> None:
    """Ours 4 items a second, theirs 1: four times; a lap that a peer does not have is its cold one."""
    rounds = [result(OURS, "cold", 32, seconds) for seconds in (4.0, 8.0, 80.0)]
    results = [*rounds, result(OURS, "warm", 32, 1.0), result("peer", "cold", 8, 8.0)]
    assert ratio(results, "peer", "race", "cold") == pytest.approx(4.0)
    assert ratio(results, "peer", "race", "warm") == pytest.approx(32.0)
    assert "| peer | race | 4.00x | 32x |" in ratio_table(results)


def test_nobody_is_beaten_who_answered_nothing() -> None:
    """A ratio over nothing is none."""
    results = [result(OURS, "cold", 32, 4.0), result("peer", "cold", 0, 8.0)]
    assert ratio(results, "peer", "race", "cold") is None
    assert "| peer | race | - | - |" in ratio_table(results)


def test_a_row_says_how_many_items_its_rates_rest_on() -> None:
    """What a peer did not answer, and why, stands in the table and not only in a log."""
    peer = result("peer", "cold", 8, 4.0, failed={"ValueError: too large": 24}, encoder_runs=3, prefilled_tokens=150)
    text = scenario_table([peer], {"other": "No module named other"}, lambda _: 100)
    assert "| peer | cold | 8 of 32 | 2 | 1 | 1024 | - | 3 | 1.50 | - |" in text
    assert "| other | - | 0: No module named other |" in text
    assert "- peer: 24 failed: ValueError: too large" in text


def test_the_cpu_time_of_children_counts() -> None:
    """Work of a process that the watched one started, and that has ended, is part of its tree's."""
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    run = f"subprocess.run([sys.executable, '-c', {burn!r}])"
    script = f"import subprocess, sys; input(); {run}; print('done', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        with ProcessTree(process.pid) as tree:
            before = tree.cpu_seconds()
            process.stdin.write(b"go\n")
            process.stdin.flush()
            process.stdout.readline()
            assert tree.cpu_seconds() - before > 0.3
        process.stdin.close()
