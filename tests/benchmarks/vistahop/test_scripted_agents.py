"""Agents whose every word is scripted go the whole way of a worker, and every number of the report is known beforehand.

Pictures, crops, corpus, index, worker and server are real; the engine is a script, and says so in every response.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.responses import Response
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.reports.report import Report, build_report
from gigavqa.reports.score import score_files
from gigavqa.reports.writers.page.page import render_html
from gigavqa.retrieval.corpora import Corpora
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.service.operations.bundling import bundle_requests
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.tiling.headers import read_header
from gigavqa.workers.tools.searches import SearchSources
from tests.benchmarks.vistahop.agents import Script, ScriptedEngine, blind, erring, walker
from tests.demo.conftest import hop_folder  # noqa: F401 - a fixture
from tests.reports.tables import caveats_of, table_of, value_of, values_of
from tests.workers.conftest import server  # noqa: F401 - a fixture
from tests.workers.examples import ENTRY, responses_of
from tests.workers.simulated_worker import running_worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # its agents take a minute of CPU, which others may share

REPEATS = 5
SEARCHES = tuple(VistaHop.plans["table4"][1:])
AGENTS: Mapping[str, tuple[Script, tuple[Cell, ...]]] = {
    "walker": (walker, VistaHop.plans["vistahop"]),
    "blind": (blind, SEARCHES),
    "erring": (erring, SEARCHES[1:]),
}
"""What each agent is asked."""
PATIENT = {"lease_seconds": 30, "heartbeat_seconds": 1, "cancel_poll_seconds": 1}
"""Settings of a worker that nothing happens to."""
COLUMNS = "p1 L1 L2 L3 calls rounds utilization"


class Played(NamedTuple):
    """All that came of the agents' jobs."""

    dataset: Dataset
    entries: Mapping[str, CatalogueEntry]
    specs: Mapping[str, JobSpec]
    responses: Sequence[Response]
    renders: int

    @property
    def report(self) -> Report:
        """The report of all of them."""
        return build_report(self.dataset, self.responses, self.entries, next(iter(self.specs.values())))


