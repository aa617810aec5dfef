"""Asks a source on the network, and reads the pages that it names, within the bounds of its operator."""

import asyncio
import json
import logging
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

import httpx

from jobs.outgoing import AddressRefusedError, AddressUnknownError, is_public, pinned, resolve
from retrieval.errors import SourceFailedError
from retrieval.sources import MOST_PAGES, Page, SummarizerName, write_result
from workers.tools.markup import plain_text

if TYPE_CHECKING:
    from workers.tools.sources import SourceSettings

log = logging.getLogger(__name__)

_MOST_QUERY = 4_000
_MOST_TITLE = 1_000
_MOST_SNIPPET = 2_000
_MOST_LINK = 2_000
_MOST_REDIRECTS = 3
_LONGEST_PAUSE = 20.0
_HTML = ("text/html", "application/xhtml+xml")
_AGAIN = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


class _AgainError(Exception):
    """The source may answer when it is asked again, in `seconds` where it says so."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class WebSource:
    """A `Source` behind HTTP. What a model writes is sent as a text, and decides no address."""

    def __init__(self, name: str, settings: "SourceSettings", key: str | None) -> None:
        self.name = name
        self._settings = settings
        self._key = key
        self._places = asyncio.Semaphore(settings.concurrency)

    @property
    def version(self) -> str:
        """What the operator calls its state."""
        return self._settings.version

    @property
    def summarizer(self) -> SummarizerName:
        """How its pages are summed up."""
        return self._settings.summarizer

    async def search(self, query: str, top_k: int) -> tuple[Page, ...]:
        """The first pages that it names. Raises SourceFailedError when its tries or its seconds are spent."""
        sent = query[:_MOST_QUERY].encode("utf-8", "replace").decode()
        async with self._places:
            try:
                async with asyncio.timeout(self._settings.search_seconds):
                    pages = await self._patiently(sent, min(top_k, MOST_PAGES))
                    return await self._read_pages(pages) if self._settings.pages else pages
            except TimeoutError as error:
                raise self._failed(f"no result within {self._settings.search_seconds:g} s") from error

    async def write(self, query: str, pages: Sequence[Page]) -> str:
        """The text that a model is shown."""
        return await asyncio.to_thread(write_result, query, pages, self._settings.summarizer)

    async def _patiently(self, query: str, top_k: int) -> tuple[Page, ...]:
        tries = self._settings.tries
        for number in range(tries):
            try:
                return await self._ask(query, top_k)
            except (_AgainError, httpx.HTTPError, TimeoutError) as error:
                told = str(error) or type(error).__name__
                if number == tries - 1:
                    raise self._failed(f"{told}, asked {tries} time(s)") from error
                pause = max(self._settings.pause_seconds * 2**number, getattr(error, "seconds", 0.0))
                log.info("source %s: %s; it is asked again in %g s", self.name, told, pause)
                await asyncio.sleep(min(pause, _LONGEST_PAUSE))
        raise AssertionError("a source is asked once at least")

    async def _ask(self, query: str, top_k: int) -> tuple[Page, ...]:
        settings = self._settings
        said = {**settings.fields, settings.query_field: query}
        if settings.top_k_field:
            said[settings.top_k_field] = top_k
        sent: dict[str, Any] = {"params": said} if settings.method == "GET" else {"json": said}
        try:
            call = await _call(urlsplit(settings.address), allowed=settings.private)
        except AddressUnknownError as error:
            raise _AgainError(str(error)) from error
        except AddressRefusedError as error:
            raise self._failed(f"{error}; `private = true` allows it") from error
        call["headers"] |= self._key_header()
        async with (
            asyncio.timeout(settings.try_seconds),
            _client(settings.try_seconds) as client,
            client.stream(settings.method, **call, **sent) as response,
        ):
            self._check(response)
            content = await _content(response, settings.answer_bytes)
        if len(content) > settings.answer_bytes:
            raise self._failed(f"the answer has more than {settings.answer_bytes} bytes")
        return self._pages(content, top_k)

    def _key_header(self) -> dict[str, str]:
        if not self._key:
            return {}
        header = self._settings.key_header
        return {header: f"Bearer {self._key}" if header.lower() == "authorization" else self._key}

    def _check(self, response: httpx.Response) -> None:
        status = response.status_code
        if status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            after = response.headers.get("Retry-After", "")
            raise _AgainError(f"answers {status}", float(after) if after.isdecimal() else 0.0)
        if status != HTTPStatus.OK:
            raise self._failed(f"answers {status}")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise self._failed("sends compressed answers, which were not asked for")

    def _pages(self, content: bytes, top_k: int) -> tuple[Page, ...]:
        settings = self._settings
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._failed("its answer is no JSON") from error
        if settings.status and _at(answer, settings.status) not in (0, None):
            raise self._failed(f"its answer has `{settings.status}` {str(_at(answer, settings.status))[:100]!r}")
        results = _at(answer, settings.results)
        if not isinstance(results, list):
            raise self._failed(f"its answer has no list at `{settings.results}`")
        return tuple(filter(None, map(self._page, results)))[:top_k]

    def _page(self, result: object) -> Page | None:
        settings = self._settings
        title, snippet, link = (_text(result, path) for path in (settings.title, settings.snippet, settings.link))
        text = _text(result, settings.text) if settings.text else ""
        if not (title or snippet or text):
            return None
        link = link[:_MOST_LINK]
        cut = text[: settings.page_characters]
        return Page(link or title[:_MOST_TITLE], title[:_MOST_TITLE], snippet[:_MOST_SNIPPET], link, cut)

    async def _read_pages(self, pages: tuple[Page, ...]) -> tuple[Page, ...]:
        texts = await asyncio.gather(*(self._text_of(page) for page in pages))
        return tuple(replace(page, text=text) for page, text in zip(pages, texts, strict=True))

    async def _text_of(self, page: Page) -> str:
        """The text of a page; one that cannot be read has what the source said of it."""
        try:
            async with asyncio.timeout(self._settings.page_seconds):
                return page.text or await self._fetch(page.link)
        except (httpx.HTTPError, httpx.InvalidURL, AddressRefusedError, ValueError, TimeoutError) as error:
            log.info("source %s: page %r is not read: %s", self.name, page.link, str(error) or type(error).__name__)
            return ""

    async def _fetch(self, link: str) -> str:
        settings = self._settings
        for _ in range(1 + _MOST_REDIRECTS):
            parts = urlsplit(link)
            if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
                raise ValueError("is no address")
            call = await _call(parts, allowed=parts.hostname in settings.private_page_hosts)
            async with (
                _client(settings.page_seconds) as client,
                client.stream("GET", **call) as response,
            ):
                if response.has_redirect_location:
                    link = str(httpx.URL(link).join(response.headers["Location"]))
                    continue
                kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                if response.status_code != HTTPStatus.OK or kind not in _HTML:
                    raise ValueError(f"answers {response.status_code} with {kind[:100] or 'no type'}")
                if response.headers.get("Content-Encoding", "identity") != "identity":
                    raise ValueError("is compressed, which was not asked for")
                content = await _content(response, settings.page_bytes)
            text = await asyncio.to_thread(plain_text, content[: settings.page_bytes], response.charset_encoding)
            return text[: settings.page_characters]
        raise ValueError(f"leads on more than {_MOST_REDIRECTS} times")

    def _failed(self, told: str) -> SourceFailedError:
        return SourceFailedError(f"source {self.name}: {told}")


async def _call(parts: SplitResult, *, allowed: bool) -> dict[str, Any]:
    """What httpx calls an address with that was looked at. Raises AddressRefusedError."""
    call = pinned(parts, await resolve(parts, (lambda _: True) if allowed else is_public))
    call["headers"]["Accept-Encoding"] = "identity"  # what is small on the way would not be bounded here
    return call


def _client(seconds: float) -> httpx.AsyncClient:
    # One for each call: connections are pinned to addresses, and are not to be shared between names.
    return httpx.AsyncClient(timeout=seconds, follow_redirects=False, trust_env=False, verify=_trusted())


@cache
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


async def _content(response: httpx.Response, most: int) -> bytes:
    """The body, or so much of it that it is longer than `most`."""
    content = bytearray()
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > most:
            break
    return bytes(content)


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _text(result: object, path: str) -> str:
    found = _at(result, path)
    # Whatever cannot be written as UTF-8 could not be stored either.
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else ""
