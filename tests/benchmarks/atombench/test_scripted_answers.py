"""Answers of known skill go the whole way of a job about the drawn streets; every number was worked out beforehand.

The engine is the simulated one, and says so in every response; what it says is scripted here.
"""

import json

import pytest

from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import DOMAINS
from gigavqa.demo.atombench.dataset import build_dataset
from gigavqa.demo.atombench.scenes import TRAITS
from gigavqa.evaluation.datasets import load_dataset
from tests.benchmarks.scripted import Asked, Played, play
from tests.reports.tables import caveats_of, percents_of, values_of

pytestmark = pytest.mark.slow

FIRST = {
    "harbour-road": {"c1": "+", "c2": "+", "c3": "+", "c4": "+", "c5": "-", "c6": "+", "q1": "+", "q2": "-"},
    "ridge-street": {"c1": "+", "c2": "+", "c3": "+", "q1": "-", "q2": "?"},
    "rock-avenue": {"c1": "+", "c2": "-", "c3": "-", "q1": "+", "q2": "+"},
    "mill-lane": {"c1": "+", "c2": "+", "c3": "?", "q1": "+", "q2": "?"},
    "tower-square": {"c1": "+", "c2": "-", "c3": "+", "q1": "-", "q2": "-"},
}
"""Direct answers: right, wrong, and none named. Only the harbour's conclusion has over 75 % of its clues."""
FINAL = {
    "harbour-road": {"q1": "+", "q2": "+"},
    "ridge-street": {"q1": "-", "q2": "+"},
    "rock-avenue": {"q1": "-", "q2": "+"},
    "mill-lane": {"q1": "+", "q2": "-"},
    "tower-square": {"q1": "+", "q2": "-"},
}
"""Answers behind golden evidence, asked anew. In the chat of the first answer all of them are right."""
NUM_REQUESTS = 28 + 10 + 10
KINDS = ("steadfast", "corrected", "rigid", "confused")


def said(sample: AtomSample, asked: Asked) -> str:
    """What the script has, in the form that the prompts ask for."""
    street, _, number = sample.id.rpartition("-")
    marks = {"A0": FIRST[street], "AG": FINAL.get(street, {}), "AGC": FIRST[street]}[asked.protocol]
    mark = "+" if asked.turn else marks[number]
    others = [letter for letter in sample.options or () if letter != sample.answer]
    text = {"+": f"Option {sample.answer} fits best.", "-": f"So it is ({others[0]}).", "?": "No option is correct."}
    return json.dumps({"answer": text[mark]})


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """What became of the job that asked the streets, directly, behind golden evidence and in one chat; played once."""
    home = tmp_path_factory.mktemp("home")
    folder = build_dataset(home / "data" / "streets", progress=lambda _: None)
    samples = {sample.id: sample for sample in load_dataset(folder).samples if isinstance(sample, AtomSample)}
    return play(home, "streets", "chat", lambda asked: said(samples[asked.sample], asked))


def test_every_request_was_played_on_the_simulated_engine(played: Played) -> None:
    """Each picture was rendered once for all its questions, and the report says that no model was run."""
    assert played.job["request_counts"]["completed"] == NUM_REQUESTS
    assert played.renders == 5
    assert any("come from the simulated engine; no model was run" in told for told in caveats_of(played.report))


def test_table_2_is_known_to_the_last_digit(played: Played) -> None:
    """Thirteen of 18 clues are right, and four wrong ones cost 1/4 + 1/3 + 1/5 + 1/3; RRS is (10 - 9) / 19."""
    assert percents_of(played.report, "table2") == {
        "clq": 66.02,  # (13 - 67/60) / 18
        "colq": 29.33,  # (4 - 16/15) / 10
        "rcs": 20.00,
        "hi": 66.67,
        "rrs": 5.26,
        "avg": 30.79,
        "ecs": -36.69,
        "raw_clq": 72.22,
        "raw_colq": 40.00,
    }


def test_table_3_is_known_to_the_last_digit(played: Played) -> None:
    """A wrong answer among four costs 1/3, among five 1/4, among six 1/5, and one that names no option nothing."""
    domains = [domain for domains in DOMAINS.values() for domain in domains]
    points = {
        "natural_landmarks": 100.00,
        "regional_architecture": -33.33,
        "street_characteristics": 33.33,
        "language_signs": 37.50,
        "license_plates": 50.00,
        "currency_flags": -20.00,
    }
    assert percents_of(played.report, "table3") == {domain: points.get(domain, 100.00) for domain in domains}


def test_table_4_is_known_to_the_last_digit(played: Played) -> None:
    """Six of six, four of six, three of six by scope; five of six, six of seven, two of five by certainty."""
    assert percents_of(played.report, "table4") == {
        "macro": 100.00, "mid": 66.67, "micro": 50.00, "high": 83.33, "medium": 85.71, "low": 40.00,
    }  # fmt: skip


def test_outcomes_behind_golden_evidence_are_known_to_the_last_digit(played: Played) -> None:
    """Every outcome occurs; weights, RRS and the corrected share follow by difficulty."""
    found = {
        (protocol, of): values_of(played.report, "golden_evidence", protocol=protocol, difficulty=of)
        for protocol in ("AG", "AGC")
        for of in ("easy", "medium", "hard")
    }
    assert {at: tuple(row[kind] for kind in (*KINDS, "weight")) for at, row in found.items()} == {
        ("AG", "easy"): (2, 1, 1, 0, 4),
        ("AG", "medium"): (0, 2, 0, 1, 6),
        ("AG", "hard"): (1, 0, 2, 0, 9),
        ("AGC", "easy"): (2, 2, 0, 0, 4),
        ("AGC", "medium"): (1, 2, 0, 0, 6),
        ("AGC", "hard"): (1, 2, 0, 0, 9),
    }
    rates = {of: percents_of(played.report, "golden_evidence", protocol="AG", difficulty=of) for _, of in found}
    assert rates == {
        "easy": {"rrs": 50.00, "correction": 50.00},
        "medium": {"rrs": 33.33, "correction": 100.00},
        "hard": {"rrs": -33.33, "correction": 0.00},
    }
    assert percents_of(played.report, "figure8") == {"correction": 50.00}


def test_the_page_has_golden_evidence_beside_every_answer(played: Played) -> None:
    """Three clues' true answers, beside the direct answer, the one behind them, and the one in the same chat."""
    shown = played.shown["ridge-street-q1"]
    asked = ("geographical_features", "street_characteristics", "clothing_customs")
    for domain, line in zip(asked, shown["evidence"], strict=True):
        assert TRAITS[domain].question in line and any(way in line.lower() for way in TRAITS[domain].ways)
    assert len(shown["responses"]) == 3
