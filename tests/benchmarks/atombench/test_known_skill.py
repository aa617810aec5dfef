"""Answers of models of known skill, said to be simulated: every table is known beforehand, to the last digit."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import CERTAINTIES, DIFFICULTIES, DIMENSION_OF, DOMAINS, SCOPES
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import EngineInfo
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.writers.markdown import render_markdown
from tests.benchmarks.atombench.questions import answer, clue, conclusion, options
from tests.evaluation.datasets import dataset_of
from tests.reports.tables import caveats_of, row_of, table_of, value_of, values_of

_DOMAINS = tuple(DIMENSION_OF)
SAMPLES = tuple(
    question
    for at, domain in enumerate(_DOMAINS)
    for question in (
        clue(f"P{at}", 1, domain=domain, scope=SCOPES[at % 3], certainty=CERTAINTIES[at // 4], options=options(4)),
        clue(f"P{at}", 2, domain=domain, scope=SCOPES[at % 3], certainty=CERTAINTIES[at // 4], options=options(6)),
        conclusion(f"P{at}", 1, DIFFICULTIES[at % 3], options=options(5)),
    )
)
"""Twelve pictures, one a domain: two clue questions of four and six options, one conclusion of five."""

Skill = Callable[[AtomSample, str], str]
SKILLS: dict[str, Skill] = {
    "gpt-5": lambda sample, protocol: "right",
    "gemini-2.5-pro": lambda sample, protocol: "right" if sample.level == "conclusion" else "wrong",
    "qwen3-vl-8b": lambda sample, protocol: (
        "right" if sample.level == "conclusion" or sample.dimension == "structured_symbols" else "wrong"
    ),
    "qwen2.5-vl-7b": lambda sample, protocol: "unanswered",
    "glm-4.5v": lambda sample, protocol: "right" if protocol == "AG" or sample.level == "clue" else "wrong",
}
"""One that knows all, one that bluffs, one that reads symbols, one that never says, one that needs to be told."""


@pytest.fixture(scope="module")
def report() -> Report:
    """The report on all their answers, which the simulated engine is said to have given."""
    engine = EngineInfo(name="simulated", version="1", simulated=True)
    asked = [(sample, protocol) for sample in SAMPLES for protocol in ("A0", "AG")]
    responses = [
        answer(sample.id, skill(sample, protocol), protocol, model=model, engine=engine)
        for model, skill in SKILLS.items()
        for sample, protocol in asked
        if protocol == "A0" or sample.level == "conclusion"
    ]
    return build_report(dataset_of(SAMPLES, benchmark="atombench"), responses, load_catalogue())


WRONG_CLUE = Fraction(-1, 2) * (Fraction(1, 3) + Fraction(1, 5))
"""Mean points of a wrong answer among four options and one among six."""
THIRD = Fraction(3, 12)
"""Three of the twelve domains are symbols."""
MIXED = THIRD + (1 - THIRD) * WRONG_CLUE
EXPECTED: dict[str, dict[str, Fraction | int | None]] = {
    "gpt-5": {"clq": 1, "colq": 1, "rcs": 1, "hi": 0, "rrs": 1, "avg": 1, "ecs": 0},
    "gemini-2.5-pro": {"clq": WRONG_CLUE, "colq": 1, "rcs": 0, "hi": 1, "rrs": 1, "avg": (WRONG_CLUE + 2) / 5},
    "qwen3-vl-8b": {"clq": MIXED, "colq": 1, "rcs": THIRD, "hi": 1 - THIRD, "avg": (MIXED + 2 * THIRD + 2) / 5},
    "qwen2.5-vl-7b": {"clq": 0, "colq": 0, "rcs": 0, "hi": None, "rrs": -1, "avg": None, "ecs": 0},
    "glm-4.5v": {"clq": 1, "colq": Fraction(-1, 4), "rcs": 0, "hi": None, "rrs": 1, "ecs": Fraction(-5, 4)},
}


@pytest.mark.parametrize("model", EXPECTED)
def test_table_2_is_what_the_skill_says(report: Report, model: str) -> None:
    """Every metric; where no conclusion is right there is no HI, and without it no Avg."""
    for metric, expected in EXPECTED[model].items():
        found = value_of(report, "table2", metric, model=model).value
        assert found == (None if expected is None else pytest.approx(float(expected), abs=1e-12)), metric


def test_table_3_is_right_where_the_domain_is_known(report: Report) -> None:
    """The reader of symbols has all points in three domains, and the loss of a wrong answer in nine."""
    row = values_of(report, "table3", model="qwen3-vl-8b")
    for domain, value in row.items():
        assert isinstance(value, Estimate)
        known = domain in DOMAINS["structured_symbols"]
        assert value.value == pytest.approx(1.0 if known else float(WRONG_CLUE), abs=1e-12)
        assert value.count == 2


def test_table_4_never_penalizes(report: Report) -> None:
    """Each scope has one domain of symbols in four; of certainties, the last third has them all but one."""
    row = {key: value_of(report, "table4", key, model="qwen3-vl-8b").value for key in (*SCOPES, *CERTAINTIES)}
    symbols = [at for at, domain in enumerate(_DOMAINS) if DIMENSION_OF[domain] == "structured_symbols"]
    for at, scope in enumerate(SCOPES):
        assert row[scope] == sum(one % 3 == at for one in symbols) / 4
    certain = [sum(one // 4 == at for one in symbols) / 4 for at in range(3)]
    assert [row.get(f"{name}") for name in CERTAINTIES] == certain


def test_what_needed_to_be_told_is_corrected(report: Report) -> None:
    """All twelve first answers were wrong and all final ones are right; whoever never says stays rigid."""
    told = values_of(report, "figure8", model="glm-4.5v")["correction"]
    silent = values_of(report, "figure8", model="qwen2.5-vl-7b")["correction"]
    assert isinstance(told, Estimate) and isinstance(silent, Estimate)
    assert (told.value, told.count, silent.value) == (1.0, 12, 0.0)
    rows = [row_of(report, "golden_evidence", model="glm-4.5v", difficulty=name) for name in DIFFICULTIES]
    assert [row.values[1] for row in rows] == [4, 4, 4]


def test_the_report_says_that_no_model_was_run(report: Report) -> None:
    """And is written in full, with the groups of models, two decimals and the best of each group."""
    assert sum("come from the simulated engine; no model was run" in told for told in caveats_of(report)) == len(SKILLS)
    text = render_markdown(report)
    assert "Table 2: reasoning from evidence to conclusion" in text
    assert "100.00" in text and "-26.67" in text.replace("−", "-")
    groups = [row.values[0] for row in table_of(report, "table2").rows]
    assert groups == sorted(groups, key=["private", "open", "open thinking"].index)


def test_scoring_counts_every_response_once(report: Report) -> None:
    """36 answers under A0 and 12 under AG of each of five models; clue questions are not missing under AG."""
    assert [(cell.protocol, cell.answered, cell.expected) for cell in report.cells if cell.model == "gpt-5"] == [
        ("A0", 36, 36),
        ("AG", 12, 12),
    ]
