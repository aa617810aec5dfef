"""What a server that nobody writes to holds of an installation: its jobs, their responses, and where these are."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from redis import Redis

from gigavqa.store.files import StoredFile
from gigavqa.store.redis_keys import KEYS, RedisKeys

_PAGE = 1000


class ResultEntry(NamedTuple):
    """One entry of a job's results, and what is kept of it; all but `request` and `entry` are None where nothing is.

    `part` and `row` say where the sink put its text, `hot` whether the server has it.
    """

    request: str
    entry: str
    cursor: str | None
    outcome: str | None
    part: str | None
    row: int | None
    hot: bool


@dataclass
class KeyInventory:
    """The keys of all jobs by job: whether it is there itself, how many responses it has, and what else there is."""

    jobs: set[str] = field(default_factory=set)
    responses: Counter[str] = field(default_factory=Counter)
    rest: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    files: set[str] = field(default_factory=set)
    batches: set[str] = field(default_factory=set)


class StateReader:
    """Reads one server. All methods block."""

    def __init__(self, redis: Redis, keys: RedisKeys = KEYS) -> None:
        self.redis = redis
        self.keys = keys

    def census(self) -> KeyInventory:
        """Look at every key once."""
        census, found = (
            KeyInventory(),
            re.compile(rf"{re.escape(self.keys.prefix)}:(job|file|batch):([^:]+)(?::(.*))?", re.S),
        )
        for key in self.redis.scan_iter(f"{self.keys.prefix}:*", count=_PAGE):
            if match := found.fullmatch(key.decode()):
                _add_key(census, *match.groups())
        return census

    def recordings(self, job_id: str) -> Iterator[ResultEntry]:
        """Yield what was recorded of a job, in its order."""
        after = "-"
        while rows := self.redis.xrange(self.keys.results(job_id), min=after, count=_PAGE):
            requests = [fields[b"request"].decode() for _, fields in rows]
            with self.redis.pipeline(transaction=False) as pipeline:
                for request in requests:
                    pipeline.hmget(self.keys.response(job_id, request), "cursor", "outcome", "part", "row")
                    pipeline.hexists(self.keys.texts(job_id), request)
                told = pipeline.execute()
            for at, (entry, _) in enumerate(rows):
                cursor, outcome, part, row = (text.decode() if text else None for text in told[2 * at])
                place = (part, int(row) if row else None, bool(told[2 * at + 1]))
                yield ResultEntry(requests[at], entry.decode(), cursor, outcome, *place)
            after = f"({rows[-1][0].decode()}"

    def seals(self, job_id: str) -> dict[str, str]:
        """Return the seals of a job's parts by name; parts of an older release have none."""
        found = self.redis.hgetall(self.keys.parts(job_id))
        return {part.decode(): seal.decode() for part, seal in found.items()}

    def files(self, census: KeyInventory) -> list[StoredFile]:
        """Return what is known of the files that clients uploaded."""
        found = [self.redis.get(self.keys.file(file_id)) for file_id in sorted(census.files)]
        return [StoredFile.model_validate_json(each) for each in found if each]

    def lanes(self) -> list[str]:
        """Return every stream that bundles wait in."""
        models = sorted(model.decode() for model in self.redis.smembers(self.keys.models()))
        lanes = [self.keys.queue(model, priority) for model in models for priority in ("interactive", "batch")]
        return [*lanes, *map(self.keys.probation, models)]


def _add_key(census: KeyInventory, kind: str, name: str, rest: str | None) -> None:
    if kind != "job":
        (census.files if kind == "file" else census.batches).add(name)
    elif rest is None:
        census.jobs.add(name)
    elif rest.startswith("response:"):
        census.responses[name] += 1
    else:
        census.rest[name].add(rest)
