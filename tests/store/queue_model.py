"""What the queue promises, as a machine that does anything to the real server in any order and keeps its own books.

Time is drawn like everything else: a lease runs out when the machine makes the server believe that it was not renewed.
Scripts are atomic, so orders of calls are all that there is to try.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gigavqa.contract.errors import JobActiveError, JobNotRetryableError, QueueFullError
from gigavqa.contract.jobs import Job, JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle, InferenceRequest
from gigavqa.contract.responses import Response
from gigavqa.store.connection import connect
from gigavqa.store.crashes import MAX_SOLO_CRASHES
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.queue_lanes import GROUP
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from tests.store.examples import MODEL, SPEC, answer, ask_again
from tests.store.pictures import bundles_about

LIMIT = 60
"""Requests that the queue has room for."""
_NEVER = 100_000.0  # seconds of a lease: none runs out by itself
_DEFER = 1000.0
_EXPIRED = 1_000_000_000
_MOST_JOBS = 6
_PICTURES = "PQRS"
_LANES = [KEYS.queue(MODEL, "interactive"), KEYS.queue(MODEL, "batch"), KEYS.probation(MODEL)]
_AT = st.integers(0, 1000)
_Worker = str
ValueT = TypeVar("ValueT")


@dataclass(eq=False)
class Task:
    """A request of the books: what was recorded for it first, and who fell silent beside it alone, in a row."""

    request: InferenceRequest
    poison: bool
    text: str | None = None
    failed: bool = False
    silent: set[str] = field(default_factory=set)


@dataclass(eq=False)
class Booked:
    """A job of the books."""

    id: str
    bundles: list[Bundle]
    tasks: dict[str, Task]
    cancelled: bool = False

    @property
    def unrecorded(self) -> int:
        """How many of its requests have no response."""
        return sum(task.text is None for task in self.tasks.values())


@dataclass(eq=False)
class Held:
    """A lease that a worker believes to have; `expired` when it ran out while the worker was not to be heard."""

    lease: Lease
    name: str
    begun: str = ""
    expired: bool = False


class Promises(RuleBasedStateMachine):
    """Jobs, workers and a sink on one server. No response is lost, none recorded twice, no innocent blamed."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._redis = connect(url)
        self._folder = Path(tempfile.mkdtemp(prefix="gigavqa-promises-"))
        self._queue = JobQueue(self._redis, limit_requests=LIMIT, lease_seconds=_NEVER, defer_seconds=_DEFER)
        self._results = ResultStore(self._redis, str(self._folder))
        self._registry = JobRegistry(self._redis, str(self._folder))
        self._numbers = count()
        self._jobs: list[Booked] = []
        self._workers: dict[_Worker, list[Held]] = {}

    def _do(self, work: Awaitable[ValueT]) -> ValueT:
        async def done() -> ValueT:
            return await work

        return self._runner.run(done())

    def teardown(self) -> None:
        """Let one worker play what is left; then everything is where it was promised to be."""
        try:
            self._play_what_is_left()
            self._require_all_there()
        finally:
            self._do(self._redis.aclose())
            self._runner.close()
            shutil.rmtree(self._folder)

    @initialize()
    def begin(self) -> None:
        """An empty server, and three workers."""
        self._do(self._redis.flushall())
        for _ in range(3):
            self._another()

    def _another(self) -> _Worker:
        name = f"w{next(self._numbers)}"
        self._workers[name] = []
        return name

    def _worker(self, at: int) -> _Worker:
        return sorted(self._workers)[at % len(self._workers)]

    def _some_held(self, at: int) -> tuple[_Worker, Held] | None:
        held = [(worker, one) for worker, leases in self._workers.items() for one in leases]
        return held[at % len(held)] if held else None

    def _booked(self, job_id: str) -> Booked | None:
        return next((job for job in self._jobs if job.id == job_id), None)

    # What clients do

    @precondition(lambda self: len(self._jobs) < _MOST_JOBS)
    @rule(
        images=st.lists(st.sampled_from(_PICTURES), min_size=1, max_size=8),
        each=st.integers(1, 4),
        priority=st.sampled_from(["batch", "batch", "interactive"]),
        crash_after=st.integers(0, 8),
        poisoned=st.sets(st.integers(0, 31), max_size=2),
    )
    def submit(self, images: list[str], each: int, priority: str, crash_after: int, poisoned: set[int]) -> None:
        """A gateway appends some bundles of a job and dies; another one appends all. A job without room is refused."""
        job, _ = self._do(self._registry.create(SPEC))
        bundles = bundles_about(job.id, images, each, priority=priority)
        requests = [request for bundle in bundles for request in bundle.requests]
        room = LIMIT - self._outstanding()
        try:
            self._do(self._queue.reserve(job.id, len(requests), None))
        except QueueFullError:
            assert len(requests) > room
            self._do(self._registry.fail(job.id, ["no room"]))
            self._do(self._registry.delete(job.id))
            return
        assert len(requests) <= room
        self._do(self._half_append(job.id, bundles[:crash_after]))
        self._do(self._queue.enqueue(job.id, bundles, None))
        tasks = {request.id: Task(request, at in poisoned) for at, request in enumerate(requests)}
        self._jobs.append(Booked(job.id, bundles, tasks))

    async def _half_append(self, job_id: str, bundles: list[Bundle]) -> None:
        if bundles:
            await self._queue._lanes.ensure_groups({MODEL})
            await self._queue._calls.append(job_id, [self._queue._packed(bundle) for bundle in bundles])

    @precondition(lambda self: self._jobs)
    @rule(at=_AT)
    def cancel(self, at: int) -> None:
        """A job is cancelled: from now on nobody is given a bundle of it."""
        job = self._jobs[at % len(self._jobs)]
        if not self._status(job).final:
            job.cancelled = True
        self._do(self._registry.cancel(job.id))

    @precondition(lambda self: self._jobs)
    @rule(at=_AT)
    def delete(self, at: int) -> None:
        """A final job goes with all that is known of it; one that goes on is not deleted."""
        job = self._jobs[at % len(self._jobs)]
        final = self._status(job).final
        try:
            self._do(self._registry.delete(job.id))
        except JobActiveError:
            assert not final
            return
        assert final
        self._jobs.remove(job)

    @precondition(lambda self: self._jobs)
    @rule(at=_AT, void=st.integers(0, 3), crash_after=st.integers(0, 8))
    def retry(self, at: int, void: int, crash_after: int) -> None:
        """What failed in a completed or cancelled job is asked again, and what was never answered, and nothing else.

        But for the answers that are named: every so manieth, if any. A gateway dies of it midway; another does all.
        """
        job = self._jobs[at % len(self._jobs)]
        answered = [task for task in job.tasks.values() if task.text is not None and not task.failed]
        named = answered[::void] if void else []
        asked = [task for task in job.tasks.values() if task.text is None or task.failed or task in named]
        status, room = self._status(job), LIMIT - self._outstanding()
        cursors = {task.request.id: self._cursor(job, task) for task in named}
        others = {task.request.id: "1-1" for task in answered if task not in named}
        try:
            again = ask_again(self._queue, job.id, job.bundles, taken_back=cursors | others, crash_after=crash_after)
            self._do(again)
        except JobNotRetryableError:
            assert not status.final
        except QueueFullError:
            assert len(asked) > room
        else:
            job.cancelled = False
            for task in asked:
                task.text, task.failed, task.silent = None, False, set()

    def _cursor(self, job: Booked, task: Task) -> str:
        return str((self._do(self._redis.hget(KEYS.response(job.id, task.request.id), "cursor")) or b"").decode())

    # What workers do

    @rule(
        at=_AT,
        slots=st.integers(1, 8),
        requests=st.integers(1, 16),
        room=st.sampled_from([0, 8, 40]),
        probation=st.booleans(),
    )
    def claim(self, at: int, slots: int, requests: int, room: int, probation: bool) -> None:
        """A worker is given bundles that nobody else is at, and none of a job that was cancelled."""
        worker = self._worker(at)
        before = self._texts()
        leases = self._do(
            self._queue.claim([MODEL], worker, slots, 0, max_requests=requests, room=room, probation=probation)
        )
        self._book_blame(before)
        assert len(leases) <= slots
        for lease in leases:
            job = self._booked(lease.job_id)
            assert job is not None and not job.cancelled
            assert lease.probation is (lease.stream == KEYS.probation(MODEL))
            for _, other in self._all_held():
                same = (other.lease.job_id, other.lease.bundle.id) == (lease.job_id, lease.bundle.id)
                assert not same or other.expired, f"{lease.bundle.id} is leased twice"
            self._workers[worker].append(Held(lease, f"d{next(self._numbers)}"))

    @rule(at=_AT, fails=st.booleans(), times=st.integers(1, 4))
    def play(self, at: int, fails: bool, times: int) -> None:
        """A worker records some requests of a bundle, each perhaps twice; one that is poison kills it."""
        for _ in range(times):
            if (found := self._some_held(at)) is None or not self._play_one(*found, fails=fails):
                return

    @rule(at=_AT, fails=st.booleans(), times=st.integers(1, 12))
    def work(self, at: int, fails: bool, times: int) -> None:
        """A worker claims like a real one, and plays what it has."""
        worker = self._worker(at)
        self.claim(at, 4, 16, 16, not self._workers[worker])
        for _ in range(times):
            if not self._workers.get(worker):
                return
            self._play_one(worker, self._workers[worker][0], fails=fails)

    def _play_one(self, worker: _Worker, held: Held, *, fails: bool = False) -> bool:
        lease = held.lease
        recorded = self._do(self._results.recorded(lease.job_id, [one.id for one in lease.bundle.requests]))
        left = [one for one in lease.bundle.requests if one.id not in recorded]
        if not left:
            self._do(self._queue.hand_back(lease))
            self._let_go(worker, held)
            return False
        if lease.probation and not self._begin(worker, held, left[0].id):
            return False
        job = self._booked(lease.job_id)
        if job and job.tasks[left[0].id].poison:
            self._die(worker)
            return False
        return self._record(held, left[0], fails)

    def _begin(self, worker: _Worker, held: Held, request_id: str) -> bool:
        if not self._do(self._queue.begin_probation(held.lease, request_id)):
            self._pardon(held)
            self._workers[worker].remove(held)
            return False
        held.begun = request_id
        return True

    def _record(self, held: Held, request: InferenceRequest, fails: bool) -> bool:
        text = f"text {next(self._numbers)}"
        response = answer(held.lease.job_id, request, text=text, failure="EngineError" if fails else "")
        response = response.model_copy(update={"worker": text})
        job = self._booked(held.lease.job_id)
        open_ = job is not None and not self._status(job).final
        news = [self._do(self._results.record(response, held.lease)) for _ in range(2)]
        assert news == [open_, False]
        if job and open_:
            task = job.tasks[request.id]
            assert task.text is None
            task.text, task.failed = text, fails
        return True

    @rule(at=_AT)
    def renew(self, at: int) -> None:
        """A worker renews: it hears of the leases that it lost, and of no other."""
        worker = self._worker(at)
        lost = self._do(self._queue.renew([held.lease for held in self._workers[worker]]))
        for held in list(self._workers[worker]):
            if held.lease in lost:
                assert held.expired or self._is_over(held.lease)
                self._pardon(held)
                self._workers[worker].remove(held)
            elif held.expired:  # nobody had claimed it meanwhile, unless this worker itself
                held.expired = False
                self._pardon(held)

    @rule(at=_AT)
    def hand_back(self, at: int) -> None:
        """A worker gives a bundle up."""
        if found := self._some_held(at):
            self._do(self._queue.hand_back(found[1].lease))
            self._let_go(*found)

    @rule(at=_AT)
    def release(self, at: int) -> None:
        """A worker drains: what is parked for it and what it holds is for others."""
        worker = self._worker(at)
        self._do(self._queue.release(MODEL, worker))
        for held in list(self._workers[worker]):
            self._do(self._queue.hand_back(held.lease))
            self._let_go(worker, held)

    # What befalls them

    @rule(at=_AT)
    def crash(self, at: int) -> None:
        """A worker dies with all that it holds, and another one comes."""
        self._die(self._worker(at))

    def _die(self, worker: _Worker) -> None:
        self._expire(worker)
        del self._workers[worker]
        self._another()

    @rule(at=_AT)
    def freeze(self, at: int) -> None:
        """A worker is not heard for longer than a lease, and then goes on as if nothing had been."""
        self._expire(self._worker(at))

    @rule(what=st.sampled_from(["waits", "forgotten owners", "trim"]))
    def pass_time(self, what: str) -> None:
        """What is parked waits too long, the server loses what it knows of whose a picture is, or lanes are trimmed."""
        if what == "waits":
            self._do(self._make_idle({f"for:{worker}" for worker in self._workers}, int(_DEFER * 1000)))
        elif what == "trim":
            self._do(self._queue.trim())
        else:
            self._do(self._forget_owners())

    async def _forget_owners(self) -> None:
        keys = [key async for key in self._redis.scan_iter(f"{KEYS.prefix}:*")]
        if lost := [key for key in keys if key.split(b":")[1] in {b"owner", b"room", b"parked"}]:
            await self._redis.delete(*lost)

    @rule(rows=st.integers(1, 5), dies=st.booleans())
    def sink(self, rows: int, dies: bool) -> None:
        """The sink moves all texts, or dies between a part and its mark."""
        sink = (_DyingSink if dies else ParquetSink)(self._redis, str(self._folder), rows=rows)
        try:
            self._do(sink.run_until_drained())
        except _DiesError:
            return
        assert not any(self._do(self._redis.hlen(KEYS.texts(job.id))) for job in self._jobs)

    # What is promised

    @invariant()
    def counts_are_exact(self) -> None:
        """Every job's counts and status are those of the books, at every moment."""
        for job in self._jobs:
            told = self._do(self._registry.get(job.id))
            self._require_counts(job, told)

    @invariant()
    def bounds_are_kept(self) -> None:
        """What is outstanding is what is not recorded; of cancelled jobs as much as workers still hold, at the most."""
        outstanding = self._outstanding()
        due = sum(job.unrecorded for job in self._jobs if not job.cancelled)
        held = sum(job.unrecorded for job in self._jobs if job.cancelled)
        assert due <= outstanding <= min(LIMIT, due + held)

    @invariant()
    def depth_is_exact(self) -> None:
        """As many bundles wait and are leased as are open."""
        depth = self._do(self._queue.depth(MODEL))
        due = sum(self._is_open(job, bundle) for job in self._jobs if not job.cancelled for bundle in job.bundles)
        held = sum(self._is_open(job, bundle) for job in self._jobs if job.cancelled for bundle in job.bundles)
        assert due <= depth.waiting + depth.leased <= due + held
        assert depth.waiting >= 0 and depth.leased >= 0

    def _require_counts(self, job: Booked, told: Job) -> None:
        counts, texts = told.request_counts, [task for task in job.tasks.values() if task.text is not None]
        assert counts.completed == sum(not task.failed for task in texts)
        assert counts.failed == sum(task.failed for task in texts)
        if job.cancelled:
            assert told.status in {JobStatus.CANCELLING, JobStatus.CANCELLED}
            return
        assert counts.total == len(job.tasks)
        assert told.status is (JobStatus.IN_PROGRESS if job.unrecorded else JobStatus.COMPLETED)

    def _require_all_there(self) -> None:
        depth = self._do(self._queue.depth(MODEL))
        assert (depth.waiting, depth.leased, self._outstanding()) == (0, 0, 0)
        self.sink(4, False)
        for job in self._jobs:
            self._require_texts(job)
            given_up = [task for task in _innocents(job) if not (task.text or "text").startswith("text")]
            assert not given_up, given_up
            self._do(self._registry.delete(job.id))
        left = self._do(self._keys_with("job_"))
        assert not left, left

    def _require_texts(self, job: Booked) -> None:
        """What can be read of a job is what was recorded first, each once."""
        found = [one for _, one in self._do(self._results.read(job.id, limit=1000))]
        texts = {one.request_id: one.worker for one in found if isinstance(one, Response)}
        assert len(texts) == len(found)
        assert texts == {id_: task.text for id_, task in job.tasks.items() if task.text is not None}

    def _play_what_is_left(self) -> None:
        for worker in list(self._workers):
            self._die(worker)
        self._workers = {"last": []}
        for _ in range(5000):
            if all(self._status(job).final for job in self._jobs):
                return
            (worker,) = self._workers
            self.claim(0, 8, 1000, 0, True)
            while self._workers.get(worker):
                self._play_one(worker, self._workers[worker][0])
        raise AssertionError("what is left is not played to its end")

    # The books

    def _texts(self) -> dict[tuple[str, str], str | None]:
        return {(job.id, id_): task.text for job in self._jobs for id_, task in job.tasks.items()}

    def _book_blame(self, before: dict[tuple[str, str], str | None]) -> None:
        """Enter the failures that a claim recorded: only beside what so many workers fell silent in a row."""
        for (job_id, request_id), text in before.items():
            job = self._booked(job_id)
            if text is not None or job is None:
                continue
            if self._do(self._redis.hget(KEYS.response(job_id, request_id), "failure")) == b"WorkerCrashed":
                task = job.tasks[request_id]
                assert len(task.silent) >= MAX_SOLO_CRASHES, f"{request_id} is blamed for {task.silent}"
                ((_, found),) = self._do(self._results.read_of(job_id, [request_id])).items()
                assert isinstance(found, Response)
                task.text, task.failed = found.worker, True

    def _expire(self, worker: _Worker) -> None:
        """Let the worker's leases run out, and what is parked for it."""
        self._do(self._make_idle({worker, f"for:{worker}"}, _EXPIRED))
        self._do(self._redis.delete(KEYS.room(f"{MODEL}:{worker}")))
        for held in self._workers[worker]:
            if not held.expired and held.lease.probation:
                for task in self._suspects(held):
                    task.silent.add(held.name)
            held.expired = True

    def _suspects(self, held: Held) -> list[Task]:
        job = self._booked(held.lease.job_id)
        ids = [held.begun] if held.begun else [request.id for request in held.lease.bundle.requests]
        return [job.tasks[id_] for id_ in ids] if job else []

    def _pardon(self, held: Held) -> None:
        for job in self._jobs:
            for task in job.tasks.values():
                task.silent.discard(held.name)

    def _let_go(self, worker: _Worker, held: Held) -> None:
        self._pardon(held)
        self._workers[worker].remove(held)

    async def _make_idle(self, consumers: set[str], milliseconds: int) -> None:
        for lane in _LANES:
            if not await self._redis.exists(lane):
                continue
            for pending in await self._redis.xpending_range(lane, GROUP, "-", "+", 1000):
                consumer = pending["consumer"].decode()
                if consumer in consumers:
                    await self._redis.xclaim(
                        lane, GROUP, consumer, 0, [pending["message_id"]], idle=milliseconds, justid=True
                    )

    async def _keys_with(self, word: str) -> list[bytes]:
        return [key async for key in self._redis.scan_iter(f"*{word}*")]

    def _all_held(self) -> list[tuple[_Worker, Held]]:
        return [(worker, held) for worker, leases in self._workers.items() for held in leases]

    def _outstanding(self) -> int:
        return int(self._do(self._redis.get(KEYS.outstanding())) or 0)

    def _status(self, job: Booked) -> JobStatus:
        status = self._do(self._registry.status(job.id))
        assert status is not None
        return status

    def _is_open(self, job: Booked, bundle: Bundle) -> bool:
        return any(job.tasks[request.id].text is None for request in bundle.requests)

    def _is_over(self, lease: Lease) -> bool:
        """Whether a lease's bundle needs no more playing."""
        job = self._booked(lease.job_id)
        return job is None or job.cancelled or not self._is_open(job, lease.bundle)


def _innocents(job: Booked) -> list[Task]:
    return [task for task in job.tasks.values() if not task.poison and len(task.silent) < MAX_SOLO_CRASHES]


class _DiesError(Exception):
    """The sink died."""


class _DyingSink(ParquetSink):
    async def _mark(self, *part: Any) -> int:
        raise _DiesError
