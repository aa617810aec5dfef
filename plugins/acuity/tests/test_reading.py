"""Records of signs: read as they are written, and all that is wrong or doubtful told by file, line and field."""

from pathlib import Path
from typing import Any

import pytest

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.tiling.headers import read_header
from gigavqa_acuity.benchmark import Acuity
from gigavqa_acuity.samples import AcuitySample
from plugins.acuity.tests.files import DIRECTION, SIGN, write


def test_the_chart_is_an_installed_benchmark() -> None:
    """Found by its entry point, as any other."""
    assert isinstance(installed_benchmarks()["acuity"], Acuity)


def test_a_record_reads_as_it_is_written(tmp_path: Path) -> None:
    """Written again it is the same sample, with what nobody knows of it."""
    (sign,) = load_dataset(write(tmp_path / "chart", [SIGN | {"author": "K."}])).samples
    assert isinstance(sign, AcuitySample)
    assert (sign.optotype.diameter, sign.truth, sign.extra) == (30, "C", {"author": "K."})
    assert sign.groups == {"attribute": "colour", "scene": "board", "place": "centre"}
    assert load_dataset(write(tmp_path / "again", [Acuity().record(sign)])).samples == (sign,)


def ring(**changes: Any) -> dict[str, Any]:
    """A record with another ring."""
    return {"optotype": SIGN["optotype"] | changes}


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("answer 'B' is not the option 'red', which the optotype's colour is", {"answer": "B"}),
    ("answer 'C' is not the option 'green', which the optotype's colour is", ring(colour="green")),
    ("options must be lettered A to D, not A, B", {"options": {"A": "red", "B": "blue"}}),
    ("options must be lettered A to D, not missing", {"options": None}),
    ("a sign stands in one image, not in 2", {"images": ["images/001.png", "images/001.png"]}),
    ("attribute", {"attribute": "size"}),
    ("optotype.colour", ring(colour="pink")),
    ("optotype.diameter", ring(diameter=0)),
    ("evidence", {"evidence": "pct:0,0,10,10"}),
    ("scene", {"scene": "sea"}),
    ("place", {"place": None}),
]


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """By file, line and record; the good record at the end is none of them."""
    records = [SIGN | {"id": f"q{at}"} | changes for at, (_, changes) in enumerate(WRONG)]
    with pytest.raises(DatasetInvalidError) as caught:
        load_dataset(write(tmp_path / "chart", [*records, DIRECTION]))
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(WRONG)
    for number, ((told, _), problem) in enumerate(zip(WRONG, found, strict=True), start=1):
        assert problem.startswith(f"samples/a.jsonl:{number}: q{number - 1}: ") and told in problem


@pytest.mark.parametrize(
    ("told", "changes"),
    [
        ("evidence does not hold the whole ring, so that V3 does not show what is asked", {"evidence": "130,80,80,80"}),
        (
            "evidence is no square, so that a ring is not as wide as high in every raster of it",
            {"evidence": "100,80,80,90"},
        ),
        (
            "options are not red, green, blue, yellow, each once, "
            "so that confusions cannot be told and chance is not a quarter",
            {"options": SIGN["options"] | {"A": "grey"}},
        ),
        (
            "V3 and V4 cannot show it: evidence: region '100,80,300,300' reaches outside an image of 400x300",
            {"evidence": "100,80,300,300"},
        ),
    ],
)
def test_what_is_doubtful_is_a_warning(tmp_path: Path, told: str, changes: dict[str, Any]) -> None:
    """It can be asked, and a reader knows."""
    folder = write(tmp_path / "chart", [SIGN | changes, DIRECTION])
    found = inspect_dataset(folder, lambda image, show: read_header(folder / image, show).size)
    assert [(problem.record, problem.message) for problem in found.warnings] == [("001-colour", told)]
    assert not found.errors


def test_a_sign_is_described_by_its_ring() -> None:
    """For those who look at samples, and at replies."""
    sign, chart = AcuitySample.model_validate(SIGN), Acuity()
    assert [*chart.describe(sign)] == [
        "red ring of 30 px, gap left, on a board, at the picture's centre",
        "evidence: 100,80,80,80",
    ]
    assert chart.summary(sign) == {"diameter": "30 px", "scene": "board"}
    assert chart.evidence(sign, None).lines == ("red ring of 30 px, gap left at 120,90", "shown by 100,80,80,80")
