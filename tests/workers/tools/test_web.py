"""Sources on the network, asked over real HTTP: what the operator's file says is what happens, and nothing else."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gigavqa.retrieval.errors import SourceFailedError
from gigavqa.retrieval.sources import SearchHit, SearchSource
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.workers.tools import json_endpoint
from gigavqa.workers.tools.markup import plain_text
from gigavqa.workers.tools.sources import read_sources
from tests.workers.tools.search_server import Server, serving, shown, told

ORGANIC = {
    "organic": [
        {"title": f"Page {at}", "snippet": f"about {at}", "link": f"https://pages.invalid/{at}"} for at in range(9)
    ]
}
SERPER = 'shape = "serper"\nprivate = true\n'


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of searches."""
    with serving() as running:
        yield running


def source(folder: Path, address: str, more: str = SERPER, environ: dict[str, str] | None = None) -> SearchSource:
    """The source of a file."""
    path = folder / "sources.toml"
    path.write_text(f'[web]\naddress = "{address}"\nversion = "2026-11"\npause_seconds = 0.01\n{more}')
    return read_sources(path, environ or {})["web"]


async def test_a_source_in_the_shape_of_serper(tmp_path: Path, server: Server) -> None:
    """The query alone is sent, with the key of the named variable; the first pages come back in order."""
    server.answers["/search"] = [told(ORGANIC)]
    asked = source(tmp_path, server.address(), f'{SERPER}key_env = "KEY_OF_WEB"\n', {"KEY_OF_WEB": "k-123"})
    pages = await asked.search("who owns \ud800 the “heron”?", 3)
    assert pages[1] == SearchHit("https://pages.invalid/1", "Page 1", "about 1", "https://pages.invalid/1", "")
    assert len(pages) == 3
    (one,) = server.asked
    assert (one["body"], one["headers"]["X-API-KEY"]) == ({"q": "who owns ? the “heron”?"}, "k-123")
    assert (asked.version, asked.summarizer) == ("2026-11", "extractive/1")


async def test_a_source_in_the_shape_of_an_adapter(tmp_path: Path, server: Server) -> None:
    """It is told how many are wanted; a status that is not 0 is a failure, however the answer looks."""
    results = {"results": [{"title": "One", "url": "https://pages.invalid/1", "snippet": "s"}]}
    server.answers["/search"] = [told({"status": 0, "data": results}), told({"status": 7, "data": results})]
    asked = source(tmp_path, server.address(), 'shape = "adapter"\nprivate = true\n')
    assert [page.id for page in await asked.search("heron", 2)] == ["https://pages.invalid/1"]
    assert server.asked[0]["body"] == {"query": "heron", "topK": 2}
    with pytest.raises(SourceFailedError, match="source web: its answer has `status` '7'"):
        await asked.search("heron", 2)


async def test_a_source_in_a_shape_of_its_own(tmp_path: Path, server: Server) -> None:
    """Method, fields and paths are the file's; texts that come with the results need no fetching, and are cut."""
    server.answers["/search"] = [told([{"hits": [{"names": ["T"], "body": "x" * 99}, {"names": []}, 5, None]}])]
    asked = source(
        tmp_path,
        server.address(),
        'private = true\nmethod = "GET"\nquery_field = "q"\nresults = "0.hits"\ntitle = "names.0"\ntext = "body"\n'
        'page_characters = 10\nsummarizer = "none"\nfields = {format = "json", safe = 1}\n',
    )
    assert await asked.search("a&b=c\ud800", 5) == (SearchHit("T", "T", "", "", "x" * 10),)
    assert server.asked[0]["query"] == "format=json&safe=1&q=a%26b%3Dc%3F"


async def test_nothing_found_is_no_failure(tmp_path: Path, server: Server) -> None:
    """An empty list is an answer."""
    server.answers["/search"] = [told({"organic": []})]
    assert await source(tmp_path, server.address()).search("heron", 3) == ()


async def test_a_source_that_is_away_is_asked_again(tmp_path: Path, server: Server) -> None:
    """Three times in all: twice it has no answer, and the third one counts."""
    server.answers["/search"] = [told({}, 503), told({}, 429, Retry_After="0"), told(ORGANIC)]
    assert len(await source(tmp_path, server.address()).search("heron", 3)) == 3
    assert len(server.asked) == 3