@pytest.fixture(scope="module")
def played(
    server: StateStoreProcess,  # noqa: F811
    hop_folder: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Played:
    """The three agents, each played by a worker of its own over the same pictures, in one job a cell."""
    return asyncio.run(_played(server.url, hop_folder, tmp_path_factory.mktemp("agents")))


async def _played(url: str, folder: Path, own: Path) -> Played:
    dataset, root, redis = load_dataset(folder), folder.parent, connect(url)
    samples = [sample for sample in dataset.samples if isinstance(sample, VistaHopSample)]
    entries = {name: ENTRY.model_copy(update={"id": name, "title": name.capitalize()}) for name in AGENTS}
    sources = SearchSources(Corpora(root, own / "indexes"))
    specs, found, renders = {}, [], 0
    await redis.flushall()
    for name, (script, cells) in AGENTS.items():

        def make(name: str = name, script: Script = script) -> ScriptedEngine:
            return ScriptedEngine(entries[name], samples, script)

        async with running_worker(
            redis, root, own / "pyramids", make, sources=sources, entry=entries[name], **PATIENT
        ) as rig:
            for cell in cells:
                spec = JobSpec(dataset=dataset.name, models=(name,), cells=(cell,), repeats=REPEATS)
                requests = [*expand(dataset, spec, entries, lambda image: read_header(root / image).size)]
                job, _ = await JobRegistry(redis).create(spec)
                await JobQueue(redis).enqueue(job.id, [*bundle_requests(job, requests, 50)], "digest")
                await rig.until_final(job.id)
                specs[job.id] = spec
                found += await responses_of(redis, job.id)
            renders += rig.library.stats().renders if name == "walker" else 0
    await redis.aclose()
    return Played(dataset, entries, specs, found, renders)


@pytest.fixture(scope="module")
def report(played: Played) -> Report:
    """The report of all agents."""
    return played.report


def numbers(report: Report, table: str, columns: str, **keys: str) -> list[float | None]:
    """Values of columns of a row."""
    return [value_of(report, table, column, **keys).value for column in columns.split()]


def row(p1: Fraction, levels: Sequence[float], calls: int, rounds: int, limit: int = 10) -> list[Any]:
    """What a row has to say of eighty chats with so many calls and rounds in all."""
    return [pytest.approx(value) for value in (float(p1), *levels, calls / 80, rounds / 80, calls / 80 / limit)]


def test_nothing_fails_and_every_response_says_that_it_is_scripted(played: Played) -> None:
    """Seven cells of the plan, two and one; all of sixteen questions, five times each."""
    assert [response.failure for response in played.responses] == [None] * ((7 + 2 + 1) * 16 * REPEATS)
    assert {response.engine.name for response in played.responses if response.engine} == {"scripted"}
    assert any("simulated engine" in told for told in caveats_of(played.report))


def test_the_walkers_table_4_is_known_to_the_last_digit(report: Report) -> None:
    """Fifteen questions have a truth: two of L1, eight of L2, five of L3.

    A question of one chain is a look, its hops and an answer: four rounds in L1, seven in L2, eight in one of them. Of
    the fused ones two repeats of five have two looks, two hops and an answer; the others would need thirteen or
    fourteen rounds, and end in the tenth with a call.
    """
    calls, rounds = 2 * 5 * 3 + 5 * (7 * 6 + 7) + 6 * 2 * 4 + 6 * 3 * 10, 2 * 5 * 4 + 5 * (7 * 7 + 8) + 6 * 2 * 5 + 180
    assert numbers(report, "table4", COLUMNS, model="walker", protocol="direct") == row(
        Fraction(2 * 2, 5 * 15), [0.4, 0, 0], 0, 80
    )
    assert numbers(report, "table4", COLUMNS, model="walker", protocol="search") == row(
        Fraction(2 * 5 + 8, 5 * 15), [1, 0.2, 0], calls, rounds
    )
    assert numbers(report, "table4", COLUMNS, model="walker", protocol="search_crop") == row(
        Fraction(2 * 5 + 8 * 3 + 5, 5 * 15), [1, 0.6, 0.2], calls, rounds
    )
    assert numbers(report, "table4", "gain", model="walker", protocol="search_crop") == [pytest.approx(21 / 75)]
    stops = numbers(report, "process", "answered rounds context", model="walker", protocol="search_crop", rounds="10")
    assert stops == [62 / 80, 18 / 80, 0]


@pytest.mark.parametrize(
    ("limit", "right", "levels", "told"),
    [
        # All of L2 and of the whole ways of L3 end in the sixth round.
        (6, 10 + 5, [1, 0, 0.2], (30 + 240 + 48 + 108, 40 + 240 + 60 + 108)),
        (8, 10 + 24 + 5, [1, 0.6, 0.2], (30 + 245 + 48 + 144, 40 + 285 + 60 + 144)),
        (10, 10 + 24 + 5, [1, 0.6, 0.2], (30 + 245 + 48 + 180, 40 + 285 + 60 + 180)),
        (12, 10 + 24 + 5, [1, 0.6, 0.2], (30 + 245 + 48 + 216, 40 + 285 + 60 + 216)),
        # Four questions of ten hops need thirteen rounds, two of eleven hops fourteen.
        (14, 10 + 24 + 20, [1, 0.6, 0.8], (30 + 245 + 48 + 3 * (5 * 12 + 13), 40 + 285 + 60 + 3 * (5 * 13 + 14))),
    ],
)
def test_table_5_is_known_to_the_last_digit(
    report: Report, limit: int, right: int, levels: Sequence[float], told: tuple[int, int]
) -> None:
    """The more rounds, the more of the whole ways are walked to their end."""
    assert numbers(report, "table5", COLUMNS, model="walker", rounds=str(limit)) == row(
        Fraction(right, 5 * 15), levels, *told, limit
    )


def test_the_one_that_never_zooms_is_right_where_letters_are_large(report: Report) -> None:
    """Two calls and an answer; no anchor is seen, and no page of a chain is found but by chance."""
    for protocol in ("search", "search_crop"):
        expected = row(Fraction(2, 15), [1, 0, 0], 2 * 80, 3 * 80)
        assert numbers(report, "table4", COLUMNS, model="blind", protocol=protocol) == expected
    assert numbers(report, "evidence", "anchor", model="blind", protocol="search_crop") == [0]
    assert numbers(report, "table9", "anchor", model="blind", source="rules of ours") == [1]


def test_every_error_is_counted_as_what_it_is(report: Report) -> None:
    """Of sixteen questions one is right behind a box that is none, four search for ever, four fill the context."""
    # Seven questions err six times, one answers in its second round, four have ten calls, four one call in one round.
    expected = row(Fraction(1, 15), [0.5, 0, 0], 5 * (4 * 10 + 4), 5 * (7 * 6 + 2 + 4 * 10 + 4))
    assert numbers(report, "table4", COLUMNS, model="erring", protocol="search_crop") == expected
    stops = numbers(report, "process", "answered rounds context strict", model="erring", protocol="search_crop")
    assert stops == [8 / 16, 4 / 16, 4 / 16, 0]
    found = {
        (one.keys["tool"], one.keys["status"]): one.values[0]
        for one in table_of(report, "calls").rows
        if one.keys["model"] == "erring" and one.keys["protocol"] == "search_crop"
    }
    assert found == {
        ("none", "bad_arguments"): 35,
        ("none", "malformed"): 35,
        ("none", "unknown_tool"): 35,
        ("image_zoom_in_tool", "bad_box"): 35 + 5,
        ("image_zoom_in_tool", "empty"): 35,
        ("image_search_tool", "ok"): 20,
        ("text_search_tool", "empty"): 35,
        ("text_search_tool", "not_run"): 20,
        ("text_search_tool", "ok"): 20 * 9,
    }


def test_identities_of_the_paper_hold_on_these_tables(report: Report) -> None:
    """Levels weigh as their samples do; utilization follows from calls, and answers bound Pass@1."""
    rows = [
        (one.keys, table)
        for table in ("table4", "table5")
        for one in table_of(report, table).rows
        if not one.summary and one.keys["protocol"] != "direct"
    ]
    assert len(rows) == 2 + 2 + 1 + 5
    for keys, table in rows:
        named = {name: keys[name] for name in ("model", "protocol", "rounds")}
        p1, first, second, third, calls, rounds, used = (
            value or 0 for value in numbers(report, table, COLUMNS, **named)
        )
        answered, strict = (value or 0 for value in numbers(report, "process", "answered strict", **named))
        assert p1 == pytest.approx((2 * first + 8 * second + 5 * third) / 15)
        assert used == pytest.approx(calls / int(keys["rounds"]))
        assert strict <= p1 <= answered <= rounds - calls + 1e-9
        if keys["model"] != "erring":
            assert answered == pytest.approx(rounds - calls)


def test_every_picture_is_rendered_once(played: Played, report: Report) -> None:
    """Six pictures, their thumbnails, and a crop of every anchor, whoever asks for them in whatever round."""
    assert played.renders == 6 + (5 + 2 + 1 + 2 + 1 + 1) + 10
    seen = numbers(report, "evidence", "anchor documents", model="walker", protocol="search_crop", rounds="14")
    # Whole ways find all their pages, and those who know the way one of a chain's five or six.
    known = [Fraction(2, 10)] * 2 + [Fraction(2, 10)] * 2 + [Fraction(2, 10)] + [Fraction(2, 11)]
    assert seen == [1, pytest.approx(float((80 - 12 + 2 * sum(known)) / 80))]


def test_pages_of_chats_show_what_was_searched(played: Played, report: Report) -> None:
    """The page tells queries and pages in words."""
    page = render_html(
        report,
        sample_outcomes(
            played.dataset, played.responses, played.entries, PromptRebuilder(played.dataset, played.specs)
        ),
    )
    assert "firm that trades under the mark" in page and "Table 4: what tools add" in page


def lines_of(responses: Sequence[Response]) -> Iterator[str]:
    """Chats as the authors' program writes them: turns and results joined by chat marks."""
    system = '<tools>\n{"name": "image_zoom_in_tool"}\n</tools>'
    for response in responses:
        said = []
        for turn in response.turns:
            said.append(f"<|im_start|>assistant\n{turn.text}<|im_end|>\n")
            if turn.call and turn.call.result:
                said.append(f"<|im_start|>user\n{turn.call.result}<|im_end|>\n")
        yield json.dumps(
            {
                "sample_id": response.sample_id,
                "dataset": "signs",
                "input": [{"role": "system", "content": system}],
                "output": "".join(said).removeprefix("<|im_start|>assistant\n"),
                "finish_reason": "max_turns" if response.stop == "rounds" else "no_tool_calls",
                "num_round": len(response.turns),
            }
        )


def test_results_in_the_authors_form_give_the_same_numbers(
    played: Played,
    report: Report,
    hop_folder: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    """One file a run; Pass@1 of every level, calls, rounds and utilization are those of our own responses."""
    for limit in (6, 10):
        chats = [one for one in played.responses if one.model == "walker" and one.max_rounds == limit]
        chats = [one for one in chats if one.protocol == "search_crop"]
        assert len(chats) == 16 * REPEATS
        files = [tmp_path / f"{limit}" / f"run{repeat}" / "results.jsonl" for repeat in range(REPEATS)]
        for repeat, file in enumerate(files):
            file.parent.mkdir(parents=True)
            file.write_text("\n".join(lines_of([one for one in chats if one.repeat == repeat])))
        theirs = score_files(hop_folder, *files)
        for column in COLUMNS.split():
            ours = value_of(report, "table5", column, model="walker", rounds=str(limit)).value
            assert value_of(theirs, "table4", column, protocol="search_crop").value == pytest.approx(ours)
        assert values_of(theirs, "table4", protocol="search_crop")["chats"] == 80
