"""Agents whose every word is scripted go the whole way of a worker, and every number of the report is known beforehand.

The engine is the simulated one, and says so in every response; what it says is scripted here.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from redis.asyncio import Redis

from evaluation.datasets import Dataset, load_dataset
from evaluation.expansion import expand
from evaluation.outcomes import sample_outcomes
from evaluation.prompts import Prompts
from evaluation.report import Report, build_report
from evaluation.writers.page.page import render_html
from jobs.models import JobSpec, Response
from jobs.queue import JobQueue
from jobs.registry import JobRegistry
from retrieval.corpora import Corpora
from service.submission.admission import bundle_requests
from tests.benchmarks.vistahop.files import OURS, write
from tests.evaluation.tables import caveats_of, value_of, values_of
from tests.workers.conftest import redis, server  # noqa: F401 - fixtures
from tests.workers.examples import ENTRY, responses_of
from tests.workers.loops import WritingEngine
from tests.workers.rig import running_worker
from tiling.headers import read_header
from workers.engines.engine import Message
from workers.tools.searching import Sources

SIZE = (1200, 800)
REPEATS = 2
ANCHOR = {"label": "mark", "kind": "logo", "box": [0.4, 0.4, 0.5, 0.5]}


def call(name: str, **arguments: Any) -> str:
    """A turn that calls a tool."""
    return f"<thinking>Hm.</thinking><tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def answer(text: str) -> str:
    """A turn that answers."""
    return f"<thinking>Now.</thinking><answer>{text}</answer>"


ZOOM = call("image_zoom_in_tool", bbox_2d=[350, 350, 550, 550], label="mark", img_idx=0)
FIND = call("text_search_tool", query="who owns Ansel Hoist")
AGENTS: tuple[Sequence[str], ...] = (
    (ZOOM, FIND, answer("In 1911")),
    (call("image_search_tool"), answer("1911")),
    (
        "<tool_call>[1]</tool_call>",
        call("fly"),
        call("text_search_tool"),
        call("image_zoom_in_tool", label="mark"),
        call("image_zoom_in_tool", bbox_2d=[500, 500, 100, 100]),
        "<tool_call>{broken</tool_call>",
    ),
    (FIND,) * 20,
)
"""What is said about each of four questions, by rounds: two are answered, one errs in every way, one never ends."""


def says(chat: Sequence[Message]) -> str:
    """The next turn of the agent that the question names; without tools only the first one knows the answer."""
    number = int(chat[1].text.partition("crane ")[2][0])
    if "<tools>" not in chat[0].text:
        return answer("1911" if number == 0 else "1850")
    return AGENTS[number][sum(message.role == "assistant" for message in chat)]


def drawn(root: Path) -> Dataset:
    """Four questions about four pictures, two of each level, with a corpus of one page."""
    records = [
        {
            **OURS,
            "id": f"q{at}",
            "images": [f"images/{at}.jpg"],
            "question": f"When was the firm of crane {at} founded?",
            "hops": 7 if at < 2 else 12,
            "anchors": [ANCHOR],
            "image_search": [{"title": "Quay 4", "thumbnail": "thumbs/quay.jpg"}],
        }
        for at in range(len(AGENTS))
    ]
    folder = write(root / "harbours", records)
    for name in (*(f"images/{at}.jpg" for at in range(len(AGENTS))), "thumbs/quay.jpg"):
        (folder / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", SIZE, (len(name), 9, int(name[-5], 36))).save(folder / name)
    return load_dataset(folder)


async def played(redis: Redis, tmp_path: Path) -> tuple[Report, list[Response], int, str]:  # noqa: F811
    """Report and responses of Table 4's plan, how many pictures were rendered, and the page."""
    root = tmp_path / "data"
    root.mkdir()
    dataset = drawn(root)
    spec = JobSpec(dataset="harbours", models=(ENTRY.id,), plan="table4", repeats=REPEATS)
    requests = [*expand(dataset, spec, {ENTRY.id: ENTRY}, lambda image: read_header(root / image).size)]
    job, _ = await JobRegistry(redis).create(spec)
    await JobQueue(redis).enqueue(job.id, [*bundle_requests(job, requests, 50)], "digest")
    sources = Sources(Corpora(root, tmp_path / "indexes"))
    async with running_worker(redis, root, tmp_path / "pyramids", lambda: WritingEngine(says), sources=sources) as rig:
        await rig.until_final(job.id)
    responses = await responses_of(redis, job.id)
    report = build_report(dataset, responses, {ENTRY.id: ENTRY}, spec)
    outcomes = sample_outcomes(dataset, responses, {ENTRY.id: ENTRY}, Prompts(dataset, {job.id: spec}))
    return report, responses, rig.library.stats().renders, render_html(report, outcomes)


async def test_tables_of_scripted_agents_are_known_to_the_last_digit(redis: Redis, tmp_path: Path) -> None:  # noqa: F811
    """Pass@1, calls, rounds, utilization, stops, statuses, anchors and documents."""
    report, responses, renders, page = await played(redis, tmp_path)
    assert [response.failure for response in responses] == [None] * (3 * 4 * REPEATS)
    assert renders == 4 + 1 + 1, "four pictures, one thumbnail and one zoom, whoever asks for them"

    def numbers(table: str, columns: str, protocol: str) -> list[float | None]:
        return [value_of(report, table, column, protocol=protocol).value for column in columns.split()]

    columns = "p1 L2 L3 calls rounds utilization"
    assert numbers("table4", columns, "direct") == [0.25, 0.5, 0, 0, 1, 0]
    # Without a zoom the first agent's is an unknown tool; the last one calls in each of ten rounds.
    assert numbers("table4", columns, "search") == [0.5, 1, 0, 3.0, 5.25, 0.3]
    assert numbers("table4", columns, "search_crop") == [0.5, 1, 0, 3.25, 5.25, 0.325]
    assert numbers("process", "answered rounds context strict", "search_crop") == [0.75, 0.25, 0, 0.5]
    found = {
        (row.keys["tool"], row.keys["status"]): row.values[0]
        for row in next(table for table in report.tables if table.name == "calls").rows
        if row.keys["protocol"] == "search_crop"
    }
    assert found == {
        ("none", "bad_arguments"): 2,
        ("none", "malformed"): 2,
        ("none", "unknown_tool"): 2,
        ("image_zoom_in_tool", "bad_box"): 2,
        ("image_zoom_in_tool", "empty"): 2,
        ("image_zoom_in_tool", "ok"): 2,
        ("image_search_tool", "ok"): 2,
        ("text_search_tool", "empty"): 2,
        ("text_search_tool", "not_run"): 2,
        ("text_search_tool", "ok"): 2 * (1 + 9),
    }
    assert numbers("evidence", "anchor documents", "search_crop") == [0.25, 0.5]
    # Of two wrong questions neither saw its anchor.
    assert values_of(report, "table9", source="rules of ours")["chats"] == 2 * REPEATS
    assert value_of(report, "table9", "anchor", source="rules of ours").value == 1
    assert "who owns Ansel Hoist" in page and "Table 4: what tools add" in page
    assert any("simulated engine" in told for told in caveats_of(report))
