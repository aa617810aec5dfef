"""The authors' program asks by chat completions what a job asks by a loop of the worker's: both have the same chats.

The engine is the simulated one; what it says is scripted here, and begins with a digest of all that it was told, so
that a text, a size of a picture, a seed or a way of decoding that differs gives another transcript.
"""

import asyncio
import base64
import hashlib
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import openai
import pytest
from PIL import Image

from gigavqa.benchmarks.vistahop.prompts import own_declarations
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import OnTokens, Response, TurnResponse
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.reports.report import build_report
from gigavqa.reports.score import score_files
from gigavqa.retrieval.corpora import Corpora
from gigavqa.retrieval.sources import SearchHit, write_result
from gigavqa.runtime.embedded_store import running_store
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.tools.searches import SearchSources
from gigavqa.workers.tools.sources import read_sources
from tests.benchmarks.vistahop.authors_client import (
    AT_ONCE,
    SECONDS,
    AuthorsRunner,
    Played,
    fitted,
    line_of,
    system_of,
)
from tests.benchmarks.vistahop.files import write
from tests.reports.tables import value_of
from tests.service.gateways import RunningGateway, running, settings_of
from tests.service.openai.workers import ENTRY, folder_of_uploads, working
from tests.waiting import wait_until
from tests.workers.tools.search_server import Server, adapter_of, serving

pytestmark = pytest.mark.slow

ROUNDS = 10
REPEATS = 2
MOST_TOKENS = 64
ELSEWHERE = "Demo (QWEN3-VL architecture, random weights)"
"""The model by another of its names, in another case."""
CELL = {"protocol": "search_crop", "condition": "V2", "rounds": ROUNDS}


def call(name: str, **arguments: Any) -> str:
    """A turn that calls a tool."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def zoom(*box: Any) -> str:
    """A turn that looks closer."""
    return call("image_zoom_in_tool", bbox_2d=box, label="mark", img_idx=0)


FIND, HITS = call("text_search_tool", query="who owns Ansel Hoist"), call("image_search_tool")
RIGHT, WRONG = "<answer>In 1911</answer>", "<answer>1850</answer>"
AGENTS: tuple[Sequence[str], ...] = (
    (zoom(350, 350, 550, 550), FIND, HITS, RIGHT),
    (call("text_search_tool", query="xylophone"), "1911"),
    (*(zoom(90 * number, 10.5, 90 * number + 100, 700) for number in range(9)), RIGHT),
    (FIND,) * ROUNDS,
    (call("fly"), call("text_search_tool"), call("image_zoom_in_tool", label="mark"), WRONG),
    (HITS, "<tool_call>{broken</tool_call>"),
    (FIND, "<tool_call>[1]</tool_call>", RIGHT),
    (zoom(500, 500, 100, 100), RIGHT),
)
"""What is said about each question, by rounds; the last two do what the program does not survive."""
LOST = (6, 7)
SHOWN = ("ok", "empty", "unknown_tool")
TASK = "You hunt for facts behind a picture."
SYSTEM = system_of(TASK, own_declarations())


class Listening(SimulatedEngine):
    """The simulated engine, which says what its agent says, behind a digest of all that it was told."""

    def __init__(self) -> None:
        super().__init__(ENTRY, speed=0)

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Take as long as the simulated engine does, and write."""
        answer = await super().generate(chat, sampling, request_id, priority, grow)
        heard = [(message.role, _joined(message)) for message in chat]
        decoding = sampling.model_dump(exclude={"steering"})
        digest = hashlib.sha256(json.dumps([heard, decoding]).encode()).hexdigest()[:12]
        agent = AGENTS[int(chat[1].text.partition("crane ")[2][0])]
        said = agent[sum(message.role == "assistant" for message in chat)]
        return answer.model_copy(update={"text": f"<thinking>{digest}</thinking>{said}"})


def _joined(message: Message) -> str:
    return "".join(part if isinstance(part, str) else f"[{part.pixels.shape}]" for part in message.parts)


