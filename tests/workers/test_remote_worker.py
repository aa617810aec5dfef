"""Worker processes whose engine is elsewhere: servers that die, that refuse them, and keys that nobody may see."""

import os
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.store.worker_registry import WorkerRegistry
from tests.waiting import async_wait_until, wait_until
from tests.warm import WarmProgram, warm_process
from tests.workers.examples import job_of, responses_of, submit
from tests.workers.processes import WorkerProcess, worker_process
from tests.workers.remote_server import Elsewhere, Mood, serving
from tests.workers.test_processes import until_recorded

KEY = "sk-test-4f1d0c9b8a7e6f5d4c3b2a19"
QUICK = ("--engine", "remote", "--lease", "2", "--backoff-seconds", "0.02", "--max-requests", "16")


LACKING = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"safetensors", "timm", "tokenizers", "torch", "transformers", "triton", "vllm"}:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Lacking())
"""


class Elder:
    """The server elsewhere as a process, at one address through all its lives."""

    def __init__(self) -> None:
        self.port = free_port("127.0.0.1")
        self.speed = 20
        self.lives = 0
        self._process: WarmProgram | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Begin another life, and wait until it answers."""
        words = [str(self.port), "vllm", str(self.speed)]
        self._process = warm_process().start("tests.workers.remote_server", words, os.environ, 2, 2)
        self.lives += 1
        wait_until(self._answers, timeout=60, what="the server elsewhere")

    def kill(self) -> None:
        """End this life at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/models").is_success
        except httpx.TransportError:
            return False


@pytest.fixture
def elder() -> Iterator[Elder]:
    """A server process that ends with the test."""
    elder = Elder()
    yield elder
    elder.kill()


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_nothing_is_lost_or_recorded_twice_through_20_kills_of_the_server(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path, elder: Elder
) -> None:
    """Twenty random kills while 500 requests are played: 500 answers, each once, by one worker that never ends."""
    dice = random.Random(7)
    job_id = await submit(redis, 25, 20)
    elder.start()
    with worker_process(tmp_path, data, server.url, *QUICK, "--endpoint", elder.url) as worker:
        for moment in sorted(dice.sample(range(1, 490), 20)):
            await until_recorded(redis, job_id, moment)
            elder.kill()
            elder.start()
        await until_recorded(redis, job_id, 500)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    responses, job = await responses_of(redis, job_id), await job_of(redis, job_id)
    assert elder.lives == 21
    assert len({response.request_id for response in responses}) == len(responses) == 500
    assert (job.request_counts.completed, job.request_counts.failed) == (500, 0)
    assert all(response.turns[0].text.startswith("The answer is") for response in responses)
    assert {response.attempt for response in responses} == {1}


@pytest.mark.slow
async def test_a_worker_whose_engine_is_elsewhere_needs_no_library_of_one(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its image has none: what only engines bring is not there to be imported."""
    (tmp_path / "sitecustomize.py").write_text(LACKING)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    job_id = await submit(redis, 2, 4)
    with (
        serving(Elsewhere()) as there,
        worker_process(tmp_path, data, server.url, *QUICK, "--endpoint", there.url) as worker,
    ):
        await until_recorded(redis, job_id, 8)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    assert all(response.turns for response in await responses_of(redis, job_id))


@pytest.mark.slow
async def test_a_worker_waits_for_a_server_and_keeps_its_leases(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path, elder: Elder
) -> None:
    """It is away for longer than a lease: the worker says what it waits for, and no bundle passes on."""
    job_id = await submit(redis, 10, 4)
    elder.speed = 1
    elder.start()
    slowly = (*QUICK, "--endpoint", elder.url, "--lease", "0.5", "--max-requests", "2")
    with worker_process(tmp_path, data, server.url, *slowly) as worker:
        await until_recorded(redis, job_id, 1)
        elder.kill()
        wait_until(lambda: "is away" in worker.log, what="the warning")
        counts = []
        for _ in range(2):  # what was answered just before is recorded by the first look
            await async_wait_until(_served(redis, await _scripts(redis) + 12), what="renewals of leases")
            counts.append(len(await responses_of(redis, job_id)))
        assert counts[0] == counts[1] < 40
        elder.start()
        await until_recorded(redis, job_id, 40)
    assert {response.attempt for response in await responses_of(redis, job_id)} == {1}


