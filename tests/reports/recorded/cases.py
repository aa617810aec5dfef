"""Which data sets are drawn and reported on, by name: of every benchmark several, plain ones and varied ones."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from tests.reports.recorded import acuity_data, questions_data
from tests.reports.recorded.acuity_data import FAULTS, SOUND
from tests.reports.recorded.variations import judges_alone, vary
from tests.scorers import atombench_data, mmcr_data, ultravr_data, vistahop_data
from tests.scorers.responses import Made

Spec = dict[str, Any]


class Case(NamedTuple):
    """A drawn data set with the responses to it, the number of files that hold them, and the jobs that asked."""

    make: Callable[[], Made]
    files: int = 1
    specs: tuple[Spec, ...] = ()
    """Fields of jobs' specs; without any, what is missing follows from the responses alone."""


def _cases() -> Iterator[tuple[str, Case]]:
    for benchmark, make in _DRAWN.items():
        plain, varied = _SEEDS[benchmark]
        for seed in plain:
            yield f"{benchmark}-{seed}", Case(partial(make, seed))
        for seed in varied:
            yield f"{benchmark}-{seed}-varied", Case(partial(_varied, make, seed), files=3)
        yield f"{benchmark}-jobs", Case(partial(make, varied[0]), 2, _SPECS[benchmark])
    yield "vistahop-judges", Case(lambda: judges_alone(vistahop_data.make(3)))


def _varied(make: Callable[[int], Made], seed: int) -> Made:
    return vary(make(seed), seed)


_DRAWN: Mapping[str, Callable[[int], Made]] = {
    "acuity": lambda seed: acuity_data.make(
        seed, (*SOUND, *FAULTS) if seed % 2 else tuple(SOUND), 32 if seed % 2 else 12
    ),
    "atombench": atombench_data.make,
    "mmcr": mmcr_data.make,
    "questions": questions_data.make,
    "ultravr": ultravr_data.make,
    "vistahop": vistahop_data.make,
}
_SEEDS: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "acuity": ((7,), (2,)),
    "atombench": ((0, 1, 2), (3, 4)),
    "mmcr": ((0, 1), (2, 3)),
    "questions": ((0, 1, 2), (3, 4)),
    "ultravr": ((0, 1, 2), (3, 4)),
    "vistahop": ((0, 1, 3), (4, 19)),
}
"""Seeds of the plain data sets, and of the varied ones."""
_ALL: Spec = {"dataset": "data", "models": ["qwen3-vl-8b", "gpt-5"], "repeats": 2}
_SPECS: Mapping[str, tuple[Spec, ...]] = {
    "acuity": (_ALL | {"plan": "acuity"},),
    "atombench": (_ALL | {"plan": "chat"}, _ALL | {"plan": "blind", "repeats": 1}),
    "mmcr": (_ALL | {"plan": "mmcr-cot"},),
    "questions": (_ALL | {"plan": "formats"}, _ALL | {"plan": "conditions", "samples": ["q0", "q1", "q2"]}),
    "ultravr": (_ALL | {"plan": "ultravr"},),
    "vistahop": (_ALL | {"plan": "vistahop"}, _ALL | {"plan": "text-only", "samples": ["q0", "q1"]}),
}
"""Jobs that asked for more than was answered."""
CASES: Mapping[str, Case] = dict(_cases())
_TABLES: Mapping[str, str] = {
    "acuity": "summary accuracy thresholds by_size symptoms by_place by_scene colours directions turns letters",
    "atombench": "table1 table2 table3 table4 conclusion_rules golden_evidence controls repeats figure3a figure3b "
    "figure3c figure5 figure6 figure7 figure8",
    "mmcr": "main main_careful cot cot_careful cot_types cot_types_careful subject_accuracy subject_accuracy_careful "
    "questions_by_type questions_by_subject table_s1 errors consistency rotations matchers",
    "questions": "accuracy by_category by_split by_level models_paired conditions_paired letters",
    "ultravr": "table1 table2 table2_categories table3 table3_categories figure2a figure2b figure2c figure2c_domains "
    "steps steps_domains steps_formats annotated_steps",
    "vistahop": "table4 table5 table9 composition strata process calls evidence text_only by_judge judges judgements",
}
TABLES: Mapping[str, frozenset[str]] = {name: frozenset(tables.split()) for name, tables in _TABLES.items()}
"""The tables of each benchmark, of which every one is in some case."""
