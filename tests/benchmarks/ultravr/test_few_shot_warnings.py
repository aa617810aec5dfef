"""A report says when S3 could not tell as many examples as it should."""

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.reports.report import build_report
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import MODEL, response
from tests.reports.tables import caveats_of


def warnings(*told: int, protocol: str = "S3") -> list[str]:
    """The warnings on examples of responses that were told so many of them."""
    samples = tuple(good_sample("rs-logic", id=f"rs-{number}") for number in range(len(told)))
    dataset = dataset_of(samples)
    responses = [
        response(
            sample.id,
            "Final answer: B",
            protocol=protocol,
            request_id=sample.id,
            details={"examples": [f"other-{index}" for index in range(count)]},
        )
        for sample, count in zip(samples, told, strict=True)
    ]
    report = build_report(dataset, responses, load_catalogue())
    return [warning.removeprefix(f"{MODEL} {protocol} V2: ") for warning in caveats_of(report) if "example" in warning]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((2, 2, 2), []),
        ((2, 1, 2), ["1 of 3 responses were told fewer examples than the others"]),
        ((0, 0), ["2 of 2 responses were told no example, for want of one on another image"]),
    ],
)
def test_too_few_examples_are_counted(told: tuple[int, ...], said: list[str]) -> None:
    """Those with none, and those with fewer than others."""
    assert warnings(*told) == said


def test_other_protocols_tell_no_examples_and_need_none() -> None:
    """S2 is not warned of."""
    assert warnings(0, 0, protocol="S2") == []
