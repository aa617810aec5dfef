"""Webhooks: a job's end told to an address of the client's, signed as Standard Webhooks says, at least once."""

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Collection
from typing import Annotated
from urllib.parse import SplitResult

import httpx
from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field, field_validator

from gigavqa.contract.errors import JobNotFoundError
from gigavqa.contract.jobs import Job
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.runtime.public_addresses import (
    NO_COOKIES,
    AddressRefusedError,
    certificates,
    is_public,
    parse_url,
    pinned_request_arguments,
    resolve,
)
from gigavqa.service.errors import ForeignOriginError, MediaTypeUnsupportedError, SubmissionInvalidError
from gigavqa.service.http import examples
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import JobId, Registry, component
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.webhooks import DueWebhook, Webhook, WebhookStore

router = APIRouter(prefix="/v1/jobs/{job_id}/webhook", tags=["results"])
log = logging.getLogger(__name__)

PAUSES = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Seconds behind each attempt that failed, as Standard Webhooks recommends; then the webhook is given up."""
LOOK_SECONDS = 1.0
_CALL_SECONDS = 15.0
_LEASE_SECONDS = 60.0  # a gateway that dies leaves the call to another: decision 0016
_PREFIX = "whsec_"


class WebhookRequest(BaseModel):
    """The address that a job's end is sent to, and the secret that signs it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(max_length=2000, pattern=r"^https?://[^\s@]+$", examples=["https://example.org/hooks/gigavqa"])
    secret: str = Field(max_length=200, description="`whsec_` and 24 to 64 bytes in base64; it is never shown again")

    @field_validator("secret")
    @classmethod
    def _is_a_key(cls, secret: str) -> str:
        try:
            key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            key = b""
        if not secret.startswith(_PREFIX) or not 24 <= len(key) <= 64:
            raise ValueError("must be whsec_ and 24 to 64 bytes in base64")
        return secret


class WebhookCard(BaseModel):
    """The address that a job's end is sent to."""

    job_id: str
    url: str


class Webhooks:
    """Keeps webhooks, and tells of jobs that have ended; what fails is tried again, also after a restart."""

    def __init__(
        self,
        store: WebhookStore,
        registry: JobRegistry,
        hosts: Collection[str],
        instrumentation: GatewayInstrumentation,
    ) -> None:
        self._store = store
        self._registry = registry
        self._hosts = frozenset(hosts)
        self._counted = instrumentation.webhooks

    async def put(self, job_id: str, asked: WebhookRequest) -> None:
        """Keep a job's webhook; raises SubmissionInvalidError for an address that is not called."""
        try:
            await self._address(asked.url)
        except AddressRefusedError as error:
            raise SubmissionInvalidError(f"{error}; the operator lists hosts in GIGAVQA_WEBHOOK_HOSTS") from error
        await self._store.put(job_id, Webhook(url=asked.url, secret=asked.secret))

    async def run(self) -> None:
        """Tell what is due, again and again; to be run again when it fails."""
        async with httpx.AsyncClient(
            timeout=_CALL_SECONDS, follow_redirects=False, trust_env=False, cookies=NO_COOKIES, verify=certificates()
        ) as client:
            while True:
                due = await self._store.take_due(_LEASE_SECONDS)
                statuses = await asyncio.gather(*(self._registry.status(one.job_id) for one in due))
                found = list(zip(due, statuses, strict=True))
                await self._store.look_again((one for one, at in found if at and not at.final), LOOK_SECONDS)
                await asyncio.gather(*(self._tell(client, one) for one, at in found if at is None or at.final))
                await asyncio.sleep(LOOK_SECONDS)

    async def _tell(self, client: httpx.AsyncClient, due: DueWebhook) -> None:
        try:
            job = await self._registry.get(due.job_id)
        except JobNotFoundError:
            await self._store.forget(due)
            return
        if why := await self._call(client, due.webhook, job):
            await self._failed(due, why)
        else:
            await self._store.forget(due)
            self._counted.labels("told").inc()

    async def _failed(self, due: DueWebhook, why: str) -> None:
        attempts = due.webhook.attempts
        if attempts < len(PAUSES):
            await self._store.put_off(due, PAUSES[attempts], attempts=attempts + 1)
            self._counted.labels("put off").inc()
        else:
            await self._store.forget(due)
            self._counted.labels("given up").inc()
        log.warning("webhook of job %s, attempt %d: %s", due.job_id, attempts + 1, why)

    async def _call(self, client: httpx.AsyncClient, webhook: Webhook, job: Job) -> str:
        """Tell of a job; returns why it could not be told, or nothing."""
        content = _payload(job)
        try:
            target = pinned_request_arguments(*await self._address(webhook.url))
            headers = {**target.pop("headers"), **signature_headers(webhook.secret, _message_id(job), content)}
            async with (
                asyncio.timeout(_CALL_SECONDS),
                client.stream("POST", content=content, headers=headers, **target) as answer,
            ):
                return "" if answer.is_success else f"answers {answer.status_code}"
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, AddressRefusedError) as error:
            return str(error) or type(error).__name__

    async def _address(self, url: str) -> tuple[SplitResult, str]:
        parts = parse_url(url)
        return parts, await resolve(parts, is_public if parts.hostname not in self._hosts else lambda _: True)


def signature_headers(secret: str, message_id: str, content: bytes, timestamp: int | None = None) -> dict[str, str]:
    """Return the headers of a message.

    Its id, which every attempt has, the time, and the HMAC-SHA256 over all three.
    """
    at = int(time.time()) if timestamp is None else timestamp
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    digest = hmac.new(key, f"{message_id}.{at}.".encode() + content, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _message_id(job: Job) -> str:
    ended = int(job.finished_at.timestamp() * 1000) if job.finished_at else 0
    return f"msg_{job.id}_{ended}"


def _payload(job: Job) -> bytes:
    told = job.model_dump(mode="json", include={"id", "status", "request_counts", "created_at", "finished_at"})
    ended = job.finished_at.isoformat() if job.finished_at else None
    return json.dumps({"type": f"job.{job.status}", "timestamp": ended, "data": told}).encode()


CurrentWebhooks = Annotated[Webhooks, component(Webhooks)]


@router.put(
    "",
    summary="Have a job's end told",
    responses={
        200: example(examples.WEBHOOK),
        **problem_responses(
            JobNotFoundError,
            SubmissionInvalidError,
            ForeignOriginError,
            MediaTypeUnsupportedError,
            StateStoreUnavailableError,
            body=True,
        ),
    },
)
async def put_webhook(
    registry: Registry, webhooks: CurrentWebhooks, job_id: JobId, asked: Annotated[WebhookRequest, Body()]
) -> WebhookCard:
    """Post to an address when the job has ended, at once if it has: signed, and again until it is taken.

    It replaces the one before. A job that is retried after its end was told has to be given it again.
    """
    await registry.get(job_id)
    await webhooks.put(job_id, asked)
    return WebhookCard(job_id=job_id, url=asked.url)
