"""Carries calls to the service and brings back what came of them: few as chats, many as batches.

A chat goes before all batches and its answer is there at once; but many of them push aside whoever waits, and what is
under way when the build dies is asked again. A batch waits behind everybody, shares pictures and prefixes by bundles,
and is played to its end whether or not anybody looks: its id is recorded, so that nothing of it is asked twice. It
costs an upload and some polls, and its answers come all together. So MOST_CHATS divides them (decision 22).
"""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.client.asynchronous import AsyncClient
from gigavqa.client.errors import GatewayUnreachableError, KeyRefusedError, NotFoundError, ProblemError
from gigavqa.construction.calls.call_log import CallLog, OpenBatch, RecordedReply, ReplyUsage, RequestFailure
from gigavqa.construction.calls.errors import BatchRefusedError
from gigavqa.construction.calls.estimates import EntryOf, size_of
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.calls.pictures import PictureAddresses
from gigavqa.runtime.work_progress import report_progress

MOST_CHATS = 32
"""Calls that are asked as chats; more are a batch."""

CONCURRENT_CHATS = 8

_BATCH_FILE_SECONDS = 2 * 24 * 3600
_RECORDED_AT_A_TIME = 64
_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.05, 5.0, 1.5
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
_PASSING_STATUSES = frozenset({408, 409, 425, 429})
_SERVER_ERROR = 500
_LONGEST_MESSAGE = 500


