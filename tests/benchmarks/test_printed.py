"""What is asked is what the papers print, word by word, but for what the fixture says was added or was meant."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import Size
from tests.benchmarks.atombench import questions as atombench
from tests.benchmarks.mmcr import examples as mmcr
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL

PRINTED: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("printed.toml").read_text())
PLACES = [(benchmark, protocol) for benchmark, protocols in PRINTED.items() for protocol in protocols]
IMAGE = "[Image]"


def asked(dataset: Dataset, protocol: str, sample: str) -> list[str]:
    """The words of a prompt under V2, the place of its pictures among them."""
    cells = [{"protocol": protocol, "condition": "V2"}]
    job = JobSpec.model_validate({"dataset": "tiny", "models": [MODEL], "cells": cells, "samples": [sample]})
    ((_, request),) = expand(dataset, job, load_catalogue(), lambda _: Size(3000, 2000))
    (turn,) = request.turns
    parts = [part if isinstance(part, str) else IMAGE for part in turn.parts]
    shown = [part for at, part in enumerate(parts) if part != IMAGE or IMAGE not in parts[:at]]
    return " ".join(shown).split()


def without(words: Sequence[str], added: str) -> list[str]:
    """The words without the one run of those that were added."""
    run = added.split()
    (start,) = [at for at in range(len(words)) if list(words[at : at + len(run)]) == run]
    return [*words[:start], *words[start + len(run) :]]


@pytest.mark.parametrize(("benchmark", "protocol"), PLACES)
def test_a_prompt_is_the_printed_one(benchmark: str, protocol: str) -> None:
    """With its slots filled, its misprints as they are meant, and without what is ours."""
    printed = PRINTED[benchmark][protocol]
    if benchmark == "atombench":
        sample = next(one for one in atombench.EXAMPLE if one.id == "I3-q1")
        dataset = dataset_of(atombench.EXAMPLE, benchmark="atombench")
        clues = "\n".join(f"{number}. What is clue {number} of I3? a blue band" for number in (1, 2, 3))
        options = " ".join(f"({letter}) {text}" for letter, text in (sample.options or {}).items())
        slots = {"question": sample.question, "choices": options, "clues": clues}
    else:
        page = mmcr.question("q1")
        sample, dataset = page, mmcr.dataset_of([page])
        options = "\n".join(f"{letter}. {text}" for letter, text in mmcr.COLOURS.items())
        slots = {"question": page.question, "options": f"Options:\n{options}"}
    words = asked(dataset, protocol, sample.id)
    for added in printed["added"]:
        words = without(words, added.format(**slots))

    assert words == printed["text"].format(**slots, form=printed.get("meant", "")).split()
