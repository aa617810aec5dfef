# Made of gigavqa/client/asynchronous.py: change that file, and run .venv/bin/python scripts/sync_client.py
"""The client of programs that wait: every method returns when the gateway has answered."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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


class Client:
    """One gateway; use as a context manager. Every method raises GatewayUnreachableError and ProblemError.

    `url` is GIGAVQA_URL if omitted, and `api_key` GIGAVQA_API_KEY. What was refused for now, or got lost, is asked
    again for up to `patience` seconds, when the gateway says so where it does; streams go on where they broke off.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None, *, patience: float = 60.0) -> None:
        self.url = connection.gateway_url(url)
        self._contact = GatewayState(self.url, patience)
        self._http = httpx.Client(base_url=self.url, timeout=calls.TIMEOUT, headers=connection.request_headers(api_key))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def submit(self, spec: JobSpec | Mapping[str, Any], idempotency_key: str | None = None) -> Job:
        """Submit a job: a JobSpec, or its fields; the same key with the same job returns the first one."""
        return self._ask(calls.submit(spec, idempotency_key))

    def submit_once(self, spec: JobSpec | Mapping[str, Any], *, again: bool = False) -> Job:
        """Return the job that asked just this within the last day, taken up where it was left, or a new one.

        One that was cancelled goes on, and one that failed as a whole is submitted anew, as every one is with `again`.
        """
        job = self.submit(spec, calls.submission_key(spec, again=again))
        if (step := calls.next_step(job)) == "retry":
            return self.retry(job.id)
        return self.submit(spec) if step == "anew" else job

    def job(self, job_id: str) -> Job:
        """One job as it is now."""
        return self._ask(calls.job(job_id))

    def jobs(self, limit: int | None = 20, **filters: Unpack[JobFilter]) -> list[JobSummary]:
        """Return the newest jobs first, at most `limit`, or all."""
        found, after = self._ask(calls.jobs(None, limit, filters))
        while after and (limit is None or len(found) < limit):
            page, after = self._ask(calls.jobs(after, None if limit is None else limit - len(found), filters))
            found += page
        return found

    def cancel(self, job_id: str) -> Job:
        """Stop a job: what waits is dropped, what is recorded stays."""
        return self._ask(calls.cancel(job_id))

    def retry(self, job_id: str, *, empty: bool = False) -> Job:
        """Ask again what is not answered of a job that has ended.

        With `empty`, also replies that are empty with no token written, or that their engine broke off.
        """
        return self._ask(calls.retry(job_id, empty=empty))

    def delete(self, job_id: str) -> str:
        """Delete a job that has ended, with its responses; returns its id."""
        return self._ask(calls.delete(job_id))

    def tell_end(self, job_id: str, url: str, secret: str) -> None:
        """Have the gateway post to an address when the job has ended, signed with the secret (`whsec_...`)."""
        self._ask(calls.set_webhook(job_id, url, secret))

    def watch(self, job_id: str, timeout: float | None = None) -> Iterator[Job]:
        """Yield the job now, whenever it gets on, and as it ended; raises TimeoutError after `timeout` seconds.

        A silent job ends a wait up to 15 s late: so often the gateway shows that it lives.
        """
        watch, attempts = EventPosition(self.job(job_id), timeout), RetryAttempts(self._contact, STREAM_SECONDS)
        yield watch.job
        while not watch.whole.status.final:
            pause = PAUSE_SECONDS
            try:
                with self._stream(watch.call()) as answer:
                    for event in EventSource(answer).iter_sse():
                        attempts = RetryAttempts(self._contact, STREAM_SECONDS)
                        if job := watch.hear(event):
                            yield job
                        if watch.over:
                            break
                # A stream also ends when the gateway stops; only the job says whether it is over.
                watch.whole = self._send(calls.job(job_id))
                if watch.whole.status.final:
                    yield watch.whole
                    return
            except (httpx.TransportError, ProblemError) as error:
                pause = 0.0 if watch.over else attempts.pause(error)
            time.sleep(pause)

    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """Wait until a job ends, and return it as it ended; raises TimeoutError after `timeout` seconds, as `watch`."""
        *_, job = self.watch(job_id, timeout)
        return job

    def result_lines(
        self,
        job_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        follow: bool = False,
        **filters: Unpack[ResultFilter],
    ) -> Iterator[str]:
        """Yield raw responses as lines of JSON, in the order of recording; `follow` waits for more until the job ends.

        Each has the `cursor` to go on behind it as `after`. A stream that breaks off is taken up there by itself.
        """
        place, attempts = StreamPosition(after, limit), RetryAttempts(self._contact)
        while place.left != 0:
            pause = PAUSE_SECONDS
            try:
                with self._stream(place.call(job_id, follow=follow, filters=filters)) as answer:
                    lines = LineSplitter()
                    for chunk in answer.iter_bytes():
                        for line in lines.take(chunk):
                            attempts = RetryAttempts(self._contact, STREAM_SECONDS)
                            place.pass_by(line)
                            yield line
                if not follow or place.left == 0 or (self._send(calls.job(job_id))).status.final:
                    return
            except (httpx.TransportError, ProblemError) as error:
                pause = attempts.pause(error)
            time.sleep(pause)

    def responses(
        self,
        job_id: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        follow: bool = False,
        **filters: Unpack[ResultFilter],
    ) -> Iterator[Response | UnreadableResponse]:
        """As `result_lines`, each as an object; an UnreadableResponse stands for one that cannot be read now."""
        return map(calls.read_line, self.result_lines(job_id, after=after, limit=limit, follow=follow, **filters))

    def results(self, job_id: str, **filters: Unpack[ResultFilter]) -> "pd.DataFrame":
        """Return what is recorded so far, one row a response; raises PackageMissingError without pandas."""
        data_frames.require_pandas()
        return data_frames.from_responses(self.responses(job_id, **filters))

    def verdicts(
        self, *job_ids: str, parts: bool = False, texts: bool = False, judges: Sequence[str] = ()
    ) -> "pd.DataFrame":
        """Return the verdicts on jobs of one data set, one row a response or a judged part.

        Raises PackageMissingError without pandas.
        """
        data_frames.require_pandas()
        return data_frames.from_parquet(
            self._ask(calls.verdicts(job_ids, "parquet", parts=parts, texts=texts, judges=judges))
        )

    def verdict_file(
        self,
        job_ids: Sequence[str],
        form: VerdictFormat,
        *,
        parts: bool = False,
        texts: bool = False,
        judges: Sequence[str] = (),
    ) -> Iterator[bytes]:
        """Yield the same as a file (csv, jsonl, parquet), as the gateway sends it.

        One that breaks off is not taken up.
        """
        asked = calls.verdicts(job_ids, form, parts=parts, texts=texts, judges=judges)
        with self._contact.reaching(), self._stream(asked) as answer:
            yield from answer.iter_bytes()

    def report(self, *job_ids: str, form: ReportFormat = "md", judges: Sequence[str] = (), by_job: bool = False) -> str:
        """One report over jobs of one data set: Markdown, json, csv, tex, or html, a page that needs nothing else.

        `judges` are jobs whose models judge the answers; scores are by the first one. What several jobs ask one
        model alike counts as repeats, and stands apart with `by_job`.
        """
        return self._ask(calls.report(job_ids, form, judges, by_job=by_job))

    def workers(self) -> list[WorkerStatus]:
        """Return the workers that announce themselves."""
        return self._ask(calls.workers())

    def models(self) -> list[dict[str, Any]]:
        """Return the models of the catalogue, with visual budgets and workers."""
        return self._ask(calls.list_items("/v1/models"))

    def datasets(self) -> list[dict[str, Any]]:
        """Return the data sets of the gateway's data root, by name."""
        return self._ask(calls.list_items("/v1/datasets"))

    def has_dataset(self, name: str) -> bool:
        """Return whether the gateway's data root has a data set of this name."""
        return any(dataset["name"] == name for dataset in self.datasets())

    def reviews(self, dataset: str) -> dict[str, Any]:
        """Return how far people's review of a data set is: states, reviewers, and how far they agree."""
        return self._ask(calls.reviews(dataset))

    def samples_to_review(
        self, dataset: str, state: str = "unreviewed", *, after: str | None = None, limit: int = 1
    ) -> list[dict[str, Any]]:
        """Return samples without their truth, each with the digest that a verdict names, behind sample `after`.

        `state` is `unreviewed` by the key's owner, `all`, or what became of them: `conflict`, `drop`, `mend`, `keep`.
        """
        return self._ask(calls.samples_to_review(dataset, state, after, limit))

    def review(self, dataset: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Write a verdict on a sample in the name of the key's owner; returns its line, which is on the disk then.

        `sample`, `digest` and `verdict` are needed (`keep`, `mend` with `fields`, `drop` with a `reason`, `undo`).
        """
        return self._ask(calls.review(dataset, entry))

    def ask(self, question: ImageQuestion, *, model: str, again: bool = False) -> Response:
        """Ask one question about a picture of this machine, and wait for the response.

        Gateway and workers read the picture where it lies, however large it is; they must share this machine's data
        root. What was asked just so within the last day is answered from what is recorded, unless `again`. Raises
        QuestionsError.
        """
        job = self._submit_own(question.asked([model]), again)
        self.wait(job.id)
        return calls.single_response(list(self.responses(job.id)))

    def ask_all(self, questions: QuestionFile, *, models: Sequence[str], again: bool = False) -> Job:
        """Return the job that asks a file of questions about pictures of this machine, as `ask` does.

        Taken up, or new.
        """
        return self._submit_own(questions.asked(models), again)

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the completion of a chat: fields of OpenAI's API. One whose answer got lost is not asked again."""
        return self._ask(calls.chat(body))

    def upload(
        self, content: Path | bytes, *, purpose: FilePurpose, filename: str = "", keep_seconds: int | None = None
    ) -> dict[str, Any]:
        """Keep a file at the gateway, a picture (`vision`) or the requests of a `batch`, for so long; else for ever."""
        if isinstance(content, bytes):
            return self._ask(calls.upload(content, filename or "upload", purpose, keep_seconds))
        with content.open("rb") as file:
            return self._ask(calls.upload(file, filename or content.name, purpose, keep_seconds))

    def file(self, file_id: str) -> dict[str, Any]:
        """What is known of a file at the gateway."""
        return self._ask(calls.file(file_id))

    def delete_file(self, file_id: str) -> None:
        """Delete a file at the gateway."""
        self._ask(calls.delete_file(file_id))

    def file_lines(self, file_id: str) -> Iterator[str]:
        """Yield the lines of a file at the gateway, without empty ones; one that breaks off is not taken up."""
        lines = LineSplitter()
        with self._contact.reaching(), self._stream(calls.file_content(file_id)) as answer:
            for chunk in answer.iter_bytes():
                yield from lines.take(chunk)

    def start_batch(self, file_id: str, metadata: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Have the chats of an uploaded file played behind what people wait for; returns OpenAI's object."""
        return self._ask(calls.start_batch(file_id, metadata or {}))

    def batch(self, batch_id: str) -> dict[str, Any]:
        """One batch as it is now."""
        return self._ask(calls.batch(batch_id))

    def batches(self) -> Iterator[dict[str, Any]]:
        """Yield the batches, newest first."""
        found, after = self._ask(calls.batches(None))
        while found:
            yield from found
            found, after = self._ask(calls.batches(after)) if after else ([], None)

    def cancel_batch(self, batch_id: str) -> dict[str, Any]:
        """Play no more of a batch; what was answered by then is in its files."""
        return self._ask(calls.cancel_batch(batch_id))

    def _submit_own(self, spec: JobSpec, again: bool) -> Job:
        if not self.has_dataset(spec.dataset):
            raise data_root_error(self.url, spec.dataset)
        return self.submit_once(spec, again=again)

    def _ask(self, call: ApiCall[AnswerT]) -> AnswerT:
        attempts = RetryAttempts(self._contact)
        while True:
            try:
                return self._send(call)
            except (httpx.TransportError, ProblemError) as error:
                pause = attempts.pause(error, repeatable=call.repeatable)
            time.sleep(pause)

    def _send(self, call: ApiCall[AnswerT]) -> AnswerT:
        answer = self._http.request(call.method, call.path, **call.arguments)
        return self._contact.read(call, answer)

    @contextmanager
    def _stream(self, call: ApiCall[Any]) -> Iterator[httpx.Response]:
        with self._http.stream(call.method, call.path, **call.arguments) as answer:
            if answer.is_error:
                answer.read()
            self._contact.check(answer)
            yield answer