async def test_the_log_says_how_long_a_source_is_left_alone(
    tmp_path: Path, server: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice as long each time, and as long as it asks for, but no longer than the longest pause."""
    monkeypatch.setattr(json_endpoint, "_MAX_PAUSE_SECONDS", 0.05)
    caplog.set_level(logging.INFO, json_endpoint.__name__)
    server.answers["/search"] = [told({}, 429, Retry_After="3600"), told({}, 429, Retry_After="0"), told(ORGANIC)]
    await source(tmp_path, server.address()).search("heron", 3)
    pauses = [message.partition("source web: answers 429; it is asked again in ")[2] for message in caplog.messages]
    assert pauses == ["0.05 s", "0.02 s"]


@pytest.mark.parametrize(
    ("answer", "message", "times"),
    [
        (told({}, 500), "answers 500, asked 3 time", 3),
        (told({}, 401), "answers 401", 1),
        (told({}, 302, Location="/other"), "answers 302", 1),
        (told({"other": []}), "no list at `organic`", 1),
        (told("x" * 3_000_000), "more than 2097152 bytes", 1),
        ((200, {}, b"[" * 100_000), "is no JSON", 1),
        ((200, {"Content-Encoding": "gzip"}, b"x"), "compressed", 1),
        ((200, {"Content-Length": "50"}, b"{}"), "asked 3 time", 3),
    ],
)
async def test_what_is_no_answer_fails_with_the_sources_name(
    tmp_path: Path, server: Server, answer: tuple[int, dict[str, str], bytes], message: str, times: int
) -> None:
    """What may pass is asked three times, what is wrong once; no message holds the key."""
    server.answers["/search"] = [answer]
    asked = source(tmp_path, server.address(), f'{SERPER}key_env = "K"\ntry_seconds = 30\n', {"K": "k-123"})
    with pytest.raises(SourceFailedError, match=f"source web: .*{message}") as raised:
        await asked.search("heron", 3)
    assert (len(server.asked), "k-123" in str(raised.value)) == (times, False)


async def test_a_source_that_does_not_answer_ends_with_its_time(tmp_path: Path, server: Server) -> None:
    """The search's seconds bound all tries together."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    server.wait = lambda: asyncio.run_coroutine_threadsafe(ended.wait(), loop).result()
    server.answers["/search"] = [told(ORGANIC)]
    try:
        with pytest.raises(SourceFailedError, match=r"no result within 0\.3 s"):
            await source(tmp_path, server.address(), f"{SERPER}search_seconds = 0.3\n").search("heron", 3)
    finally:
        ended.set()


async def test_no_more_searches_go_on_than_the_operator_allows(tmp_path: Path, server: Server) -> None:
    """Eight that come together at a source of two: two arrive, the others wait for them."""
    server.answers["/search"] = [told(ORGANIC)]
    going, most = 0, 0
    pair = asyncio.Barrier(2)
    loop = asyncio.get_running_loop()

    async def count() -> None:
        nonlocal going, most
        going += 1
        most = max(most, going)
        await pair.wait()
        going -= 1

    server.wait = lambda: asyncio.run_coroutine_threadsafe(count(), loop).result()
    asked = source(tmp_path, server.address(), f"{SERPER}concurrency = 2\n")
    assert [len(pages) for pages in await asyncio.gather(*(asked.search(f"q{at}", 1) for at in range(8)))] == [1] * 8
    assert most == 2


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/search", "http://localhost:9/x", "http://169.254.169.254/x"])
async def test_addresses_inside_of_networks_are_not_asked_unless_the_operator_says_so(
    tmp_path: Path, address: str
) -> None:
    """The file that names one has to say that it means it."""
    with pytest.raises(SourceFailedError, match="inside of a network, and not called; `private = true`"):
        await source(tmp_path, address, 'shape = "serper"\n').search("heron", 3)


async def test_pages_are_read_from_hosts_that_may_be_called(tmp_path: Path, server: Server) -> None:
    """A page of a listed host is read, also behind a redirect; one inside of a network that is not listed never is."""
    paths = ("/plain", "/moved", "/inside", "/round", "/picture", "/gone", "/large", "/packed")
    server.answers = {
        "/search": [
            told(
                {
                    "organic": [
                        {"title": path, "snippet": "s", "link": server.address(path, "localhost")} for path in paths
                    ]
                }
            )
        ],
        "/plain": [shown("<h1>Heron</h1><p>Founded in <b>1911</b>.</p><script>if (a < b) x()</script>")],
        "/moved": [shown("", status=302, Location="/plain")],
        "/inside": [shown("", status=302, Location=server.address("/secret"))],
        "/round": [shown("", status=302, Location="/round")],
        "/picture": [shown(b"\x89PNG", "image/png")],
        "/large": [shown("<p>" + "a" * 3_000_000)],
        "/packed": [shown(b"x", Content_Encoding="gzip")],
        "/secret": [shown("<p>secret")],
    }
    more = f'{SERPER}pages = true\nprivate_page_hosts = ["localhost"]\nconcurrency = 1\n'
    pages = await source(tmp_path, server.address(), more).search("heron", 20)
    texts = {page.title: page.text for page in pages}
    assert texts.pop("/large") == "a" * 30_000
    assert texts == dict.fromkeys(paths[2:6], "") | {"/packed": ""} | dict.fromkeys(
        paths[:2], "Heron\n\nFounded in 1911."
    )
    assert "/secret" not in server.paths()
    assert all(page.snippet == "s" for page in pages)


class Names:
    """Answers look-ups of names that nobody has, each answer once and the last for ever; addresses are themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **answers: list[list[str]]) -> None:
        self.asked: list[str] = []
        self._answers = {f"{name}.example": told for name, told in answers.items()}
        self._look_up = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._found)

    def _found(self, host: Any, port: Any, *more: Any, **named: Any) -> list[Any]:
        if host not in self._answers:
            return self._look_up(host, port, *more, **named)
        self.asked.append(host)
        answers = self._answers[host]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [found for address in addresses for found in self._look_up(address, port, *more, **named)]


async def test_a_name_is_looked_up_once_and_called_where_it_was_found(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it cannot lead elsewhere between the look and the call; the page is asked for under its name."""
    names = Names(monkeypatch, pages=[["127.0.0.1"], ["192.0.2.1"]])
    link = server.address("/plain", "pages.example")
    server.answers = {"/search": [told({"organic": [{"title": "t", "link": link}]})], "/plain": [shown("<p>Seen.")]}
    more = f'{SERPER}pages = true\nprivate_page_hosts = ["pages.example"]\n'
    (page,) = await source(tmp_path, server.address(), more).search("heron", 1)
    assert (page.text, names.asked) == ("Seen.", ["pages.example"])
    assert server.asked[-1]["headers"]["Host"] == f"pages.example:{server.port}"


async def test_a_name_with_one_address_inside_of_a_network_is_not_called(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever others it has, and however often it is looked up; neither as a page nor as a source."""
    names = Names(monkeypatch, both=[["1.1.1.1", "127.0.0.1"]], mapped=[["::ffff:127.0.0.1"]], none=[["0.0.0.0"]])
    links = [server.address("/secret", f"{name}.example") for name in ("both", "mapped", "none")]
    server.answers["/search"] = [told({"organic": [{"title": link, "link": link} for link in links]})]
    pages = await source(tmp_path, server.address(), f"{SERPER}pages = true\n").search("heron", 3)
    assert ([page.text for page in pages], server.paths(), len(names.asked)) == ([""] * 3, ["/search"], 3)
    with pytest.raises(SourceFailedError, match="inside of a network"):
        await source(tmp_path, links[0], 'shape = "serper"\n').search("heron", 3)


async def test_links_that_are_no_addresses_cost_their_page_alone(tmp_path: Path, server: Server) -> None:
    """Whatever a source names: nothing is raised, nothing inside is called, and what it said of the page stays."""
    links = ("", "x", "javascript:1", "http://[::1", "http://\ud800/", "http://ada:pw@localhost/", "//x")
    inside = (
        "file:///etc/passwd",
        server.address("/secret"),
        server.address("/secret", "localhost"),
        "http://0/",
        "http://é:x/",
    )
    named = (*links, *inside, "http://" + "a" * 300, "http://\0/", "https://127.1/", "http://[::ffff:127.0.0.1]/")
    server.answers["/search"] = [
        told({"organic": [{"title": f"t{at}", "link": link} for at, link in enumerate(named)]})
    ]
    pages = await source(tmp_path, server.address(), f"{SERPER}pages = true\n").search("heron", 20)
    assert [(page.title, page.text) for page in pages] == [(f"t{at}", "") for at in range(len(named))]
    assert server.paths() == ["/search"]


async def test_a_name_that_leads_nowhere_is_looked_up_again(tmp_path: Path) -> None:
    """As a server that is away; the message does not say that a setting would help."""
    with pytest.raises(SourceFailedError, match=r"'a\.\.b' is no address, asked 3 time"):
        await source(tmp_path, "http://a..b/search").search("heron", 3)


def test_every_wrong_setting_of_sources_is_named_at_once(tmp_path: Path) -> None:
    """By file, source and field; a key that is not there is missed before anything is asked."""
    path = tmp_path / "sources.toml"
    path.write_text(
        '[a]\nversion = "1"\nresults = "r"\n[b]\naddress = "ftp://x"\nversion = "1"\nresults = "r"\n'
        '[c]\nshape = "serper"\naddress = "https://ada:pw@x.example"\nversion = "1"\ntries = 99\n'
        '[d]\nshape = "serper"\naddress = "https://x.example"\nversion = "1"\nkey_env = "MISSING"\n'
        '[e]\nshape = "other"\naddress = "https://x.example"\nversion = "1"\ntypo = 1\n["F/g"]\n'
        '[h]\nshape = "serper"\naddress = "https://x.example"\nversion = "1"\nkey_env = "BROKEN"\n'
    )
    with pytest.raises(SettingsInvalidError) as raised:
        read_sources(path, {"BROKEN": "k-1\nk-2"})
    assert "k-1" not in str(raised.value)
    for words in (
        "[a] address: is missing",
        "[b] address: is to be an address",
        "[c] address: has a name or password",
        "[c] tries: must be less",
        "[d]: key_env: the variable MISSING is not set",
        "[h]: key_env: the variable BROKEN holds what cannot be sent",
        "[e] shape: must be 'serper' or 'adapter'",
        "[e] typo: is not known",
        "[F/g]: a name has small letters",
    ):
        assert f"{path} {words}" in str(raised.value)
    with pytest.raises(SettingsInvalidError, match=r"nowhere\.toml cannot be read"):
        read_sources(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (b"<p>a<b>b</b> c</p><ul><li>d<li>e</ul>", "ab c\n\nd\n\ne"),
        (b"a &amp; b &lt;p&gt;<!-- <p>no --> c", "a & b <p> c"),
        (b"<STYLE>p { }</STYLE>seen<script>unclosed <p>no", "seen"),
        (b"1 < 2 <br> 3 <p class='x' unclosed", "1 < 2\n\n3"),
        (b'<meta charset="windows-1251"><p>\xcf\xee\xf0\xf2', "Порт"),
        (b'<meta charset="rot13"><p>plain \xff', "plain \ufffd"),
        (b"<meta charset=utf-7><p>x", "x"),
        (b"\0<p>\0a\0", "a"),
        (b"", ""),
    ],
)
def test_a_page_is_what_its_reader_would_see(html: bytes, text: str) -> None:
    """Blocks are paragraphs; scripts, styles and comments are nothing; charsets as the page says."""
    assert plain_text(html) == text


@pytest.mark.parametrize(
    "unit", [b"<", b"<!--", b"<p>", b"<script>", b"</script", b"&", b"<a href='", b"<svg><", b"\0"]
)
def test_a_page_of_one_thing_is_read_in_one_pass(unit: bytes) -> None:
    """Two megabytes of it."""
    assert len(plain_text(unit * (2_000_000 // len(unit)))) <= 2_000_000
