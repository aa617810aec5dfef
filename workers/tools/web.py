"""Asks a source on the network, and reads the pages that it names, within the bounds of its operator."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import httpx
from pydantic import Discriminator, Field, PositiveFloat, PositiveInt, Tag

from gigavqa.retrieval.sources import MAX_HITS, SearchHit, SummarizerName, write_result
from gigavqa.runtime.public_addresses import AddressRefusedError
from gigavqa.workers.tools.json_endpoint import (
    EndpointAddress,
    EndpointLimits,
    JsonEndpoint,
    is_compressed,
    make_http_client,
    pin_address,
    read_body,
    value_at_path,
)
from gigavqa.workers.tools.markup import plain_text
from gigavqa.workers.tools.summarizing import ModelSummarizer, SummarizerSettings

log = logging.getLogger(__name__)

_MOST_QUERY = 4_000
_MOST_TITLE = 1_000
_MOST_SNIPPET = 2_000
_MOST_LINK = 2_000
_MOST_REDIRECTS = 3
_HTML = ("text/html", "application/xhtml+xml")
_PATH = Field(min_length=1, max_length=200)


def _kind_of_summarizer(given: object) -> str:
    return "name" if isinstance(given, str) else "model"


class SourceSettings(EndpointLimits):
    """One source. A path leads through an answer's JSON, such as `data.results`; numbers count in lists."""

    address: EndpointAddress
    version: str = Field(min_length=1, max_length=200)
    summarizer: Annotated[
        Annotated[SummarizerName, Tag("name")] | Annotated[SummarizerSettings, Tag("model")],
        Discriminator(_kind_of_summarizer),
    ] = "extractive/1"
    shape: Literal["serper", "adapter"] | None = None

    method: Literal["GET", "POST"] = "POST"
    query_field: str = "query"
    top_k_field: str | None = None
    fields: Mapping[str, str | int | float | bool] = {}
    key_env: str | None = None
    key_header: str = Field("Authorization", pattern=r"^[A-Za-z0-9_-]+$")

    status: str | None = None
    results: str = _PATH
    title: str = "title"
    snippet: str = "snippet"
    link: str = "link"
    text: str | None = None

    pages: bool = False
    private_page_hosts: tuple[str, ...] = ()

    search_seconds: PositiveFloat = 60.0
    page_seconds: PositiveFloat = 20.0
    page_bytes: PositiveInt = 2**20
    page_characters: PositiveInt = 30_000


class WebSource:
    """A `Source` behind HTTP. What a model writes is sent as a text, and decides no address."""

    def __init__(
        self, name: str, settings: SourceSettings, key: str | None, model: ModelSummarizer | None = None
    ) -> None:
        self.name = name
        self._settings = settings
        self._server = JsonEndpoint(f"source {name}", settings.address, _key_header(settings.key_header, key), settings)
        self._model = model
        self._places = asyncio.Semaphore(settings.concurrency)

    @property
    def version(self) -> str:
        """The version that the operator gives it."""
        return self._settings.version

    @property
    def summarizer(self) -> str:
        """The name of the way its pages are summed up."""
        return self._model.name if self._model else str(self._settings.summarizer)

    async def search(self, query: str, top_k: int) -> tuple[SearchHit, ...]:
        """Return the first pages that it names. Raises SourceFailedError when its tries or its seconds are spent."""
        sent = query[:_MOST_QUERY].encode("utf-8", "replace").decode()
        async with self._places:
            try:
                async with asyncio.timeout(self._settings.search_seconds):
                    pages = await self._ask(sent, min(top_k, MAX_HITS))
                    return await self._read_pages(pages) if self._settings.pages else pages
            except TimeoutError as error:
                raise self._server.failed(f"no result within {self._settings.search_seconds:g} s") from error

    async def write(self, query: str, pages: Sequence[SearchHit]) -> str:
        """Return the text that a model is shown.

        Raises SourceFailedError where the model that sums up does not answer.
        """
        if isinstance(self._settings.summarizer, str):
            return await asyncio.to_thread(write_result, query, pages, self._settings.summarizer)
        assert self._model is not None, "settings with a model come with one"
        return await self._model.write(query, pages)

    async def _ask(self, query: str, top_k: int) -> tuple[SearchHit, ...]:
        settings = self._settings
        said = {**settings.fields, settings.query_field: query}
        if settings.top_k_field:
            said[settings.top_k_field] = top_k
        sent: dict[str, Any] = {"params": said} if settings.method == "GET" else {"json": said}
        return self._pages(await self._server.ask(settings.method, **sent), top_k)

    def _pages(self, answer: Any, top_k: int) -> tuple[SearchHit, ...]:
        settings = self._settings
        if settings.status and value_at_path(answer, settings.status) not in (0, None):
            raise self._server.failed(
                f"its answer has `{settings.status}` {str(value_at_path(answer, settings.status))[:100]!r}"
            )
        results = value_at_path(answer, settings.results)
        if not isinstance(results, list):
            raise self._server.failed(f"its answer has no list at `{settings.results}`")
        return tuple(filter(None, map(self._page, results)))[:top_k]

    def _page(self, result: object) -> SearchHit | None:
        settings = self._settings
        title, snippet, link = (_text(result, path) for path in (settings.title, settings.snippet, settings.link))
        text = _text(result, settings.text) if settings.text else ""
        if not (title or snippet or text):
            return None
        link = link[:_MOST_LINK]
        cut = text[: settings.page_characters]
        return SearchHit(link or title[:_MOST_TITLE], title[:_MOST_TITLE], snippet[:_MOST_SNIPPET], link, cut)

    async def _read_pages(self, pages: tuple[SearchHit, ...]) -> tuple[SearchHit, ...]:
        texts = await asyncio.gather(*(self._text_of(page) for page in pages))
        return tuple(replace(page, text=text) for page, text in zip(pages, texts, strict=True))

    async def _text_of(self, page: SearchHit) -> str:
        """Return the text of a page; one that cannot be read has what the source said of it."""
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
            call = await pin_address(parts, allowed=parts.hostname in settings.private_page_hosts)
            async with (
                make_http_client(settings.page_seconds) as asking,
                asking.stream("GET", **call) as response,
            ):
                if response.has_redirect_location:
                    link = str(httpx.URL(link).join(response.headers["Location"]))
                    continue
                kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                if response.status_code != HTTPStatus.OK or kind not in _HTML:
                    raise ValueError(f"answers {response.status_code} with {kind[:100] or 'no type'}")
                if is_compressed(response):
                    raise ValueError("is compressed, which was not asked for")
                body = await read_body(response, settings.page_bytes)
            text = await asyncio.to_thread(plain_text, body[: settings.page_bytes], response.charset_encoding)
            return text[: settings.page_characters]
        raise ValueError(f"leads on more than {_MOST_REDIRECTS} times")


def _text(result: object, path: str) -> str:
    found = value_at_path(result, path)
    # Whatever cannot be written as UTF-8 could not be stored either.
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else ""


def _key_header(name: str, key: str | None) -> dict[str, str]:
    if not key:
        return {}
    return {name: f"Bearer {key}" if name.lower() == "authorization" else key}
