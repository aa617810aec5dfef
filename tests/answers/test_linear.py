"""No text that a model can write takes a reader more than linear time."""

import os
import re
import time
from math import log

import pytest

from gigavqa.evaluation.installed import installed_benchmarks
from tests.answers.readers import Reader, calls, examples, judges
from tests.answers.units import LOOPS, SINGLE, WORDS, pairs, repeated

SHORT, LONG, LONGEST = 1_000, 4_000, 100_000
WIDTH = int(os.environ.get("GIGAVQA_READINGS", "1"))
"""How many of the readers read each unit; more than there are for all, which takes an hour or two."""
STEEPEST, NOISE_SECONDS = 1.2, 0.004
READERS = (*judges(), *calls())
UNITS = (*SINGLE, *WORDS[:: 12 // min(WIDTH, 12)], *pairs(seed=11, number=60 * min(WIDTH, 12)))
PARTS = 16


def seconds(reader: Reader, text: str, times: int = 1) -> float:
    """The least time of this process that reading a text took, for one turn."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        reader.read(text)
        found.append(time.process_time() - begun)
    return min(found) / reader.texts


def steepness(reader: Reader, unit: str, ending: str = "", lengths: tuple[int, int] = (SHORT, LONG)) -> float:
    """By which power of its length the time of a text grows; 0 for times that say nothing."""
    short, long = (repeated(unit, length, ending) for length in lengths)
    once = seconds(reader, long)
    if once < NOISE_SECONDS or once < seconds(reader, short) * lengths[1] / lengths[0]:
        return 0.0
    return log(seconds(reader, long, 3) / seconds(reader, short, 3)) / log(lengths[1] / lengths[0])


def test_every_benchmark_has_examples_to_read() -> None:
    """A new benchmark's readers are covered as soon as it names a sample of each kind."""
    assert {*examples()} == {
        name for name, one in installed_benchmarks().items() if type(one).__module__.startswith("gigavqa.")
    }


def test_a_reader_that_searches_anew_from_each_space_would_be_found() -> None:
    """As one does whose pattern begins with a run."""
    reader = Reader("run", lambda text: re.search(r"\s*x", text))

    assert steepness(reader, " ", "") > STEEPEST


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_unit_that_is_written_again_and_again_takes_linear_time(part: int) -> None:
    """Each unit by some of the readers in turn, broken off by another character, or not."""
    cases = (
        (READERS[(at * WIDTH + turn) % len(READERS)], unit, ending)
        for at, unit in list(enumerate(UNITS))[part::PARTS]
        for turn in range(min(WIDTH, len(READERS)))
        for ending in ("x", "")[:WIDTH]
    )
    # Looked at again before it counts: another process may have been in the way.
    steep = [case for case in cases if all(steepness(*case) > STEEPEST for _ in range(3))]

    assert not [(reader.name, unit, ending) for reader, unit, ending in steep]


@pytest.mark.slow
def test_a_hundred_thousand_characters_take_linear_time() -> None:
    """The texts that were dear once, by readers in turn, at lengths where what is dear once in a while shows."""
    once = [reader for reader in READERS if reader.texts == 1]
    several = [reader for reader in READERS if reader.texts > 1]
    cases = (
        (reader, unit) for at, unit in enumerate(LOOPS) for reader in (*once[at % 8 :: 8], several[at % len(several)])
    )
    steep = [
        case for case in cases if all(steepness(*case, lengths=(LONGEST // 4, LONGEST)) > STEEPEST for _ in range(3))
    ]

    assert not [(reader.name, unit) for reader, unit in steep]
