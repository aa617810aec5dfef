"""The client of programs that do other things meanwhile: every method as `Client` has it, to be awaited."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Unpack

import httpx
from httpx_sse import EventSource

from gigavqa import calls, connection, frames
from gigavqa.asking import ImageQuestion, QuestionFile, data_root_error
from gigavqa.calls import AnswerT, ApiCall, JobFilter, ReportFormat, ResultFilter, VerdictFormat
from gigavqa.errors import ProblemError
from gigavqa.retries import (
    PAUSE_SECONDS,
    STREAM_SECONDS,
    EventPosition,
    GatewayState,
    LineSplitter,
    RetryAttempts,
    StreamPosition,
)
from jobs.models import Job, JobSpec, JobSummary, Response, UnreadableResponse
from jobs.worker_registry import WorkerStatus

if TYPE_CHECKING:
    import pandas as pd


class AsyncClient:
    """One gateway; use as an asynchronous context manager. Settings and errors are those of `Client`."""

    def __init__(self, url: str | None = None, api_key: str | None = None, *, patience: float = 60.0) -> None:
        self.url = connection.gateway_url(url)
        self._contact = GatewayState(self.url, patience)
        self._http = httpx.AsyncClient(
            base_url=self.url, timeout=calls.TIMEOUT, headers=connection.request_headers(api_key)
        )

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def submit(self, spec: JobSpec | Mapping[str, Any], idempotency_key: str | None = None) -> Job:
        """As `Client.submit`."""
        return await self._ask(calls.submit(spec, idempotency_key))

    async def submit_once(self, spec: JobSpec | Mapping[str, Any], *, again: bool = False) -> Job:
        """As `Client.submit_once`."""
        job = await self.submit(spec, calls.submission_key(spec, again=again))
        if (step := calls.next_step(job)) == "retry":
            return await self.retry(job.id)
        return await self.submit(spec) if step == "anew" else job

    async def job(self, job_id: str) -> Job:
        """As `Client.job`."""
        return await self._ask(calls.job(job_id))

    async def jobs(self, limit: int | None = 20, **filters: Unpack[JobFilter]) -> list[JobSummary]:
        """As `Client.jobs`."""
        found, after = await self._ask(calls.jobs(None, limit, filters))
        while after and (limit is None or len(found) < limit):
            page, after = await self._ask(calls.jobs(after, None if limit is None else limit - len(found), filters))
            found += page
        return found

    async def cancel(self, job_id: str) -> Job:
        """As `Client.cancel`."""
        return await self._ask(calls.cancel(job_id))

    async def retry(self, job_id: str, *, empty: bool = False) -> Job:
        """As `Client.retry`."""
        return await self._ask(calls.retry(job_id, empty=empty))

    async def delete(self, job_id: str) -> str:
        """As `Client.delete`."""
        return await self._ask(calls.delete(job_id))

    async def tell_end(self, job_id: str, url: str, secret: str) -> None:
        """As `Client.tell_end`."""
        await self._ask(calls.set_webhook(job_id, url, secret))

    async def watch(self, job_id: str) -> AsyncIterator[Job]:
        """As `Client.watch`; `asyncio.timeout` bounds it."""
        watch, attempts = EventPosition(await self.job(job_id)), RetryAttempts(self._contact, STREAM_SECONDS)
        yield watch.job
        while not watch.whole.status.final:
            pause = PAUSE_SECONDS
            try:
                async with self._stream(watch.call()) as answer:
                    async for event in EventSource(answer).aiter_sse():
                        attempts = RetryAttempts(self._contact, STREAM_SECONDS)
                        if job := watch.hear(event):
                            yield job
                # A stream also ends when the gateway stops; only the job says whether it is over.
                watch.whole = await self._send(calls.job(job_id))
                if watch.whole.status.final:
                    yield watch.whole
                    return
            except (httpx.TransportError, ProblemError) as error:
                pause = attempts.pause(error)
            await asyncio.sleep(pause)

    async def wait(self, job_id: str) -> Job:
        """As `Client.wait`; `asyncio.timeout` bounds it."""
        return [job async for job in self.watch(job_id)][-1]

    async def result_lines(
        self,
        job_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        follow: bool = False,
        **filters: Unpack[ResultFilter],
    ) -> AsyncIterator[str]:
        """As `Client.result_lines`."""
        place, attempts = StreamPosition(after, limit), RetryAttempts(self._contact, STREAM_SECONDS)
        while place.left != 0:
            pause = PAUSE_SECONDS
            try:
                async with self._stream(place.call(job_id, follow=follow, filters=filters)) as answer:
                    lines = LineSplitter()
                    async for chunk in answer.aiter_bytes():
                        for line in lines.take(chunk):
                            attempts = RetryAttempts(self._contact, STREAM_SECONDS)
                            place.pass_by(line)
                            yield line
                if not follow or place.left == 0 or (await self._send(calls.job(job_id))).status.final:
                    return
            except (httpx.TransportError, ProblemError) as error:
                pause = attempts.pause(error)
            await asyncio.sleep(pause)

    async def responses(
        self,
        job_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        follow: bool = False,
        **filters: Unpack[ResultFilter],
    ) -> AsyncIterator[Response | UnreadableResponse]:
        """As `Client.responses`."""
        async for line in self.result_lines(job_id, after=after, limit=limit, follow=follow, **filters):
            yield calls.read_line(line)

    async def results(self, job_id: str, **filters: Unpack[ResultFilter]) -> "pd.DataFrame":
        """As `Client.results`."""
        frames.require_pandas()
        return frames.from_responses([one async for one in self.responses(job_id, **filters)])

    async def verdicts(
        self, *job_ids: str, parts: bool = False, texts: bool = False, judges: Sequence[str] = ()
    ) -> "pd.DataFrame":
        """As `Client.verdicts`."""
        frames.require_pandas()
        return frames.from_parquet(
            await self._ask(calls.verdicts(job_ids, "parquet", parts=parts, texts=texts, judges=judges))
        )

    async def verdict_file(
        self,
        job_ids: Sequence[str],
        form: VerdictFormat,
        *,
        parts: bool = False,
        texts: bool = False,
        judges: Sequence[str] = (),
    ) -> AsyncIterator[bytes]:
        """As `Client.verdict_file`."""
        asked = calls.verdicts(job_ids, form, parts=parts, texts=texts, judges=judges)
        with self._contact.reaching():
            async with self._stream(asked) as answer:
                async for chunk in answer.aiter_bytes():
                    yield chunk

    async def report(self, *job_ids: str, form: ReportFormat = "md", judges: Sequence[str] = ()) -> str:
        """As `Client.report`."""
        return await self._ask(calls.report(job_ids, form, judges))

    async def workers(self) -> list[WorkerStatus]:
        """As `Client.workers`."""
        return await self._ask(calls.workers())

    async def models(self) -> list[dict[str, Any]]:
        """As `Client.models`."""
        return await self._ask(calls.list_items("/v1/models"))

    async def datasets(self) -> list[dict[str, Any]]:
        """As `Client.datasets`."""
        return await self._ask(calls.list_items("/v1/datasets"))

    async def has_dataset(self, name: str) -> bool:
        """As `Client.has_dataset`."""
        return any(dataset["name"] == name for dataset in await self.datasets())

    async def ask(self, question: ImageQuestion, *, model: str, again: bool = False) -> Response:
        """As `Client.ask`."""
        job = await self._submit_own(await asyncio.to_thread(question.asked, [model]), again)
        await self.wait(job.id)
        return calls.single_response([read async for read in self.responses(job.id)])

    async def ask_all(self, questions: QuestionFile, *, models: Sequence[str], again: bool = False) -> Job:
        """As `Client.ask_all`."""
        return await self._submit_own(await asyncio.to_thread(questions.asked, models), again)

    async def _submit_own(self, spec: JobSpec, again: bool) -> Job:
        if not await self.has_dataset(spec.dataset):
            raise data_root_error(self.url, spec.dataset)
        return await self.submit_once(spec, again=again)

    async def _ask(self, call: ApiCall[AnswerT]) -> AnswerT:
        attempts = RetryAttempts(self._contact)
        while True:
            try:
                return await self._send(call)
            except (httpx.TransportError, ProblemError) as error:
                pause = attempts.pause(error, repeatable=call.repeatable)
            await asyncio.sleep(pause)

    async def _send(self, call: ApiCall[AnswerT]) -> AnswerT:
        answer = await self._http.request(call.method, call.path, **call.arguments)
        return self._contact.read(call, answer)

    @asynccontextmanager
    async def _stream(self, call: ApiCall[Any]) -> AsyncIterator[httpx.Response]:
        async with self._http.stream(call.method, call.path, **call.arguments) as answer:
            if answer.is_error:
                await answer.aread()
            self._contact.check(answer)
            yield answer
