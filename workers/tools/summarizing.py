"""Summaries of pages by a model elsewhere: of each page, and then one of all that was found."""

import asyncio
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import Field, PositiveFloat, PositiveInt

from gigavqa.retrieval.errors import SourceFailedError
from gigavqa.retrieval.sources import SearchHit, truncate_result
from gigavqa.workers.tools.json_endpoint import EndpointAddress, EndpointLimits, JsonEndpoint, value_at_path

_PROMPT_VERSION = "model/1"
_MOST_QUERY = 4_000
_KEEP = (
    "Write at most five sentences, in general terms, but leave nothing out that answers the query or leads towards its "
    "answer: names, dates, numbers and places stay as they are. Write the summary alone."
)
_PAGE = f"A search for the query below has found the page below it. Sum the page up. {_KEEP}"
_ALL = f"A search for the query below has found the pages below it. Sum up what they say together. {_KEEP}"


class SummarizerSettings(EndpointLimits):
    """A model that sums pages up, behind OpenAI's API; `template` goes to its chat template."""

    model: str = Field(pattern=r"^[!-~]{1,200}$")
    address: EndpointAddress
    key_env: str | None = None

    temperature: float = Field(0.0, ge=0, le=2)
    tokens: PositiveInt = 1024
    template: Mapping[str, str | int | float | bool] = {"enable_thinking": False}

    try_seconds: PositiveFloat = 120.0
    seconds: PositiveFloat = 300.0

    @property
    def endpoint(self) -> str:
        """The endpoint of chat completions; an address without a path gets the one of OpenAI's API."""
        version = "" if urlsplit(self.address).path.strip("/") else "/v1"
        return f"{self.address.rstrip('/')}{version}/chat/completions"


class ModelSummarizer:
    """A model behind OpenAI's API that writes what is shown of pages. Its failures are those of the source."""

    def __init__(self, source: str, settings: SummarizerSettings, key: str | None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._server = JsonEndpoint(f"source {source}: its summarizer", settings.endpoint, headers, settings)
        self._settings = settings
        self._places = asyncio.Semaphore(settings.concurrency)

    @property
    def name(self) -> str:
        """Model, temperature, and the form in which it is asked."""
        return f"{_PROMPT_VERSION}:{self._settings.model}:t{self._settings.temperature:g}"

    async def write(self, query: str, pages: Sequence[SearchHit]) -> str:
        """One summary of the pages, which may be empty. Raises SourceFailedError."""
        if not pages:
            return ""
        asked = query[:_MOST_QUERY].encode("utf-8", "replace").decode()
        try:
            async with asyncio.timeout(self._settings.seconds):
                return truncate_result(await self._of_all(asked, pages, await self._of_each(asked, pages)))
        except TimeoutError as error:
            raise self._server.failed(f"no summary within {self._settings.seconds:g} s") from error

    async def _of_each(self, query: str, pages: Sequence[SearchHit]) -> list[str]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._of_page(query, page)) for page in pages]
        except* SourceFailedError as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _of_page(self, query: str, page: SearchHit) -> str:
        if not page.text:
            return ""
        return await self._ask(f"{_PAGE}\n\nQuery: {query}\n\nTitle: {page.title}\n\n{page.text}")

    async def _of_all(self, query: str, pages: Sequence[SearchHit], summaries: Sequence[str]) -> str:
        told = (
            "\n".join(filter(None, [page.title, page.snippet, page.link, summary]))
            for page, summary in zip(pages, summaries, strict=True)
        )
        return await self._ask(f"{_ALL}\n\nQuery: {query}\n\n" + "\n\n".join(told))

    async def _ask(self, text: str) -> str:
        settings = self._settings
        body = {
            "model": settings.model,
            "messages": [{"role": "user", "content": text}],
            "temperature": settings.temperature,
            "max_tokens": settings.tokens,
        }
        if settings.template:
            body["chat_template_kwargs"] = settings.template
        async with self._places:
            answer = await self._server.ask("POST", json=body)
        choice = value_at_path(answer, "choices.0.message")
        if not isinstance(choice, Mapping):
            raise self._server.failed("its answer has no message at `choices.0.message`")
        return _without_thought(str(choice.get("content") or ""))


def _without_thought(text: str) -> str:
    """Return what stands behind a thought, for models that think although they were asked not to.

    Nothing of an open one.
    """
    _, closed, behind = text.rpartition("</think>")
    said = behind if closed else "" if "<think>" in text else text
    return said.encode("utf-8", "replace").decode().strip()