class Delivery:
    """Carries calls of one model at a time, and records each result before it is told of."""

    def __init__(self, client: AsyncClient, addresses: PictureAddresses, entry_of: EntryOf) -> None:
        self._client = client
        self._addresses = addresses
        self._entry_of = entry_of

    async def deliver(self, log: CallLog, calls: Sequence[ModelCall]) -> None:
        """Ask calls of one model, and record what comes of them.

        Raises GatewayUnreachableError, KeyRefusedError and BatchRefusedError; what is recorded by then stays.
        """
        log.add_calls(calls)
        bodies = {call.id: call.body(await self._addresses.of(self._client, call)) for call in calls}
        costs = {call.id: self._most_dollars(call) for call in calls}
        if len(calls) <= MOST_CHATS:
            await self._chat(log, bodies, costs)
            return
        token = secrets.token_hex(8)
        log.ask(costs, batch=token)
        opened = OpenBatch(token, calls[0].model, tuple(bodies))
        opened.id = await self._send(opened, bodies)
        log.name_batch(token, opened.id)
        await self._collect(log, opened)

    async def take_up(self, log: CallLog) -> None:
        """Wait for batches that an earlier run sent, and record their answers; one that never arrived is closed."""
        for opened in log.open_batches:
            if opened.id is None:
                opened.id = await self._find(opened.token)
                if opened.id is None:
                    log.add_results(RequestFailure(call, "it was never sent", retryable=True) for call in opened.calls)
                    log.end(opened.model, 0, 0.0, batch=opened.token)
                    continue
                log.name_batch(opened.token, opened.id)
            await self._collect(log, opened)

    async def _chat(self, log: CallLog, bodies: Mapping[str, Any], costs: Mapping[str, float]) -> None:
        places, began = asyncio.Semaphore(CONCURRENT_CHATS), time.monotonic()

        async def ask(call: str) -> None:
            async with places:
                log.ask({call: costs[call]})
                log.add_results([await self._answer(call, bodies[call])])
                report_progress("calls answered", 1)

        try:
            async with asyncio.TaskGroup() as group:
                for call in bodies:
                    group.create_task(ask(call))
        except* (GatewayUnreachableError, KeyRefusedError) as errors:
            raise errors.exceptions[0] from None
        log.end(next(iter(bodies.values()))["model"], len(bodies), time.monotonic() - began)

    async def _answer(self, call: str, body: Mapping[str, Any]) -> RecordedReply | RequestFailure:
        try:
            return self._reply(call, body["model"], await self._client.chat(body))
        except KeyRefusedError:
            raise
        except ProblemError as error:
            return _failure(call, error.status, str(error))
        except GatewayUnreachableError as error:
            if isinstance(error.__cause__, httpx.ReadTimeout):
                return RequestFailure(call, "no answer came in time", retryable=True)
            raise

    async def _send(self, opened: OpenBatch, bodies: Mapping[str, Any]) -> str:
        """Start a batch; returns its id. Its token is in its metadata, so that it is found without the answer."""
        lines = (
            {"custom_id": call, "method": "POST", "url": "/v1/chat/completions", "body": body}
            for call, body in bodies.items()
        )
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        name = f"calls-{opened.token}.jsonl"
        file = await self._client.upload(content, purpose="batch", filename=name, keep_seconds=_BATCH_FILE_SECONDS)
        return str((await self._client.start_batch(str(file["id"]), {"calls": opened.token}))["id"])

    async def _find(self, token: str) -> str | None:
        """Return the id of a batch whose start was never heard of."""
        async for batch in self._client.batches():
            if (batch.get("metadata") or {}).get("calls") == token:
                return str(batch["id"])
        return None

    async def _collect(self, log: CallLog, opened: OpenBatch) -> None:
        began, waiting = time.monotonic(), set(opened.calls)
        batch = await self._ended(str(opened.id))
        block: list[RecordedReply | RequestFailure] = []
        async for result in self._results(batch, opened.model):
            if result.call in waiting:
                waiting.remove(result.call)
                block.append(result)
            if len(block) >= _RECORDED_AT_A_TIME:
                log.add_results(block)
                block = []
        why = "the gateway has no such batch any more" if batch is None else "its batch has no line for it"
        told = (batch or {}).get("errors") or {"data": []}
        refused = "; ".join(str(fault["message"]) for fault in told["data"][:3])
        log.add_results([*block, *(RequestFailure(call, refused or why, retryable=True) for call in sorted(waiting))])
        log.end(opened.model, len(opened.calls), _seconds_of(batch, time.monotonic() - began), batch=opened.token)
        if batch and batch["status"] == "failed":
            raise BatchRefusedError(f"the gateway refused {len(opened.calls)} calls: {refused[:_LONGEST_MESSAGE]}")

    async def _ended(self, batch_id: str) -> dict[str, Any] | None:
        """Wait for the end of a batch; None where the gateway knows of none."""
        pause, told = _FIRST_PAUSE, 0
        while True:
            try:
                batch = await self._client.batch(batch_id)
            except NotFoundError:
                return None
            if (done := sum(batch["request_counts"][name] for name in ("completed", "failed"))) > told:
                report_progress("calls answered", done - told)
                told = done
            if batch["status"] in _FINAL:
                return batch
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * _GROWTH)

    async def _results(
        self, batch: Mapping[str, Any] | None, model: str
    ) -> AsyncIterator[RecordedReply | RequestFailure]:
        if batch is None:
            return
        for name in ("output_file_id", "error_file_id"):
            if file := batch.get(name):
                async for text in self._client.file_lines(file):
                    yield self._result(json.loads(text), model)

    def _result(self, line: Mapping[str, Any], model: str) -> RecordedReply | RequestFailure:
        call, response = line["custom_id"], line["response"]
        if response is None:
            return RequestFailure(call, str(line["error"]["message"])[:_LONGEST_MESSAGE], retryable=True)
        if "choices" not in response["body"]:
            return _failure(call, response["status_code"], response["body"]["error"]["message"])
        return self._reply(call, model, response["body"])

    def _reply(self, call: str, model: str, completion: Mapping[str, Any]) -> RecordedReply:
        choice, usage = completion["choices"][0], completion["usage"]
        prompt, written = usage["prompt_tokens"], usage["completion_tokens"]
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        prices = self._entry_of(model).remote.prices
        dollars = prices.of(prompt, cached, written) if prices else None
        return RecordedReply(
            call,
            choice["message"]["content"] or "",
            choice["finish_reason"],
            ReplyUsage(prompt, cached, written, dollars),
            completion.get("system_fingerprint") or "",
        )

    def _most_dollars(self, call: ModelCall) -> float:
        entry: CatalogueEntry = self._entry_of(call.model)
        return size_of(call, entry).dollars_at_most(entry) if entry.remote.prices else 0.0


def _failure(call: str, status: int, message: str) -> RequestFailure:
    passing = status >= _SERVER_ERROR or status in _PASSING_STATUSES
    return RequestFailure(call, message[:_LONGEST_MESSAGE], retryable=passing)


def _seconds_of(batch: Mapping[str, Any] | None, waited: float) -> float:
    """Return how long a batch was played, which goes on while nobody waits."""
    if not batch or not batch.get("in_progress_at"):
        return waited
    ended = batch.get("completed_at") or batch.get("finalizing_at")
    return max(waited, float(ended - batch["in_progress_at"])) if ended else waited