def draw(root: Path) -> list[dict[str, Any]]:
    """The program's own records, their pictures, and the corpus behind the search."""
    records = [
        {
            "prompt": [{"role": "user", "content": f"<image>When was the firm of crane {at} founded?"}],
            "image": [f"images/{at}.png"],
            "reward_model": {"ground_truth": ["1911", "in 1911"]},
            "image_search_title_list": ["Quay 4", "Quay 5"],
            "image_search_thumbnail_list": ["thumbs/quay4.png", "thumbs/quay5.png"],
        }
        for at in range(len(AGENTS))
    ]
    folder = write(root / "harbours", records, f'[prompts]\nsystem_prompt = "{TASK}"\n')
    (folder / "samples" / "a.jsonl").rename(folder / "samples" / "harbours.jsonl")
    for number, (name, size) in enumerate(
        {
            **{f"images/{at}.png": (480 + 41 * at, 330 + 23 * at) for at in range(len(AGENTS))},
            "thumbs/quay4.png": (135, 76),
            "thumbs/quay5.png": (1200, 90),
        }.items()
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        Image.linear_gradient("L").resize(size).rotate(10 * number).convert("RGB").save(folder / name)
    return records


class Both(NamedTuple):
    """What a job says and what the client has of the same chats, in the same order."""

    responses: list[Response]
    played: list[Played]
    lines: Path
    folder: Path
    asked_by_job: int
    asked_by_client: int
    uploads: int
    renders: int
    judged: str


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    """A job over all questions, and then the client with the seeds of its requests, 64 chats at a time."""
    home = tmp_path_factory.mktemp("both")
    records = draw(home / "data")
    corpus = Corpora(home / "data", home / "indexes").open("harbours/corpus")
    with running_store(home / "server") as url, serving() as server:
        server.made["/search"] = adapter_of(corpus)
        settings = settings_of(home, url)
        with running(settings) as gateway, working(settings, Listening, sources_of(home, server)) as worker:
            responses = asked_as_a_job(gateway)
            by_job = len(server.asked)
            numbers = [_agent(response) for response in responses]
            chats = [(records[_agent(response)], response.sampling.seed or 0) for response in responses]
            played = asyncio.run(asked_by_the_client(gateway.url, home / "data" / "harbours", chats, server))
            uploads, renders = len(folder_of_uploads(settings)), worker.renders
            judged = asked_as_a_judge(gateway.url, home / "data" / "harbours" / "images" / "0.png")
        lines = home / "results.jsonl"
        told = (line_of(n, "harbours", SYSTEM, records[n], one) for n, one in zip(numbers, played, strict=True))
        lines.write_text("".join(json.dumps(line) + "\n" for line in told))
        return Both(responses, played, lines, home, by_job, len(server.asked) - by_job, uploads, renders, judged)


def sources_of(home: Path, server: Server) -> SearchSources:
    """The operator's source, in the shape of the program's adapter."""
    path = home / "sources.toml"
    path.write_text(f'[web]\naddress = "{server.address()}"\nversion = "1"\nshape = "adapter"\nprivate = true\n')
    return SearchSources(named=read_sources(path, {}))


def asked_as_a_job(gateway: RunningGateway) -> list[Response]:
    """Every response of the job, once it is over."""
    asked = {"options": {"source": "web", "top_k": 3}, "sampling": {"max_tokens": MOST_TOKENS}}
    workers = lambda: gateway.client.get("/v1/workers").json()["data"]  # noqa: E731
    wait_until(lambda: any("web" in worker["sources"] for worker in workers()), what="a worker that has the source")
    reply = gateway.submit(dataset="harbours", cells=[CELL], repeats=REPEATS, seed=3407, **asked)
    assert reply.status_code == httpx.codes.CREATED, reply.text
    name = reply.json()["id"]
    wait_until(lambda: gateway.job(name)["status"] == "completed", timeout=240, what="the job's completion")
    told = gateway.client.get(f"/v1/jobs/{name}/results", params={"limit": 1000}).text.splitlines()
    lines = [{name: value for name, value in json.loads(line).items() if name != "cursor"} for line in told]
    return [Response.model_validate(line) for line in lines]


async def asked_by_the_client(
    gateway: str, root: Path, chats: Sequence[tuple[dict[str, Any], int]], server: Server
) -> list[Played]:
    """What the client has of the same chats, all at once, from a search of its own."""

    async def search(query: str) -> str:
        asked = {"query": query, "topK": 3, "country": "us"}
        found = (await client.post(server.address(), json=asked)).json()["data"]["results"]
        return write_result(
            query, [SearchHit(one["url"], one["title"], one["snippet"], one["url"], "") for one in found]
        )

    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(base_url=gateway, limits=limits, timeout=SECONDS) as client:
        runner = AuthorsRunner(client, ELSEWHERE, root, search, rounds=ROUNDS, most_tokens=MOST_TOKENS)
        assert await runner.ready()
        return await asyncio.gather(*(runner.play(record, SYSTEM, seed) for record, seed in chats))


def asked_as_a_judge(gateway: str, picture: Path) -> str:
    """What the program's judge says, whom it asks through OpenAI's client: a text, and behind it a JPEG."""
    file = io.BytesIO()
    Image.open(picture).save(file, "jpeg")
    url = f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
    parts = [{"type": "text", "text": "Is crane 0 right?"}, {"type": "image_url", "image_url": {"url": url}}]
    messages: Any = [{"role": "system", "content": "Judge holistically."}, {"role": "user", "content": parts}]
    with openai.OpenAI(base_url=f"{gateway}/v1", api_key="EMPTY", timeout=SECONDS) as client:
        asked = client.chat.completions.create(
            model=ELSEWHERE, messages=messages, temperature=0, max_tokens=MOST_TOKENS
        )
    return str(asked.choices[0].message.content)


def test_its_judge_is_answered_by_another_name_and_with_any_key(both: Both) -> None:
    """As text, with the marks that the model wrote."""
    assert both.judged.startswith("<thinking>") and both.judged.endswith(AGENTS[0][0])


def test_transcripts_are_the_same(both: Both) -> None:
    """The texts of every round, results as they were shown, ends and counted calls, for the same seeds and sizes."""
    ends = {"answered": "no_tool_calls", "rounds": "max_turns"}
    assert len(both.responses) == len(AGENTS) * REPEATS
    for response, played in zip(both.responses, both.played, strict=True):
        texts = [turn.text for turn in response.turns]
        calls = [turn.call for turn in response.turns if turn.call]
        shown = [re.sub(r"\[IMAGE \d+\]", "[IMAGE]", one.result) for one in calls if one.status in SHOWN]
        assert response.failure is None
        if _agent(response) in LOST:
            assert (played.finish_reason, played.texts) == ("error", texts[: len(played.texts)])
            assert response.stop == "answered" and len(texts) > len(played.texts)
            continue
        assert (played.texts, played.finish_reason) == (texts, ends[str(response.stop)])
        assert played.results[: len(shown)] == shown
        assert played.counted == sum(one.status in ("ok", "not_run") for one in calls)


def test_transcripts_depend_on_what_was_told(both: Both) -> None:
    """Repeats have seeds of their own, so that none of their texts is another's."""
    first = [response.turns[0].text for response in both.responses]
    assert len(set(first)) == len(first)


def test_both_search_the_same_pages(both: Both) -> None:
    """The job asks once for a query, however many chats do; the client asks as often as it is told."""
    assert both.asked_by_job == 2
    assert both.asked_by_client == REPEATS * (1 + 1 + ROUNDS + 1)
    sources = {
        one.source for response in both.responses for turn in response.turns if (one := turn.call) and one.source
    }
    assert sources == {"web 1 extractive/1"}


def test_no_picture_is_worked_on_twice_however_often_it_is_sent(both: Both) -> None:
    """Of each picture, thumbnail and crop one is kept, and rendered once for the client and once for the job."""
    unique = len(AGENTS) + 2 + 1 + 9
    assert both.uploads == unique
    assert both.renders == 2 * unique


def test_results_of_the_client_score_as_the_job_does(both: Both) -> None:
    """Pass@1, calls and rounds, but for what the program loses."""
    kept = both.folder / "kept.jsonl"
    kept.write_text("".join(line for line in both.lines.open() if json.loads(line)["finish_reason"] != "error"))
    scored = score_files(both.folder / "data" / "harbours", kept)
    lost = {f"harbours-{agent}" for agent in LOST}
    responses = [response for response in both.responses if response.sample_id not in lost]
    ours = build_report(load_dataset(both.folder / "data" / "harbours"), responses, {ENTRY.id: ENTRY})
    for column in ("p1", "calls", "rounds"):
        theirs = value_of(scored, "table4", column, protocol="search_crop")
        assert theirs.value == pytest.approx(value_of(ours, "table4", column, protocol="search_crop").value), column


@pytest.mark.parametrize("size", [(60_000, 40_000), (135, 76), (480, 160), (12, 3200), (1000, 640)])
def test_the_client_sends_the_sizes_that_a_view_declares(size: tuple[int, int]) -> None:
    """Worked out twice."""
    sizing = "fit:32:65536:8294400:28"
    sides = (max(28, size[0]), max(28, size[1]))
    assert fitted(sides) == View(image="x.png", sizing=sizing).downsampled(Size(*size))


def _agent(response: Response) -> int:
    return int(response.sample_id.rpartition("-")[2])
