"""The service that is measured: asks it one chat, reads the stream of the answer, and names what goes wrong."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from gigavqa.load.errors import LoadSettingsError, ServiceRefusedError
from gigavqa.load.exchange import Exchange
from gigavqa.runtime.suggestions import did_you_mean

Messages = Sequence[Mapping[str, Any]]
"""The messages of a chat, as OpenAI's API takes them."""

_LONGEST_EVENT = 2**22
_LONGEST_ERROR = 2**16
_TOLD = 300  # characters of what a service says of an error
_TEXTS = ("content", "reasoning_content", "reasoning")


def chat_address(url: str) -> str:
    """Return where chats are asked: below `/v1` where the address has no path, else below its path."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise LoadSettingsError(f"'{url}' is no address such as http://127.0.0.1:8000 or https://host/v1")
    path = parts.path.rstrip("/") or "/v1"
    return parts._replace(path=path.removesuffix("/chat/completions")).geturl()


class MeasuredService:
    """Asks chats of one model; `fields` go into every body."""

    def __init__(
        self, client: httpx.AsyncClient, address: str, model: str, fields: Mapping[str, Any], patience: float
    ) -> None:
        self._client = client
        self._address = address
        self._body = {"model": model, "stream": True, **fields}
        self._patience = patience
        self.usage_refused = False
        """Whether the service takes no `stream_options`, so that it is never asked for its counts of tokens."""

    async def check(self, messages: Messages) -> None:
        """Ask one chat before all others, which is not measured.

        Find out whether the service sends its counts of tokens when it is asked for them. Raises ServiceRefusedError.
        """
        exchange = await self.ask(messages)
        if exchange.fault in {"status 400", "status 422"} and "stream_options" in exchange.told:
            self.usage_refused = True
            exchange = await self.ask(messages)
        if exchange.fault:
            told = f" ({exchange.told})" if exchange.told else ""
            raise ServiceRefusedError(
                f"{self._address} did not answer the request before all others: {exchange.fault}{told}"
                f"{'' if 'did you mean' in told else await self._describe_models()}"
            )

    async def ask(self, messages: Messages) -> Exchange:
        """Ask one chat, and return what came of it; raises nothing but CancelledError."""
        body = {**self._body, "messages": messages}
        if not self.usage_refused:
            body["stream_options"] = {"include_usage": True}
        content = json.dumps(body).encode()  # before the clock starts: pictures are megabytes
        exchange = Exchange(time.monotonic())
        try:
            async with asyncio.timeout(self._patience):
                await self._exchange(content, exchange)
        except TimeoutError:
            exchange.fault = "timeout"
            exchange.told = f"no end within {self._patience:g} s"
        exchange.ended = time.monotonic()
        return exchange

    async def _exchange(self, content: bytes, exchange: Exchange) -> None:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        has_answered = False
        try:
            async with self._client.stream(
                "POST", f"{self._address}/chat/completions", content=content, headers=headers
            ) as response:
                has_answered = True
                if response.status_code != httpx.codes.OK:
                    exchange.fault = f"status {response.status_code}"
                    exchange.told = await _read_error(response)
                elif not response.headers.get("content-type", "").startswith("text/event-stream"):
                    exchange.fault, exchange.told = "no stream", "the answer came whole, and not as a stream of events"
                else:
                    await _read_stream(response, exchange)
        except httpx.TimeoutException:
            exchange.fault, exchange.told = "timeout", "no connection in time"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            exchange.fault = "broken stream" if has_answered else "connection"
            exchange.told = str(error)[:_TOLD] or type(error).__name__

    async def _describe_models(self) -> str:
        """Return which models the service has, where another one is asked; nothing where it does not say."""
        try:
            listed = (await self._client.get(f"{self._address}/models", timeout=10.0)).raise_for_status().json()
            names = [str(card["id"]) for card in listed["data"]]
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
            return ""
        model = str(self._body["model"])
        if model in names or not names:
            return ""
        return did_you_mean(model, names) or f"; it lists {', '.join(names[:8])}"


async def _read_stream(response: httpx.Response, exchange: Exchange) -> None:
    """Take the events of an answer to its end."""
    has_ended = False
    async for data in _events(response):
        moment = time.monotonic()
        if data == b"[DONE]":
            has_ended = True
            break
        try:
            chunk = json.loads(data)
            if chunk.get("error"):
                exchange.fault, exchange.told = "error in the stream", _message(chunk)
                return
            has_ended |= _take_chunk(chunk, exchange, moment)
        except (ValueError, AttributeError, TypeError, KeyError):
            exchange.fault, exchange.told = "broken stream", f"an event is no chunk of an answer: {data[:80]!r}"
            return
    if not has_ended:
        exchange.fault, exchange.told = "broken stream", "it ended without `finish_reason` and `[DONE]`"
    elif exchange.first is None:
        exchange.fault, exchange.told = "no text", "the answer ended without any text"


def _take_chunk(chunk: Mapping[str, Any], exchange: Exchange, moment: float) -> bool:
    """Take one chunk; returns whether the answer says that it is complete."""
    if usage := chunk.get("usage"):
        exchange.tokens_in, exchange.tokens_out = usage.get("prompt_tokens"), usage.get("completion_tokens")
    choices = chunk.get("choices") or ()
    delta = (choices[0].get("delta") or {}) if choices else {}
    if any(delta.get(name) for name in _TEXTS):
        exchange.take_text(moment)
    return any(choice.get("finish_reason") for choice in choices)


async def _events(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the data of each event; each stands on one line. Raises httpx.DecodingError for one without an end."""
    rest = b""
    async for piece in response.aiter_bytes():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
        if len(rest) > _LONGEST_EVENT:
            raise httpx.DecodingError(f"an event is longer than {_LONGEST_EVENT} bytes")
    if rest.startswith(b"data:"):
        yield rest[5:].strip()


async def _read_error(response: httpx.Response) -> str:
    """Return what a service says beside a status that is no success."""
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _LONGEST_ERROR:
            break
    try:
        return _message(json.loads(body))
    except ValueError:
        return body.decode("utf-8", "replace").strip()[:_TOLD]


def _message(said: Any) -> str:
    """Return the sentence of an error object, of any of the shapes that services give it."""
    error = said.get("error", said) if isinstance(said, dict) else said
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return " ".join(str(error).split())[:_TOLD]
