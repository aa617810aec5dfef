"""The client of programs that do other things meanwhile: every method as `Client` has it, to be awaited.

scripts/sync_client.py makes client.py of it; there, what comments with `# sync:` hold stands instead of the statement
before them.
"""
# sync: """The client of programs that wait: every method returns when the gateway has answered."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import httpx
from httpx_sse import EventSource

from gigavqa.client import calls, connection, data_frames
from gigavqa.client.asking import ImageQuestion, QuestionFile, data_root_error
from gigavqa.client.calls import AnswerT, ApiCall, FilePurpose, JobFilter, ReportFormat, ResultFilter, VerdictFormat
from gigavqa.client.errors import ProblemError
from gigavqa.client.retries import (
    PAUSE_SECONDS,
    STREAM_SECONDS,
    EventPosition,
    GatewayState,
    LineSplitter,
    RetryAttempts,
    StreamPosition,
)
from gigavqa.contract.jobs import Job, JobSpec, JobSummary
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.store.worker_registry import WorkerStatus

if TYPE_CHECKING:
    import pandas as pd


class AsyncClient:
    """One gateway; use as an asynchronous context manager. Settings and errors are those of `Client`."""

    # sync: """One gateway; use as a context manager. Every method raises GatewayUnreachableError and ProblemError.
    # sync:
    # sync: `url` is GIGAVQA_URL if omitted, and `api_key` GIGAVQA_API_KEY. What was refused for now, or got lost, is asked
    # sync: again for up to `patience` seconds, when the gateway says so where it does; streams go on where they broke off.
    # sync: """

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
        # sync: """Submit a job: a JobSpec, or its fields; the same key with the same job returns the first one."""
        return await self._ask(calls.submit(spec, idempotency_key))

    async def submit_once(self, spec: JobSpec | Mapping[str, Any], *, again: bool = False) -> Job:
        """As `Client.submit_once`."""
        # sync: """Return the job that asked just this within the last day, taken up where it was left, or a new one.
        # sync:
        # sync: One that was cancelled goes on, and one that failed as a whole is submitted anew, as every one is with `again`.
        # sync: """
        job = await self.submit(spec, calls.submission_key(spec, again=again))
        if (step := calls.next_step(job)) == "retry":
            return await self.retry(job.id)
        return await self.submit(spec) if step == "anew" else job

    async def job(self, job_id: str) -> Job:
        """As `Client.job`."""
        # sync: """One job as it is now."""
        return await self._ask(calls.job(job_id))

    async def jobs(self, limit: int | None = 20, **filters: Unpack[JobFilter]) -> list[JobSummary]:
        """As `Client.jobs`."""
        # sync: """Return the newest jobs first, at most `limit`, or all."""
        found, after = await self._ask(calls.jobs(None, limit, filters))
        while after and (limit is None or len(found) < limit):
            page, after = await self._ask(calls.jobs(after, None if limit is None else limit - len(found), filters))
            found += page
        return found

    async def cancel(self, job_id: str) -> Job:
        """As `Client.cancel`."""
        # sync: """Stop a job: what waits is dropped, what is recorded stays."""
        return await self._ask(calls.cancel(job_id))

    async def retry(self, job_id: str, *, empty: bool = False) -> Job:
        """As `Client.retry`."""
        # sync: """Ask again what is not answered of a job that has ended.
        # sync:
        # sync: With `empty`, also replies that are empty with no token written, or that their engine broke off.
        # sync: """
        return await self._ask(calls.retry(job_id, empty=empty))

    async def delete(self, job_id: str) -> str:
        """As `Client.delete`."""
        # sync: """Delete a job that has ended, with its responses; returns its id."""
        return await self._ask(calls.delete(job_id))

    async def tell_end(self, job_id: str, url: str, secret: str) -> None:
        """As `Client.tell_end`."""
        # sync: """Have the gateway post to an address when the job has ended, signed with the secret (`whsec_...`)."""
        await self._ask(calls.set_webhook(job_id, url, secret))

    async def watch(self, job_id: str) -> AsyncIterator[Job]:
        # sync: def watch(self, job_id: str, timeout: float | None = None) -> Iterator[Job]:
        """As `Client.watch`; `asyncio.timeout` bounds it."""
        # sync: """Yield the job now, whenever it gets on, and as it ended; raises TimeoutError after `timeout` seconds.
        # sync:
        # sync: A silent job ends a wait up to 15 s late: so often the gateway shows that it lives.
        # sync: """
        watch, attempts = EventPosition(await self.job(job_id)), RetryAttempts(self._contact, STREAM_SECONDS)
        # sync: watch, attempts = EventPosition(self.job(job_id), timeout), RetryAttempts(self._contact, STREAM_SECONDS)
        yield watch.job
        while not watch.whole.status.final:
            pause = PAUSE_SECONDS
            try:
                async with self._stream(watch.call()) as answer:
                    async for event in EventSource(answer).aiter_sse():
                        attempts = RetryAttempts(self._contact, STREAM_SECONDS)
                        if job := watch.hear(event):
                            yield job
                        if watch.over:
                            break
                # A stream also ends when the gateway stops; only the job says whether it is over.
                watch.whole = await self._send(calls.job(job_id))
                if watch.whole.status.final:
                    yield watch.whole
                    return
            except (httpx.TransportError, ProblemError) as error:
                pause = 0.0 if watch.over else attempts.pause(error)
            await asyncio.sleep(pause)

    async def wait(self, job_id: str) -> Job:
        # sync: def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """As `Client.wait`; `asyncio.timeout` bounds it."""
        # sync: """Wait until a job ends, and return it as it ended; raises TimeoutError after `timeout` seconds, as `watch`."""
        return [job async for job in self.watch(job_id)][-1]
        # sync: *_, job = self.watch(job_id, timeout)
        # sync: return job

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
        # sync: """Yield raw responses as lines of JSON, in the order of recording; `follow` waits for more until the job ends.
        # sync:
        # sync: Each has the `cursor` to go on behind it as `after`. A stream that breaks off is taken up there by itself.
        # sync: """
        place, attempts = StreamPosition(after, limit), RetryAttempts(self._contact)
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
        # sync: """As `result_lines`, each as an object; an UnreadableResponse stands for one that cannot be read now."""
        async for line in self.result_lines(job_id, after=after, limit=limit, follow=follow, **filters):
            yield calls.read_line(line)
        # sync: return map(calls.read_line, self.result_lines(job_id, after=after, limit=limit, follow=follow, **filters))

    async def results(self, job_id: str, **filters: Unpack[ResultFilter]) -> "pd.DataFrame":
        """As `Client.results`."""
        # sync: """Return what is recorded so far, one row a response; raises PackageMissingError without pandas."""
        data_frames.require_pandas()
        return data_frames.from_responses([one async for one in self.responses(job_id, **filters)])
        # sync: return data_frames.from_responses(self.responses(job_id, **filters))

    async def verdicts(
        self, *job_ids: str, parts: bool = False, texts: bool = False, judges: Sequence[str] = ()
    ) -> "pd.DataFrame":
        """As `Client.verdicts`."""
        # sync: """Return the verdicts on jobs of one data set, one row a response or a judged part.
        # sync:
        # sync: Raises PackageMissingError without pandas.
        # sync: """
        data_frames.require_pandas()
        return data_frames.from_parquet(
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
        # sync: """Yield the same as a file (csv, jsonl, parquet), as the gateway sends it.
        # sync:
        # sync: One that breaks off is not taken up.
        # sync: """
        asked = calls.verdicts(job_ids, form, parts=parts, texts=texts, judges=judges)
        with self._contact.reaching():
            async with self._stream(asked) as answer:
                async for chunk in answer.aiter_bytes():
                    yield chunk
        # sync: with self._contact.reaching(), self._stream(asked) as answer:
        # sync:     yield from answer.iter_bytes()

    async def report(
        self, *job_ids: str, form: ReportFormat = "md", judges: Sequence[str] = (), by_job: bool = False
    ) -> str:
        """As `Client.report`."""
        # sync: """One report over jobs of one data set: Markdown, json, csv, tex, or html, a page that needs nothing else.
        # sync:
        # sync: `judges` are jobs whose models judge the answers; scores are by the first one. What several jobs ask one
        # sync: model alike counts as repeats, and stands apart with `by_job`.
        # sync: """
        return await self._ask(calls.report(job_ids, form, judges, by_job=by_job))

    async def workers(self) -> list[WorkerStatus]:
        """As `Client.workers`."""
        # sync: """Return the workers that announce themselves."""
        return await self._ask(calls.workers())

    async def models(self) -> list[dict[str, Any]]:
        """As `Client.models`."""
        # sync: """Return the models of the catalogue, with visual budgets and workers."""
        return await self._ask(calls.list_items("/v1/models"))

    async def datasets(self) -> list[dict[str, Any]]:
        """As `Client.datasets`."""
        # sync: """Return the data sets of the gateway's data root, by name."""
        return await self._ask(calls.list_items("/v1/datasets"))

    async def has_dataset(self, name: str) -> bool:
        """As `Client.has_dataset`."""
        # sync: """Return whether the gateway's data root has a data set of this name."""
        return any(dataset["name"] == name for dataset in await self.datasets())

    async def reviews(self, dataset: str) -> dict[str, Any]:
        """As `Client.reviews`."""
        # sync: """Return how far people's review of a data set is: states, reviewers, and how far they agree."""
        return await self._ask(calls.reviews(dataset))

    async def samples_to_review(
        self, dataset: str, state: str = "unreviewed", *, after: str | None = None, limit: int = 1
    ) -> list[dict[str, Any]]:
        """As `Client.samples_to_review`."""
        # sync: """Return samples without their truth, each with the digest that a verdict names, behind sample `after`.
        # sync:
        # sync: `state` is `unreviewed` by the key's owner, `all`, or what became of them: `conflict`, `drop`, `mend`, `keep`.
        # sync: """
        return await self._ask(calls.samples_to_review(dataset, state, after, limit))

    async def review(self, dataset: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """As `Client.review`."""
        # sync: """Write a verdict on a sample in the name of the key's owner; returns its line, which is on the disk then.
        # sync:
        # sync: `sample`, `digest` and `verdict` are needed (`keep`, `mend` with `fields`, `drop` with a `reason`, `undo`).
        # sync: """
        return await self._ask(calls.review(dataset, entry))

    async def ask(self, question: ImageQuestion, *, model: str, again: bool = False) -> Response:
        """As `Client.ask`."""
        # sync: """Ask one question about a picture of this machine, and wait for the response.
        # sync:
        # sync: Gateway and workers read the picture where it lies, however large it is; they must share this machine's data
        # sync: root. What was asked just so within the last day is answered from what is recorded, unless `again`. Raises
        # sync: QuestionsError.
        # sync: """
        job = await self._submit_own(await asyncio.to_thread(question.asked, [model]), again)
        # sync: job = self._submit_own(question.asked([model]), again)
        await self.wait(job.id)
        return calls.single_response([read async for read in self.responses(job.id)])
        # sync: return calls.single_response(list(self.responses(job.id)))

    async def ask_all(self, questions: QuestionFile, *, models: Sequence[str], again: bool = False) -> Job:
        """As `Client.ask_all`."""
        # sync: """Return the job that asks a file of questions about pictures of this machine, as `ask` does.
        # sync:
        # sync: Taken up, or new.
        # sync: """
        return await self._submit_own(await asyncio.to_thread(questions.asked, models), again)
        # sync: return self._submit_own(questions.asked(models), again)

    async def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """As `Client.chat`."""
        # sync: """Return the completion of a chat: fields of OpenAI's API. One whose answer got lost is not asked again."""
        return await self._ask(calls.chat(body))

    async def upload(
        self, content: Path | bytes, *, purpose: FilePurpose, filename: str = "", keep_seconds: int | None = None
    ) -> dict[str, Any]:
        """As `Client.upload`."""
        # sync: """Keep a file at the gateway, a picture (`vision`) or the requests of a `batch`, for so long; else for ever."""
        if isinstance(content, bytes):
            return await self._ask(calls.upload(content, filename or "upload", purpose, keep_seconds))
        with content.open("rb") as file:
            return await self._ask(calls.upload(file, filename or content.name, purpose, keep_seconds))

    async def file(self, file_id: str) -> dict[str, Any]:
        """As `Client.file`."""
        # sync: """What is known of a file at the gateway."""
        return await self._ask(calls.file(file_id))

    async def delete_file(self, file_id: str) -> None:
        """As `Client.delete_file`."""
        # sync: """Delete a file at the gateway."""
        await self._ask(calls.delete_file(file_id))

    async def file_lines(self, file_id: str) -> AsyncIterator[str]:
        """As `Client.file_lines`."""
        # sync: """Yield the lines of a file at the gateway, without empty ones; one that breaks off is not taken up."""
        lines = LineSplitter()
        with self._contact.reaching():
            async with self._stream(calls.file_content(file_id)) as answer:
                async for chunk in answer.aiter_bytes():
                    for line in lines.take(chunk):
                        yield line
        # sync: with self._contact.reaching(), self._stream(calls.file_content(file_id)) as answer:
        # sync:     for chunk in answer.iter_bytes():
        # sync:         yield from lines.take(chunk)

    async def start_batch(self, file_id: str, metadata: Mapping[str, str] | None = None) -> dict[str, Any]:
        """As `Client.start_batch`."""
        # sync: """Have the chats of an uploaded file played behind what people wait for; returns OpenAI's object."""
        return await self._ask(calls.start_batch(file_id, metadata or {}))

    async def batch(self, batch_id: str) -> dict[str, Any]:
        """As `Client.batch`."""
        # sync: """One batch as it is now."""
        return await self._ask(calls.batch(batch_id))

    async def batches(self) -> AsyncIterator[dict[str, Any]]:
        """As `Client.batches`."""
        # sync: """Yield the batches, newest first."""
        found, after = await self._ask(calls.batches(None))
        while found:
            for one in found:
                yield one
            # sync: yield from found
            found, after = await self._ask(calls.batches(after)) if after else ([], None)

    async def cancel_batch(self, batch_id: str) -> dict[str, Any]:
        """As `Client.cancel_batch`."""
        # sync: """Play no more of a batch; what was answered by then is in its files."""
        return await self._ask(calls.cancel_batch(batch_id))

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
