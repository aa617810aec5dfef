"""Reviews at a terminal: how far they are, and where the page is."""

from pathlib import Path

import pytest

from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.reviewing import print_review_address
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.review_files import ReviewLog, digests_in
from gigavqa.evaluation.reviews import ReviewEntry
from tests.cli.installation import Installation
from tests.service.reviewing import SHIPS, write_ships


@pytest.fixture
def ships(tmp_path: Path) -> Installation:
    """An installation whose ships two have reviewed: they differ on one of two."""
    folder = write_ships(tmp_path / "data")
    digest_of = digests_in(load_dataset(folder))
    for reviewer, reasons in (("ada", (None, None)), ("bob", (None, "unclear"))):
        for sample, reason in zip(("odd-1", "presence-1"), reasons, strict=True):
            entry = {"id": f"{reviewer}-{sample}", "sample": sample, "digest": digest_of(sample), "answer": "B"}
            verdict = {"verdict": "drop", "reason": reason} if reason else {"verdict": "keep"}
            ReviewLog(folder / f"reviews/{reviewer}.jsonl").append(ReviewEntry.model_validate({**entry, **verdict}))
    return Installation(tmp_path)


def test_a_review_is_told_with_its_agreement(ships: Installation) -> None:
    """Progress, what each reviewer found, how far two agree, and what is to be settled."""
    told = ships.ok("dataset", "reviews", SHIPS)
    assert "2 not reviewed, 1 kept, 0 mended, 0 dropped, 1 in conflict" in told
    assert "50.0 % [9.5, 90.5] of 2" in told
    assert "ada, bob" in told
    assert "reviewers differ on presence-1" in told
    found = ships.json("dataset", "reviews", SHIPS, "--json")
    assert (found["conflicts"], found["agreement"][0]["kappa"]["value"]) == (["presence-1"], 0)
    assert [row["reviewer"] for row in found["reviewers"]] == ["ada", "bob"]


def test_without_a_gateway_it_is_said_how_to_start_one() -> None:
    """By the command."""
    with pytest.raises(ArgumentError, match="`gigavqa up` starts one"):
        print_review_address(SHIPS, "http://127.0.0.1:9")
