"""Every key of the state store, one method a key."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

PRIORITIES: tuple[Literal["interactive", "batch"], ...] = ("interactive", "batch")
"""The lanes of a model's queue, first served first."""


@dataclass(frozen=True)
class RedisKeys:
    """Names of all keys under one prefix. Keys of one job carry its id and go when the job is deleted."""

    prefix: str = "gigavqa"

    def jobs(self) -> str:
        """Sorted set of all job ids by time of creation in microseconds."""
        return f"{self.prefix}:jobs"

    def in_status(self, status: str) -> str:
        """Sorted set of the ids of the jobs in a status, by time of creation as in `jobs`."""
        return f"{self.prefix}:jobs:{status}"

    def jobs_of(self, owner_and_status: str) -> str:
        """Sorted set of the ids of the jobs of an `OWNER`, or of those in a status, `OWNER:STATUS`, as in `jobs`."""
        return f"{self.prefix}:jobs:of:{owner_and_status}"

    def recorded(self) -> str:
        """Hash of the numbers of responses that were ever recorded, by outcome."""
        return f"{self.prefix}:recorded"

    def totals(self) -> str:
        """Hash of what was ever counted, `NAME OF` whom or what: by model, or by kind and status of a job."""
        return f"{self.prefix}:totals"

    def heartbeat(self) -> str:
        """Return what is written to see whether the state store takes it. Has a TTL."""
        return f"{self.prefix}:heartbeat"

    def backup(self) -> str:
        """That a backup is being made, so that no Parquet part is removed. Has a TTL."""
        return f"{self.prefix}:backup"

    def deleting(self) -> str:
        """Set of the jobs that were deleted and of which something is left."""
        return f"{self.prefix}:deleting"

    def idempotency(self, key: str) -> str:
        """Hash of the job id and the digest of the specification that this idempotency key stands for. Has a TTL."""
        return f"{self.prefix}:idempotency:{key}"

    def owned_idempotency(self, owner: str, key: str) -> str:
        """Return the same of an owner's key; owners have no colon in their names. Has a TTL."""
        return f"{self.prefix}:idempotency-of:{owner}:{key}"

    def outstanding(self) -> str:
        """Number of requests that are reserved in the queue and not recorded, over all jobs."""
        return f"{self.prefix}:outstanding"

    def queued(self) -> str:
        """Hash of the part of `outstanding` that is of each owner's jobs."""
        return f"{self.prefix}:queued"

    def uploaded(self) -> str:
        """Hash of the bytes of files that are kept for each owner."""
        return f"{self.prefix}:uploaded"

    def api_keys(self) -> str:
        """Hash from the public part of each API key to what is known of it, with its digest, as JSON."""
        return f"{self.prefix}:keys"

    def api_keys_used(self) -> str:
        """Hash of the second in which each API key was used last, to within minutes."""
        return f"{self.prefix}:keys:used"

    def rate(self, key_id: str) -> str:
        """Until when the requests of an API key are paid for, in microseconds. Has a TTL."""
        return f"{self.prefix}:rate:{key_id}"

    def streams(self, key_id: str) -> str:
        """Sorted set of the streams that are open with an API key by the ms until which they count. Has a TTL."""
        return f"{self.prefix}:streams:{key_id}"

    def sessions(self, key_id: str) -> str:
        """Sorted set of the digests of the sessions that were begun with an API key by the ms at which they end.

        Has a TTL.
        """
        return f"{self.prefix}:sessions:{key_id}"

    def clock(self) -> str:
        """Hash of the microsecond in which each lane was trimmed last, by the state store's clock."""
        return f"{self.prefix}:clock"

    def depth(self) -> str:
        """Hash of the bundles that wait (`waiting:MODEL`) and that are leased (`leased:MODEL`)."""
        return f"{self.prefix}:depth"

    def models(self) -> str:
        """Set of the models that were ever queued for."""
        return f"{self.prefix}:models"

    def queue(self, model: str, priority: str) -> str:
        """Stream of the bundles that wait for a model, read by the consumer group of its workers."""
        return f"{self.prefix}:queue:{model}:{priority}"

    def probation(self, model: str) -> str:
        """Stream of the bundles of a model whose last attempt is due."""
        return f"{self.prefix}:probation:{model}"

    def owner(self, model_and_image: str) -> str:
        """Name of the worker that leased a bundle of this `MODEL:IMAGE` last, whose caches are warm. Has a TTL."""
        return f"{self.prefix}:owner:{model_and_image}"

    def room(self, model_and_worker: str) -> str:
        """Return how many requests may be parked for this `MODEL:WORKER`; gone when it claims no more. Has a TTL."""
        return f"{self.prefix}:room:{model_and_worker}"

    def parked(self, model: str) -> str:
        """Sorted set of the workers that bundles of a model are parked for, by their number."""
        return f"{self.prefix}:parked:{model}"

    def unsunk(self) -> str:
        """Stream of the responses whose text no Parquet part holds yet, read by the sink."""
        return f"{self.prefix}:unsunk"

    def sink_lock(self) -> str:
        """Return who drives the sink. Has a TTL."""
        return f"{self.prefix}:sink"

    def webhooks(self) -> str:
        """Hash from job id to who wants to be told of its end, as JSON."""
        return f"{self.prefix}:webhooks"

    def webhooks_due(self) -> str:
        """Sorted set of the jobs with a webhook by the second in which that is looked at next."""
        return f"{self.prefix}:webhooks:due"

    def workers(self) -> str:
        """Set of the names of the workers that announced themselves."""
        return f"{self.prefix}:workers"

    def worker(self, name: str) -> str:
        """Return the last announcement of a worker. Has a TTL."""
        return f"{self.prefix}:worker:{name}"

    def job(self, job_id: str) -> str:
        """Hash of a job: specification, status, counts, times."""
        return f"{self.prefix}:job:{job_id}"

    def events(self, job_id: str) -> str:
        """Capped stream of a job's events."""
        return f"{self.job(job_id)}:events"

    def bundles(self, job_id: str) -> str:
        """Hash from bundle id to `REMAINING MODEL`: how many of its requests are not recorded; 0 when done."""
        return f"{self.job(job_id)}:bundles"

    def payloads(self, job_id: str) -> str:
        """Hash from bundle id to the bundle itself, zstd JSON, until it is done."""
        return f"{self.job(job_id)}:payloads"

    def leased(self, job_id: str) -> str:
        """Set of the ids of a job's bundles that some worker holds."""
        return f"{self.job(job_id)}:leased"

    def suspects(self, job_id: str) -> str:
        """Hash from bundle id to `DELIVERY BEGUN REQUEST`, as `mark_of` of lua/common.lua reads it."""
        return f"{self.job(job_id)}:suspects"

    def results(self, job_id: str) -> str:
        """Stream of a job's recorded requests in their order of recording; its entry ids are the cursors."""
        return f"{self.job(job_id)}:results"

    def texts(self, job_id: str) -> str:
        """Hash from request id to the whole response, zstd JSON, until the sink has moved it."""
        return f"{self.job(job_id)}:texts"

    def parts(self, job_id: str) -> str:
        """Hash from the name of each Parquet part to its seal."""
        return f"{self.job(job_id)}:parts"

    def searches(self, job_id: str) -> str:
        """Hash from the name of each search of a job's chats to what it came to, zstd JSON."""
        return f"{self.job(job_id)}:searches"

    def searching(self, job_id: str) -> str:
        """Hash from the name of each search that is being made to who makes it, and how often they said so."""
        return f"{self.job(job_id)}:searching"

    def chats(self) -> str:
        """Sorted set of the chats by the time at which nobody waits for them any more, in seconds."""
        return f"{self.prefix}:chats"

    def file(self, file_id: str) -> str:
        """Return what is known of a file that a client uploaded, or a batch wrote."""
        return f"{self.prefix}:file:{file_id}"

    def files(self, owner: str) -> str:
        """Sorted set of the ids of an owner's files by time of creation in microseconds; of `*` all."""
        return f"{self.prefix}:files:{owner}"

    def expiring_files(self) -> str:
        """Sorted set of the ids of the files that expire, by when, in seconds."""
        return f"{self.prefix}:files-expiring"

    def batch(self, batch_id: str) -> str:
        """Hash of a batch: what is told of it, and when somebody asked that it be cancelled."""
        return f"{self.prefix}:batch:{batch_id}"

    def batches(self, owner: str) -> str:
        """Sorted set of the ids of an owner's batches by time of creation in microseconds; of `*` all."""
        return f"{self.prefix}:batches:{owner}"

    def open_batches(self, owner: str) -> str:
        """Set of the ids of an owner's batches that are to be worked on; of `*` all."""
        return f"{self.prefix}:batches-open:{owner}"

    def ended_batches(self) -> str:
        """Set of the ids of batches that have ended, and whose jobs and folders are still there."""
        return f"{self.prefix}:batches-ended"

    def claim(self, id_: str) -> str:
        """Return which gateway works on a batch, or on a job that is not queued yet. Has a TTL."""
        return f"{self.prefix}:batch:{id_}:worker"

    def listener(self, name: str) -> str:
        """Channel on which somebody hears of the chats that they wait for; nothing of it is kept."""
        return f"{self.prefix}:listener:{name}"

    def response(self, job_id: str, request_id: str) -> str:
        """Hash of a response's metadata in short plain fields; its existence says that the request is recorded."""
        return f"{self.job(job_id)}:response:{request_id}"

    def rasters(self, job_id: str) -> str:
        """Set of the keys of the different rasters that a job's requests were shown."""
        return f"{self.job(job_id)}:rasters"

    @property
    def of_what_runs(self) -> tuple[str, ...]:
        """Patterns of all keys that tell of processes that run, and mean nothing to others."""
        single = (self.heartbeat(), self.backup(), self.sink_lock(), self.workers())
        each = (self.worker, self.room, self.owner, self.rate, self.streams, self.claim)
        return (*single, *(key("*") for key in each))

    @property
    def parts_of_a_job(self) -> tuple[Callable[[str], str], ...]:
        """Functions that make the further keys of a job from its id, but for those of its responses."""
        queued = (self.events, self.bundles, self.payloads, self.leased, self.suspects)
        return (*queued, self.results, self.texts, self.parts, self.rasters, self.searches, self.searching)

    def of_job(self, job_id: str) -> list[str]:
        """Return every key of a job but those of its responses."""
        before = f"{self.job(job_id)}:history"  # an older release kept there what a retry replaced
        return [self.job(job_id), *(key(job_id) for key in self.parts_of_a_job), before]


KEYS = RedisKeys()
"""The names that an installation uses."""
