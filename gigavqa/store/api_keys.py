"""API keys with their owner, role, expiry and limits. A digest of each is kept, never the key."""

import hashlib
import hmac
import re
import secrets
import string
import time
from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field, PositiveInt, StringConstraints
from redis.asyncio import Redis

from gigavqa.contract.base import Contract
from gigavqa.contract.errors import KeyInvalidError, KeyNotFoundError
from gigavqa.store.redis_keys import KEYS

Role = Literal["read", "submit", "operate"]
"""What a key is good for, each with what stands before it: to look at what is the owner's, to change it, and all."""

CacheSharing = Literal["owners", "all"]
"""Whether prompts of one owner alone, or of all owners, share what engines keep of their beginnings."""

ROLES: tuple[Role, ...] = get_args(Role)
OwnerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._@-]{1,64}$")]

_PUBLIC_ALPHABET, _PUBLIC_LENGTH = string.ascii_lowercase + string.digits, 8
_SECRET_BYTES = 32  # 43 characters
_KEY_PATTERN = re.compile(r"gvq_([a-z0-9]{8})_[A-Za-z0-9_-]{43}")
_KEY_IN_TEXT = re.compile(r"(gvq_[a-z0-9]{8})_[A-Za-z0-9_-]+")
_EMPTY_DIGEST = hashlib.sha256(b"").hexdigest()  # of no key, whose form is longer
_COARSE_SECONDS = 300.0


class Owner(NamedTuple):
    """Whose a job is, and how much of the queue is his: None for nobody's, and for no bound but the queue's."""

    name: str | None = None
    queued_requests: int | None = None
    waiting_jobs: int | None = None
    interactive_requests: int | None = None


def cache_salt(owner: str | None, sharing: CacheSharing) -> str:
    """Name whose prompts share what engines keep of their beginnings: the owner's own, or '' where all do."""
    if not owner or sharing == "all":
        return ""
    return hashlib.blake2b(owner.encode(), digest_size=16, person=b"cache").hexdigest()


ALL_OWNERS = "*"
"""Stands for all owners where things are looked for; nobody is called so."""

NO_OWNER = Owner()
"""Of a job that was submitted where no keys are asked for."""


class Limits(Contract):
    """The limits of a key; None is no bound but the gateway's own.

    Requests in the queue, jobs that wait and bytes are counted for an owner, over all of his keys; requests a minute
    and open streams for each key.
    """

    queued_requests: PositiveInt | None = Field(default=50_000, description="requests in the queue at a time")
    interactive_requests: PositiveInt | None = Field(
        default=128, description="requests in the queue at a time that go before those of others, chats among them"
    )
    waiting_jobs: PositiveInt | None = Field(default=16, description="large jobs that wait to be queued")
    requests_a_minute: PositiveInt | None = Field(default=600, description="HTTP requests")
    open_streams: PositiveInt | None = Field(
        default=128, description="streams, and chats that are waited for, at a time"
    )
    upload_bytes: PositiveInt | None = Field(default=1 << 30, description="bytes of uploads that are kept")