@pytest.mark.slow
@pytest.mark.parametrize("begins", [True, False], ids=["at the start", "in the middle of a job"])
async def test_a_worker_whose_key_is_refused_stands_and_says_so(
    redis: Redis,
    server: StateStoreProcess,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    begins: bool,
) -> None:
    """It announces what to look at, and pays for nothing again; when the key is taken again, it goes on by itself."""
    monkeypatch.setenv("MY_KEY", KEY)
    job_id = await submit(redis, 10, 4)
    there = Elsewhere(speed=4, refuses=401 if begins else None)
    arguments = (*QUICK, "--api-key-env", "MY_KEY", "--heartbeat-seconds", "0.1", "--max-requests", "8")
    with serving(there), worker_process(tmp_path, data, server.url, *arguments, "--endpoint", there.url) as worker:
        if not begins:
            await until_recorded(redis, job_id, 4)
            there.refuses = 401

        async def stands() -> bool:
            is_said = any(one.phase and one.phase.name == said for one in await WorkerRegistry(redis).workers())
            return is_said and (begins or there.refused == 8)  # every chat that is played at once

        said = (
            f"waits: key refused (401); {there.url} does not take the key in MY_KEY; "
            "start the worker again with another"
        )
        await async_wait_until(stands)
        before = len(await responses_of(redis, job_id))
        there.refuses = None
        await until_recorded(redis, job_id, 40)
        worker.tell_to_end()
        assert worker.wait() == 0, worker.log
    responses = await responses_of(redis, job_id)
    assert 0 <= before < 40
    assert KEY not in worker.log
    assert {(response.ok, response.attempt) for response in responses} == {(True, 1)}
    assert there.answered == 40


@pytest.mark.slow
async def test_the_key_is_nowhere(
    redis: Redis, server: StateStoreProcess, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in logs, files, records, announcements, metrics nor on command lines, though the server repeats it."""
    monkeypatch.setenv("MY_KEY", KEY)
    job_id = await submit(redis, 4, 4)
    said = {"error": {"message": f"key {KEY} may not do that", "code": KEY}}
    moods = [Mood(400, said), Mood(500, said), Mood(429, said, {"retry-after-ms": "1"}), Mood(413, said)]
    with serving(Elsewhere(moods=moods)) as there:
        arguments = (*QUICK, "--endpoint", there.url, "--api-key-env", "MY_KEY", "--heartbeat-seconds", "0.1")
        with worker_process(tmp_path, data, server.url, *arguments) as worker:
            await until_recorded(redis, job_id, 16)
            seen = [*_shown_by(worker), *[str(await _value(redis, name)) for name in await redis.keys("*")]]
            worker.tell_to_end()
            worker.wait()
    responses = await responses_of(redis, job_id)
    seen += [worker.log, *_texts_below(tmp_path), *(response.model_dump_json() for response in responses)]
    assert there.keys == {f"Bearer {KEY}"}
    assert [text for text in seen if KEY in text] == []
    failures = [response.failure.message for response in responses if response.failure]
    assert sorted(failure[:31] for failure in failures) == [
        "400: key [key] may not do that",
        "413: key [key] may not do that;",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--engine", "remote"), "--engine remote needs the address of a server: --endpoint http://HOST:PORT/v1"),
        (("--engine", "remote", "--endpoint", "ftp://x"), "is to be an address such as http://127.0.0.1:8000/v1"),
        (("--engine", "remote", "--endpoint", "http://a:b@x"), "has a name or password in it"),
        (("--engine", "remote", "--endpoint", "https://x/v1?key=k"), "has more behind its path than ?api-version=..."),
        (
            ("--engine", "remote", "--endpoint", "http://x", "--api-key-env", "NO_KEY"),
            "NO_KEY: the variable is not set",
        ),
        (("--remote-pictures", "jpeg"), "--remote-pictures: String should match pattern"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_missing_is_said_before_anything_starts(
    server: StateStoreProcess, data: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    """In one sentence, without a traceback."""
    with worker_process(tmp_path, data, server.url, *arguments) as worker:
        assert worker.wait() in {1, 2}
    assert sentence in worker.log
    assert "Traceback" not in worker.log


@pytest.mark.slow
def test_a_closed_model_is_not_looked_for_on_this_machine(
    server: StateStoreProcess, data: Path, tmp_path: Path
) -> None:
    """The worker says where it is asked."""
    with worker_process(tmp_path, data, server.url, models=("gpt-4.1",)) as worker:
        assert worker.wait() == 2
    assert "--engine remote --endpoint https://api.openai.com/v1 --api-key-env OPENAI_API_KEY" in worker.log


def _shown_by(worker: WorkerProcess) -> list[str]:
    """Its metrics, and its command line."""
    address = next(word for word in worker.log.split() if word.startswith("http") and word.endswith("/metrics"))
    return [httpx.get(address).text, Path(f"/proc/{worker.pid}/cmdline").read_text()]


def _texts_below(folder: Path) -> list[str]:
    return [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]


def _served(redis: Redis, scripts: int) -> Callable[[], Awaitable[bool]]:
    async def enough() -> bool:
        return await _scripts(redis) >= scripts

    return enough


async def _scripts(redis: Redis) -> int:
    """Scripts that the server has run: among them, one for each renewal of leases."""
    told = await redis.info("commandstats")
    return sum(int(each["calls"]) for name, each in told.items() if name.startswith("cmdstat_evalsha"))


async def _value(redis: Redis, name: bytes) -> object:
    kind = (await redis.type(name)).decode()
    read = {
        "string": redis.get,
        "hash": redis.hgetall,
        "set": redis.smembers,
        "zset": lambda key: redis.zrange(key, 0, -1),
        "stream": redis.xrange,
        "list": lambda key: redis.lrange(key, 0, -1),
    }
    return await read[kind](name)
