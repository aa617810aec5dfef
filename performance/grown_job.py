"""Grows a finished job to any size, to measure reports of it without asking: its answers, to more such questions.

    python -m performance.reports --questions 16000 --home FOLDER
    python -m performance.grown_job --home FOLDER --questions 500000
    python -m performance.reports --questions 500000 --home FOLDER

The further responses lie in Parquet parts and on the state store as workers and the sink leave them.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from math import ceil
from pathlib import Path

from redis import Redis

from gigavqa.runtime.embedded_store import start_store
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.redis_keys import KEYS

_PART_ROWS = 512
_MILLISECONDS = 10_000_000
"""How much later than the last response the first further one is recorded."""


def main() -> None:
    """Grow the one data set of questions that a job was made over, and the job."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=int, required=True)
    chosen = parser.parse_args()
    server = start_store(chosen.home / "server")
    try:
        redis = Redis.from_url(server.url)
        (job_id,) = (name.decode() for name in redis.zrange(KEYS.jobs(), 0, -1))
        known = grow_dataset(chosen.home / "data", f"questions-{chosen.questions}", chosen.questions)
        grow_job(redis, PartStore(str(chosen.home / "results")), job_id, known, chosen.questions)
    finally:
        server.stop()


def grow_dataset(data: Path, name: str, size: int) -> int:
    """Add questions like those of the one data set of questions, and name it anew; returns how many there were."""
    (folder,) = data.glob("questions-*")
    lines = (folder / "samples/samples.jsonl").read_text().splitlines()
    with (folder / "samples/samples.jsonl").open("a") as records:
        for at, line in enumerate(islice(cycle(lines), size - len(lines)), start=len(lines)):
            records.write(json.dumps({**json.loads(line), "id": f"q-{at:06d}"}) + "\n")
    settings = folder / "dataset.toml"
    settings.write_text(settings.read_text().replace(folder.name, name))
    folder.rename(data / name)
    return len(lines)


def grow_job(redis: Redis, parts: PartStore, job_id: str, known: int, size: int) -> None:
    """Record an answer to each question from number `known` on: those of the others in turn."""
    row = KEYS.job(job_id)
    for field in ("spec", "summary"):
        told = json.loads(redis.hget(row, field) or b"")
        redis.hset(row, field, json.dumps({**told, "dataset": f"questions-{size}"}))
    last = redis.xrevrange(KEYS.results(job_id), count=1)[0][0].decode().split("-")[0]
    first = int(last) + _MILLISECONDS
    further = _responses(parts, job_id, known, size)
    for number in range(ceil((size - known) / _PART_ROWS)):
        part = f"part-{number:06d}-grown"
        told = [(f"{first + number}-{at + 1}", *one) for at, one in enumerate(islice(further, _PART_ROWS))]
        seal = parts.write(job_id, part, [(cursor, text.encode()) for cursor, _, _, text in told])
        _record(redis, job_id, part, seal, [one[:3] for one in told])
    redis.hset(row, mapping={"total": size, "completed": size, "total_reserved": size})


def _responses(parts: PartStore, job_id: str, known: int, size: int) -> Iterator[tuple[str, str, str]]:
    """Yield request, sample and response of each question from number `known` on."""
    texts = [text for part in parts.parts(job_id) for text in parts.read(job_id, part, None)]
    for at, text in enumerate(islice(cycle(texts), size - known), start=known):
        sample = json.loads(text)["sample_id"]
        told = text.replace(sample, f"q-{at:06d}")
        yield json.loads(told)["request_id"], f"q-{at:06d}", told


def _record(redis: Redis, job_id: str, part: str, seal: str, told: Iterable[tuple[str, str, str]]) -> None:
    pipeline = redis.pipeline(transaction=False)
    for at, (cursor, request, sample) in enumerate(told):
        pipeline.xadd(KEYS.results(job_id), {"request": request}, id=cursor)
        fields = {"cursor": cursor, "outcome": "completed", "sample": sample, "attempt": "1", "part": part, "row": at}
        pipeline.hset(KEYS.response(job_id, request), mapping=fields)
    pipeline.hset(KEYS.parts(job_id), part, seal)
    pipeline.execute()


if __name__ == "__main__":
    main()