class ApiKey(Contract):
    """The record of a key: everything but the key."""

    id: str = Field(description="the public part, by which it is found")
    name: str = Field(description="what it is for, in the operator's words")
    owner: OwnerName = Field(description="whose jobs and files are seen and made with it")
    role: Role
    limits: Limits = Limits()
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = Field(default=None, description="to within five minutes")

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """Whether it opens anything now."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= datetime.now(UTC) else "valid"

    def may(self, role: Role) -> bool:
        """Return whether its role has this one in it."""
        return ROLES.index(self.role) >= ROLES.index(role)


class _ApiKeyRecord(ApiKey):
    """A key as it is kept."""

    digest: str = Field(description="SHA-256 of the key: 256 random bits are not found by trying, however fast")


class ApiKeys:
    """The keys of an installation. Those that were revoked stay in the list, and their ids never come again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._touched: dict[str, float] = {}

    async def create(
        self, name: str, owner: str, role: Role, *, limits: Limits | None = None, expires_at: datetime | None = None
    ) -> tuple[str, ApiKey]:
        """Make a key; returns it, which nobody can tell again, and what is known of it. Raises ValidationError."""
        while True:
            public = "".join(secrets.choice(_PUBLIC_ALPHABET) for _ in range(_PUBLIC_LENGTH))
            key = f"gvq_{public}_{secrets.token_urlsafe(_SECRET_BYTES)}"
            kept = _ApiKeyRecord(
                id=public,
                name=name,
                owner=owner,
                role=role,
                limits=limits or Limits(),
                created_at=datetime.now(UTC),
                expires_at=expires_at,
                digest=_digest(key),
            )
            if await self._redis.hsetnx(KEYS.api_keys(), public, kept.model_dump_json()):
                return key, _public_key(kept)

    async def find(self, presented: str) -> ApiKey:
        """Return the key that somebody presents; raises KeyInvalidError.

        The state store is asked each time, so a revocation holds from the next request on. Nobody learns from the time
        that it takes, nor from the answer, whether there is a key of this id: for one that is not there as much is
        done.
        """
        form = _KEY_PATTERN.fullmatch(presented)
        if not form:
            raise KeyInvalidError("what was sent is no key of this service; keys look like gvq_........_...")
        text = await self._redis.hget(KEYS.api_keys(), form.group(1))
        kept = _ApiKeyRecord.model_validate_json(text) if text else None
        is_right = hmac.compare_digest(_digest(presented), kept.digest if kept else _EMPTY_DIGEST)
        if not kept or not is_right:
            raise KeyInvalidError("there is no such key")
        if kept.state != "valid":
            raise KeyInvalidError(f"the key gvq_{kept.id} is {kept.state}; ask the operator for another one")
        await self._touch(kept.id)
        return _public_key(kept)

    async def recall(self, key_id: str) -> ApiKey | None:
        """Return a key that was found before, if it is still good."""
        text = await self._redis.hget(KEYS.api_keys(), key_id)
        kept = _ApiKeyRecord.model_validate_json(text) if text else None
        return _public_key(kept) if kept and kept.state == "valid" else None

    async def list(self) -> list[ApiKey]:
        """Return every key that was ever made, oldest first."""
        used = {key_id: int(at) for key_id, at in (await self._redis.hgetall(KEYS.api_keys_used())).items()}
        found = [
            _public_key(_ApiKeyRecord.model_validate_json(text), used.get(key_id))
            for key_id, text in (await self._redis.hgetall(KEYS.api_keys())).items()
        ]
        return sorted(found, key=lambda key: key.created_at)

    async def any_valid(self) -> bool:
        """Return whether there is a key that opens anything."""
        return any(key.state == "valid" for key in await self.list())

    async def revoke(self, key_id: str) -> ApiKey:
        """Make a key worthless for good; one that is revoked already stays as it is. Raises KeyNotFoundError."""
        text = await self._redis.hget(KEYS.api_keys(), key_id)
        if not text:
            raise KeyNotFoundError(f"there is no key {key_id}")
        kept = _ApiKeyRecord.model_validate_json(text)
        if not kept.revoked_at:
            kept = kept.model_copy(update={"revoked_at": datetime.now(UTC)})
            await self._redis.hset(KEYS.api_keys(), key_id, kept.model_dump_json())
        return _public_key(kept)

    async def _touch(self, key_id: str) -> None:
        now = time.monotonic()
        if now - self._touched.get(key_id, -_COARSE_SECONDS) >= _COARSE_SECONDS:
            self._touched[key_id] = now
            await self._redis.hset(KEYS.api_keys_used(), key_id, int(time.time()))


def key_id_of(text: str) -> str:
    """Return the id in what a user calls a key: itself, `gvq_ID`, or a whole key."""
    return text.removeprefix("gvq_")[:_PUBLIC_LENGTH]


def redact_keys(text: str) -> str:
    """Return a text without what makes a key of the keys in it: clients send them in the wrong places."""
    return _KEY_IN_TEXT.sub(r"\1_...", text)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _public_key(kept: _ApiKeyRecord, used: int | None = None) -> ApiKey:
    last_used_at = datetime.fromtimestamp(used, UTC) if used is not None else None
    shared = {name: getattr(kept, name) for name in ApiKey.model_fields}
    return ApiKey.model_construct(**{**shared, "last_used_at": last_used_at})
