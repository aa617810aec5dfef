"""Keys of a running gateway, and clients that present them."""

import asyncio
from datetime import datetime
from typing import Any

import httpx

from gigavqa.store.api_keys import ApiKey, ApiKeys, Limits, Role
from gigavqa.store.connection import connect
from tests.service.datasets import NAME
from tests.service.gateways import MODEL, TLS, RunningGateway

BODY = {"dataset": NAME, "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}
"""A job of four requests."""


def make_key(
    redis_url: str, owner: str, role: Role = "submit", *, expires_at: datetime | None = None, **limits: Any
) -> tuple[str, ApiKey]:
    """Make a key as `gigavqa admin keys create` does."""

    async def make() -> tuple[str, ApiKey]:
        redis = connect(redis_url)
        made = await ApiKeys(redis).create("test", owner, role, limits=Limits(**limits), expires_at=expires_at)
        await redis.aclose()
        return made

    return asyncio.run(make())


def revoke(redis_url: str, key_id: str) -> None:
    """Revoke a key as `gigavqa admin keys revoke` does."""

    async def act() -> None:
        redis = connect(redis_url)
        await ApiKeys(redis).revoke(key_id)
        await redis.aclose()

    asyncio.run(act())


class Tenant(httpx.Client):
    """A client of a gateway that presents a key of its own."""

    def __init__(self, gateway: RunningGateway, owner: str, role: Role = "submit", **limits: Any) -> None:
        key, self.key = make_key(gateway.redis_url, owner, role, **limits)
        super().__init__(base_url=gateway.url, timeout=30, verify=TLS, headers={"Authorization": f"Bearer {key}"})
        self.owner = owner

    def submit(self, headers: dict[str, str] | None = None, **changes: Any) -> httpx.Response:
        """Submit a job of the town."""
        return self.post("/v1/jobs", json={**BODY, **changes}, headers=headers)
