"""Lease bundles: what is damaged is passed over, and on probation what killed workers is found."""

import logging
from collections.abc import Sequence
from functools import partial

from zstandard import ZstdError

from gigavqa.contract.codec import decompress
from gigavqa.contract.leases import Lease
from gigavqa.contract.schema_versions import read_bundle
from gigavqa.store.crashes import CrashHistory
from gigavqa.store.lua_scripts import (
    ClaimedEntry,
    ClaimRequest,
    EntryRef,
    LuaScripts,
    QueueStream,
)
from gigavqa.store.queue_lanes import AFFINITY_PRIORITY, QueueLanes
from gigavqa.store.redis_keys import KEYS, PRIORITIES
from gigavqa.store.results import ResultStore

log = logging.getLogger(__name__)


class BundleClaims:
    """Claims of bundles by workers."""

    def __init__(self, calls: LuaScripts, lanes: QueueLanes, results: ResultStore) -> None:
        self._calls = calls
        self._lanes = lanes
        self._results = results

    async def run(self, models: Sequence[str], worker: str, wanted: ClaimRequest) -> tuple[bool, list[Lease]]:
        """Lease bundles once; returns whether there may be more to lease at once, and the leases."""
        lanes = [
            QueueStream(
                KEYS.queue(model, priority),
                KEYS.probation(model),
                model if priority == AFFINITY_PRIORITY else "",
            )
            for priority in PRIORITIES
            for model in models
        ]
        more, claimed = await self._lanes.with_groups(models, partial(self._calls.claim, worker, wanted, lanes))
        leases = [lease for one in claimed if (lease := await self._read(one, worker, wanted.probation))]
        return more or len(leases) < len(claimed), leases

    async def _read(self, claimed: ClaimedEntry, worker: str, probation: bool) -> Lease | None:
        """Return the lease of a bundle; what is lost or damaged is passed over, so that nothing beside it waits."""
        try:
            return _make_lease(claimed, worker, probation)
        except (ZstdError, ValueError) as error:
            job_id, bundle_id = claimed.job_id.decode(), claimed.bundle_id.decode()
            held = EntryRef(worker, claimed.lane.decode(), claimed.entry_id.decode())
            await self._calls.pass_over(held, job_id=job_id, bundle_id=bundle_id)
            log.error("job %s: bundle %s is passed over: %s; cancel the job and retry it", job_id, bundle_id, error)
            return None

    async def from_probation(self, models: Sequence[str], worker: str, wanted: ClaimRequest) -> list[Lease]:
        """Lease a bundle on probation of which a request is not to blame yet; none where there is none."""
        more = True
        while more:
            more, leases = await self.run(models, worker, wanted._replace(slots=1, probation=True))
            if leases and await self._judge(leases[0]):
                return leases
            more = more or bool(leases)
        return []

    async def _judge(self, lease: Lease) -> bool:
        """Record what has killed the workers of a bundle on probation; False when no request of it is left."""
        if lease.deliveries == 1:
            return True
        suspicion = CrashHistory.of(lease)
        for request in suspicion.blamed(lease):
            await self._results.record(suspicion.response(lease, request), lease)
        ids = [request.id for request in lease.bundle.requests]
        return len(await self._results.recorded(lease.job_id, ids)) < len(ids)


def _require_payload(payload: bytes | None) -> bytes:
    if payload is None:
        raise ValueError("its requests are gone")
    return payload


def _make_lease(claimed: ClaimedEntry, worker: str, probation: bool) -> Lease:
    return Lease(
        bundle=read_bundle(decompress(_require_payload(claimed.payload))),
        attempt=int(claimed.crashes) + claimed.deliveries,
        probation=probation,
        queued_seconds=max(0, claimed.queued_ms) / 1000,
        worker=worker,
        stream=claimed.lane.decode(),
        entry_id=claimed.entry_id.decode(),
        deliveries=claimed.deliveries,
        mark=claimed.mark.decode(),
    )
