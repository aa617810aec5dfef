"""Every number of a report is that which a scorer works out of the same files by the specification alone."""

import ast
import json
import random
import re
import sys
from pathlib import Path

import pytest

from gigavqa.reports.score import score_files
from gigavqa.reports.writers.exports import render_csv, render_json
from gigavqa.reports.writers.markdown import render_markdown
from tests.scorers import compare as comparison
from tests.scorers.cells import told_in_json
from tests.scorers.compare import BENCHMARKS, compare, lines_of
from tests.syntax import syntax_tree

SEEDS = (3, 6, 14)
OF_THE_PRODUCT = {"__main__.py", "compare.py", Path(__file__).name}
"""Files here that run the product; all others may not know it."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_number_is_the_scorers(tmp_path: Path, benchmark: str, seed: int) -> None:
    """In all tables, to the ninth digit, with what it rests on and the intervals in closed form."""
    compared = compare(tmp_path, benchmark, seed)
    assert not compared.differences, "\n".join([*lines_of(benchmark, seed, compared)][:20])
    assert compared.numbers > 100


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_changed_number_is_told_with_its_rule(tmp_path: Path, benchmark: str) -> None:
    """By table, row and column, whichever it is."""
    made = BENCHMARKS[benchmark].make(SEEDS[0])
    report = json.loads(render_json(score_files(tmp_path / "data", *made.write(tmp_path))))
    changed = report["tables"][0]["rows"][0]["values"]
    at = next(at for at, value in enumerate(changed) if isinstance(value, dict) and value["value"] is not None)
    changed[at]["value"] += 1e-6
    numbers = BENCHMARKS[benchmark].score(made._replace(judges=()))
    differences = [*numbers.differences([*report["tables"], told_in_json(report["cells"])])]
    assert [difference.place[0] for difference in differences] == [report["tables"][0]["name"]]
    assert differences[0].rule in str(differences[0])


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_what_a_report_warns_of_counts_one_as_one(tmp_path: Path, benchmark: str) -> None:
    """A number stands before the noun that it counts, and one before a singular."""
    made = BENCHMARKS[benchmark].make(SEEDS[0])
    texts = [caveat.text for caveat in score_files(tmp_path / "data", *made.write(tmp_path)).caveats]
    assert any(re.search(r"\b1 [a-z]+\b", text) for text in texts)
    assert not [text for text in texts if re.search(r"(?<!of)(?:^| |\()1 (?:further )?[a-z]+s\b", text)]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_macro_averages_are_spoken_of_where_there_are_any(tmp_path: Path, benchmark: str) -> None:
    """UltraVR's are of domains; no other table has one."""
    texts = []
    for seed in range(3):
        made, folder = BENCHMARKS[benchmark].make(seed), tmp_path / str(seed)
        folder.mkdir()
        texts += [caveat.text for caveat in score_files(folder / "data", *made.write(folder)).caveats]
    assert any("macro averages leave out" in text for text in texts) == (benchmark == "ultravr")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_any_order_over_any_files_gives_the_same_bytes(tmp_path: Path, benchmark: str) -> None:
    """Of copies that were made at the same time the first in the files counts, so that none is here."""
    made = BENCHMARKS[benchmark].make(SEEDS[1])
    lines = {(one["job_id"], one["request_id"], one["created_at"]): one for one in made.lines}
    told = set()
    for seed, files in ((0, 1), (1, 2), (2, 5)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        drawn = made._replace(lines=random.Random(seed).sample([*lines.values()], len(lines)))
        report = score_files(folder / "data", *drawn.write(folder, files), judges=drawn.write_judges(folder))
        told.add((render_json(report), render_csv(report), render_markdown(report)))
    assert len(told) == 1


def test_scorers_know_the_standard_library_alone() -> None:
    """So that no rule is the product's own."""
    for path in Path(comparison.__file__).parent.glob("*.py"):
        if path.name not in OF_THE_PRODUCT:
            for name in _imported(path):
                assert name.partition(".")[0] in sys.stdlib_module_names or name.startswith("tests.scorers"), path.name


def _imported(path: Path) -> list[str]:
    nodes = [*ast.walk(syntax_tree(path))]
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
