"""Read an installation from a state store that nobody writes to: its jobs, their responses, and where these are."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from redis import Redis

from gigavqa.store.files import StoredFile
from gigavqa.store.redis_keys import KEYS

_PAGE = 1000


class ResultEntry(NamedTuple):
    """One entry of a job's results, and what is kept of it; all but `request` and `entry` are None where nothing is.

    `part` and `row` say where the sink put its text, `hot` whether the state store has it.
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

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def list_keys(self) -> KeyInventory:
        """Look at every key once."""
        inventory = KeyInventory()
        pattern = re.compile(rf"{re.escape(KEYS.prefix)}:(job|file|batch):([^:]+)(?::(.*))?", re.S)
        for key in self.redis.scan_iter(f"{KEYS.prefix}:*", count=_PAGE):
            if match := pattern.fullmatch(key.decode()):
                _add_key(inventory, *match.groups())
        return inventory

    def recordings(self, job_id: str) -> Iterator[ResultEntry]:
        """Yield what was recorded of a job, in its order."""
        after = "-"
        while rows := self.redis.xrange(KEYS.results(job_id), min=after, count=_PAGE):
            requests = [fields[b"request"].decode() for _, fields in rows]
            with self.redis.pipeline(transaction=False) as pipeline:
                for request in requests:
                    pipeline.hmget(KEYS.response(job_id, request), "cursor", "outcome", "part", "row")
                    pipeline.hexists(KEYS.texts(job_id), request)
                told = pipeline.execute()
            for at, (entry, _) in enumerate(rows):
                cursor, outcome, part, row = (text.decode() if text else None for text in told[2 * at])
                place = (part, int(row) if row else None, bool(told[2 * at + 1]))
                yield ResultEntry(requests[at], entry.decode(), cursor, outcome, *place)
            after = f"({rows[-1][0].decode()}"

    def seals(self, job_id: str) -> dict[str, str]:
        """Return the seals of a job's parts by name; parts of an older release have none."""
        found = self.redis.hgetall(KEYS.parts(job_id))
        return {part.decode(): seal.decode() for part, seal in found.items()}

    def files(self, inventory: KeyInventory) -> list[StoredFile]:
        """Return what is known of the files that clients uploaded."""
        found = [self.redis.get(KEYS.file(file_id)) for file_id in sorted(inventory.files)]
        return [StoredFile.model_validate_json(each) for each in found if each]

    def lanes(self) -> list[str]:
        """Return every stream that bundles wait in."""
        models = sorted(model.decode() for model in self.redis.smembers(KEYS.models()))
        lanes = [KEYS.queue(model, priority) for model in models for priority in ("interactive", "batch")]
        return [*lanes, *map(KEYS.probation, models)]


def _add_key(inventory: KeyInventory, kind: str, name: str, rest: str | None) -> None:
    if kind != "job":
        (inventory.files if kind == "file" else inventory.batches).add(name)
    elif rest is None:
        inventory.jobs.add(name)
    elif rest.startswith("response:"):
        inventory.responses[name] += 1
    else:
        inventory.rest[name].add(rest)
