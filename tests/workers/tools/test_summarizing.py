"""Summaries by a model elsewhere, over real HTTP: of each page, then of all; a failure of it is the source's."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.retrieval.errors import SourceFailedError
from gigavqa.retrieval.sources import MAX_RESULT_CHARACTERS, SearchHit, SearchSource
from gigavqa.runtime.embedded_store import running_store
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.searches import SearchStore
from gigavqa.workers.engines.simulation.answers import AnswerScript
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.tools.searches import SearchExecutor, SearchSources
from gigavqa.workers.tools.sources import read_sources
from tests.service.gateways import MODEL, running, settings_of
from tests.service.openai.workers import ENTRY, working
from tests.workers.examples import create_job
from tests.workers.tool_chats import LOOK_UP
from tests.workers.tools.search_server import Server, serving, told

PAGES = [
    SearchHit(
        "p-1", "Norrland Works", "It makes cranes.", "https://pages.invalid/1", "Norrland Works was founded in 1911."
    ),
    SearchHit("p-2", "Ansel", "Ansel was born in 1870.", "https://pages.invalid/2", ""),
    SearchHit("p-3", "Quay 4", "A quay.", "https://pages.invalid/3", "Cranes stand at quay 4."),
]
CHATS = "/v1/chat/completions"


@pytest.fixture
def models() -> Iterator[Server]:
    """A server of models."""
    with serving() as running:
        yield running


def source(
    folder: Path, address: str, more: str = "", environ: dict[str, str] | None = None, model: str = "qwen3-32b"
) -> SearchSource:
    """A source whose summarizer is at an address."""
    path = folder / "sources.toml"
    path.write_text(
        f'[web]\naddress = "{address}"\nversion = "1"\nshape = "serper"\nprivate = true\npause_seconds = 0.01\n'
        f'[web.summarizer]\nmodel = "{model}"\naddress = "{address}"\nprivate = true\npause_seconds = 0.01\n{more}'
    )
    return read_sources(path, environ or {})["web"]


def said(text: str | None) -> tuple[int, dict[str, str], bytes]:
    """The answer of a model."""
    return told({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


async def test_each_page_is_summed_up_and_then_all(tmp_path: Path, models: Server) -> None:
    """The query in view, in at most five sentences, thinking off; titles, snippets and links go into the last one."""
    models.answers[CHATS] = [said("Summary."), said("Summary."), said("All of it.")]
    asked = source(tmp_path, models.address(""), 'key_env = "KEY"\ntemperature = 0.3\n', {"KEY": "k-123"})
    assert await asked.write("who {made} it \ud800", PAGES) == "All of it."
    first, second, last = (one["body"] for one in models.asked)
    assert {one["headers"]["Authorization"] for one in models.asked} == {"Bearer k-123"}
    assert {name: last[name] for name in set(last) - {"messages"}} == {
        "model": "qwen3-32b",
        "temperature": 0.3,
        "max_tokens": 1024,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    texts = [body["messages"][0]["content"] for body in (first, second, last)]
    assert all("five sentences" in text and "Query: who {made} it ?" in text for text in texts)
    assert sorted(text.rpartition("\n\n")[2] for text in texts[:2]) == sorted(page.text for page in PAGES if page.text)
    assert texts[2].endswith(
        "Norrland Works\nIt makes cranes.\nhttps://pages.invalid/1\nSummary.\n\n"
        "Ansel\nAnsel was born in 1870.\nhttps://pages.invalid/2\n\n"
        "Quay 4\nA quay.\nhttps://pages.invalid/3\nSummary."
    )
    assert asked.summarizer == "model/1:qwen3-32b:t0.3"


async def test_without_pages_no_model_is_asked(tmp_path: Path, models: Server) -> None:
    """There is nothing to sum up."""
    assert await source(tmp_path, models.address("")).write("heron", []) == ""
    assert models.asked == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("<think>\nHm. </think>\n\nA summary. ", "A summary."),
        ("<think>Hm, it never ends", ""),
        (None, ""),
        (" \n", ""),
        ("\ud800", "?"),
        ("x" * 40_000, "x" * MAX_RESULT_CHARACTERS + f"\n[cut off after {MAX_RESULT_CHARACTERS} of 40000 characters]"),
    ],
)
async def test_what_is_shown_is_the_last_summary(tmp_path: Path, models: Server, answer: str | None, text: str) -> None:
    """Without thoughts, of a bounded length, and nothing where there is nothing."""
    models.answers[CHATS] = [said(answer)]
    assert await source(tmp_path, models.address("/v1")).write("heron", PAGES[1:2]) == text


@pytest.mark.parametrize(
    ("answer", "message", "times"),
    [
        (told({}, 503), "answers 503, asked 3 time", 3),
        (told({"error": {"message": "no such model"}}, 404), "answers 404", 1),
        (told({}, 307, Location="/other"), "answers 307", 1),
        (told({"choices": []}), "no message at `choices.0.message`", 1),
        ((200, {}, b"{"), "is no JSON", 1),
        (told("x" * 3_000_000), "more than 2097152 bytes", 1),
    ],
)
async def test_a_model_that_does_not_answer_is_a_source_that_fails(
    tmp_path: Path, models: Server, answer: tuple[int, dict[str, str], bytes], message: str, times: int
) -> None:
    """What may pass is asked three times; no message holds the key."""
    models.answers[CHATS] = [answer]
    asked = source(tmp_path, models.address(""), 'key_env = "KEY"\n', {"KEY": "k-123"})
    with pytest.raises(SourceFailedError, match=f"source web: its summarizer: .*{message}") as raised:
        await asked.write("heron", PAGES[1:2])
    assert (models.paths(), "k-123" in str(raised.value)) == ([CHATS] * times, False)


async def test_the_first_page_that_fails_ends_all(tmp_path: Path, models: Server) -> None:
    """Nothing is shown of a part."""
    models.answers[CHATS] = [told({}, 400)]
    with pytest.raises(SourceFailedError, match="answers 400"):
        await source(tmp_path, models.address("")).write("heron", PAGES)


async def test_a_summary_has_its_time(tmp_path: Path, models: Server) -> None:
    """All chats of it together."""
    ended = threading.Event()
    models.wait = ended.wait
    models.answers[CHATS] = [said("late")]
    try:
        with pytest.raises(SourceFailedError, match=r"no summary within 0\.3 s"):
            await source(tmp_path, models.address(""), "seconds = 0.3\n").write("heron", PAGES)
    finally:
        ended.set()


async def test_a_summarizer_inside_of_a_network_is_not_asked_unless_the_operator_says_so(tmp_path: Path) -> None:
    """That the source may be there says nothing of its summarizer."""
    path = tmp_path / "sources.toml"
    path.write_text(
        '[web]\naddress = "http://127.0.0.1:9/s"\nversion = "1"\nshape = "serper"\nprivate = true\n'
        '[web.summarizer]\nmodel = "m"\naddress = "http://localhost:9"\n'
    )
    with pytest.raises(SourceFailedError, match="its summarizer: 'localhost' is an address inside of a network"):
        await read_sources(path)["web"].write("heron", PAGES)


def test_every_wrong_setting_of_a_summarizer_is_named(tmp_path: Path) -> None:
    """By its field, beside those of the source."""
    path = tmp_path / "sources.toml"
    path.write_text(
        '[a]\nshape = "serper"\naddress = "https://x.example"\nversion = "1"\nsummarizer = "model"\n'
        '[b]\nshape = "serper"\naddress = "https://x.example"\nversion = "1"\n'
        '[b.summarizer]\nmodel = "two words"\naddress = "x"\ntemperature = 3\ntypo = 1\n'
        '[c]\nshape = "serper"\naddress = "https://x.example"\nversion = "1"\n'
        '[c.summarizer]\nmodel = "m"\naddress = "https://x.example"\nkey_env = "MISSING"\n'
    )
    with pytest.raises(SettingsInvalidError) as raised:
        read_sources(path, {})
    for words in (
        "[a] summarizer.name: must be 'none' or 'extractive/1'",
        "[b] summarizer.model.model: String should match",
        "[b] summarizer.model.address: is to be an address",
        "[b] summarizer.model.temperature: must be less",
        "[b] summarizer.model.typo: is not known",
        "[c]: key_env: the variable MISSING is not set",
    ):
        assert f"{path} {words}" in str(raised.value)


async def test_what_is_recorded_of_a_search_names_who_summed_up(redis: Redis, tmp_path: Path, models: Server) -> None:
    """A summary that fails leaves nothing behind; the next one that asks asks anew, and keeps what it gets."""
    address = models.address("")
    models.answers = {
        "/": [told({"organic": [{"title": "Heron", "snippet": "A mark.", "link": "https://pages.invalid/1"}]})],
        CHATS: [told({}, 400), said("Founded in 1911.")],
    }
    searching = SearchExecutor(
        SearchSources(named={LOOK_UP.source: source(tmp_path, f"{address}/")}), SearchStore(redis), lease_seconds=1.0
    )
    job_id = await create_job(redis)
    with pytest.raises(SourceFailedError, match="its summarizer"):
        await searching.search(job_id, LOOK_UP, "heron")
    assert not await redis.exists(KEYS.searches(job_id), KEYS.searching(job_id))
    found, cached, told_by = await searching.search(job_id, LOOK_UP, "heron")
    assert (found.text, found.documents, cached) == ("Founded in 1911.", ("https://pages.invalid/1",), False)
    assert told_by == f"{LOOK_UP.source} 1 model/1:qwen3-32b:t0"
    assert (await searching.search(job_id, LOOK_UP, "heron")).cached
    assert models.paths() == ["/", CHATS] * 2


async def test_this_service_sums_up_for_itself(tmp_path: Path) -> None:
    """Through a real gateway and a worker of its own, whose engine is scripted."""
    script = AnswerScript([["It was founded in 1911."]])
    with running_store(tmp_path / "server") as url:
        settings = settings_of(tmp_path, url)
        with running(settings) as gateway, working(settings, lambda: SimulatedEngine(ENTRY, speed=0, script=script)):
            asked = source(tmp_path, gateway.url, model=MODEL)
            assert await asked.write("heron", PAGES) == "It was founded in 1911."
