"""Say why the state store at REDIS_URL does not serve: away, of another kind, unfit, or refusing who asks."""

import logging
import re
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    InvalidResponse,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from gigavqa.runtime.errors import StateStoreRefusedError, StateStoreUnavailableError
from gigavqa.store.redis_keys import KEYS

log = logging.getLogger(__name__)

_SECONDS = 5.0
_REFUSALS = (AuthenticationError, AuthorizationError, NoPermissionError, InvalidResponse)
_CLUSTER = "names a node of a cluster, over which jobs are not spread; name a server that stands alone"
_NO_RIGHT = "names a user who may not do all that gigavqa does: {}; docs/operating.md has the user's rights to copy"


async def require_answer(url: str) -> None:
    """Raise StateStoreUnavailableError where no state store at `url` answers this user, or it cannot keep jobs.

    What it hides by its access lists is not looked at.
    """
    async with _answering(url) as redis:
        if fault := _replica_fault(await _ask(redis)):
            raise StateStoreRefusedError(f"REDIS_URL names {fault}")


async def require_usable(url: str) -> None:
    """Look at the state store at `url` once, and warn of what could lose jobs; one that is away is passed over.

    Raises StateStoreRefusedError.
    """
    try:
        info = await read_info(url)
    except StateStoreRefusedError:
        raise
    except StateStoreUnavailableError as error:
        log.warning("%s; waiting for it", error)
        return
    for risk in read_risks(info):
        log.warning("%s", risk.sentence)


async def read_info(url: str) -> Mapping[str, Any]:
    """Return what the state store at `url` tells of itself, nothing where its user may not ask.

    Tries a key, a script and a channel, as gigavqa uses them all the time. Raises StateStoreUnavailableError.
    """
    async with _answering(url) as redis:
        info = await _ask(redis)
        await redis.exists(KEYS.outstanding())
        await redis.eval("return 1", 0)
        await redis.publish(KEYS.listener("rights"), b"")
    return info


async def _ask(redis: Redis) -> Mapping[str, Any]:
    """Return what a state store tells of itself. Raises StateStoreRefusedError for one that cannot keep jobs."""
    connection = await redis.connection_pool.get_connection()
    try:
        info = await read_connection_info(connection)
    finally:
        await redis.connection_pool.release(connection)
    require_fit(info)
    await redis.ping()  # which one that still loads its data refuses
    return info


async def read_connection_info(connection: Any) -> Mapping[str, Any]:
    """Ask what the state store is, by INFO, or where that is forbidden its policy alone, by CONFIG."""
    for command in (("INFO",), ("CONFIG", "GET", "maxmemory-policy")):
        try:
            await connection.send_command(*command, check_health=False)
            reply = await connection.read_response()
        except NoPermissionError:
            continue
        if isinstance(reply, list):
            return {"maxmemory_policy": reply[1].decode()} if reply else {}
        return dict(re.findall(r"^(\w+):(.*?)\r?$", reply.decode(), re.MULTILINE))
    return {}


def require_fit(info: Mapping[str, Any]) -> None:
    """Raise StateStoreRefusedError where jobs cannot be kept on a server that tells this of itself."""
    if info.get("redis_mode") == "sentinel":
        raise StateStoreRefusedError(
            "REDIS_URL names a Sentinel, which keeps no jobs; name the primary that it watches (`redis-cli -p PORT "
            "sentinel get-master-addr-by-name NAME`), or a proxy that follows it"
        )
    if str(info.get("cluster_enabled", 0)) != "0":
        raise StateStoreRefusedError(f"REDIS_URL {_CLUSTER}")
    if (policy := info.get("maxmemory_policy", "noeviction")) != "noeviction":
        raise StateStoreRefusedError(
            f"the state store's maxmemory-policy is {policy}, so jobs and responses vanish when memory is full; "
            "set `maxmemory-policy noeviction`"
        )


class StoreRisk(NamedTuple):
    """A way in which a state store that serves could lose jobs, by a short name, and what to do about it."""

    name: str
    sentence: str


NO_FILE = StoreRisk(
    "append-only",
    "the state store has no append-only file, so that its crash loses jobs; set `appendonly yes`",
)
HIDDEN_POLICY = StoreRisk(
    "policy",
    "the state store hides its maxmemory-policy; it must be noeviction, or jobs can be lost; give its user `+info`",
)
RISKS = (NO_FILE, HIDDEN_POLICY)


def read_risks(info: Mapping[str, Any]) -> tuple[StoreRisk, ...]:
    """Return the risks of a state store that tells this of itself; nothing where INFO is forbidden."""
    if "maxmemory_policy" not in info:
        return (HIDDEN_POLICY,)
    return (NO_FILE,) if str(info.get("aof_enabled", 0)) == "0" else ()


@contextmanager
def described_store_errors() -> Iterator[None]:
    """Raise StateStoreUnavailableError, in words that help, for what a client of the state store raises."""
    try:
        yield
    except RedisError as error:
        if is_refusal(error):
            raise refusal(error) from error
        raise StateStoreUnavailableError(f"REDIS_URL {describe_fault(error)}") from error


def is_refusal(error: BaseException) -> bool:
    """Return whether an error says that the address, the user or the certificate is wrong: waiting does not help."""
    causes = (error, error.__cause__, error.__context__)
    return (
        isinstance(error, _REFUSALS)
        or any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes)
        or (isinstance(error, ResponseError) and bool(_REFUSED.search(str(error))))
    )


def refusal(error: BaseException) -> StateStoreRefusedError:
    """Describe an error that is one."""
    return StateStoreRefusedError(f"REDIS_URL {describe_fault(error)}")


@asynccontextmanager
async def _answering(url: str) -> AsyncIterator[Redis]:
    redis = Redis.from_url(url, protocol=2, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
    try:
        with described_store_errors():
            yield redis
    except OSError as error:
        raise StateStoreUnavailableError(f"REDIS_URL {describe_fault(error)}") from error
    finally:
        await redis.aclose()


def _replica_fault(info: Mapping[str, Any]) -> str | None:
    if info.get("role") != "slave" or str(info.get("slave_read_only", 1)) == "0":
        return None
    primary = f"{info.get('master_host')}:{info.get('master_port')}"
    return f"a replica, which takes no jobs; name its primary, {primary}"


def describe_fault(error: BaseException) -> str:
    """Tell what an error says of the address, and what helps."""
    said = " ".join(str(cause) for cause in (error, error.__cause__, error.__context__) if cause)
    for signs, sentence in _SENTENCES:
        if any(sign in said for sign in signs):
            return sentence.format(str(error).rstrip("."))
    if isinstance(error, InvalidResponse):
        return "names a server that is no Redis or Valkey, or that speaks TLS (rediss://)"
    if isinstance(error, BusyLoadingError):
        return f"names a server that is loading its data: {error}"
    if isinstance(error, ResponseError):
        return f"is answered with an error: {error}"
    return f"does not answer: {error}; start it, or unset REDIS_URL"


_REFUSED = re.compile(r"DB index|invalid DB|executing the script can't run|^MOVED |no Redis")
_SENTENCES = (
    (
        (
            "NOAUTH",
            "WRONGPASS",
            "invalid username-password",
            "Authentication required",
            "invalid password",
            "already authenticated",
        ),
        "is refused: {}; write the right user and password, redis://USER:PASSWORD@HOST, signs such as @ : / as %40 "
        "%3A %2F",
    ),
    (("NOPERM", "has no permissions", "executing the script can't run"), _NO_RIGHT),
    (
        ("MOVED ", "cluster support", "cluster mode"),
        _CLUSTER,
    ),
    (("DB index", "invalid DB"), "names a database that the server does not have: {}; end it with /0"),
    (
        ("CERTIFICATE_VERIFY_FAILED",),
        "names a server whose certificate is not trusted: {}; name its authority, "
        "rediss://HOST?ssl_ca_certs=/path/to/ca.pem, and the server by a name that its certificate has",
    ),
    (
        ("SSL", "ssl", "certificate"),
        "has no TLS in common with the server: {}; write rediss:// where it speaks TLS, redis:// elsewhere",
    ),
    (
        ("reset by peer", "closed by server", "Timeout"),
        "breaks off: {}; where its port speaks TLS the address begins with rediss://, elsewhere with redis://",
    ),
    (("Protocol Error",), "names a server that is no Redis or Valkey, or that speaks TLS (rediss://)"),
)
"""By what an error says: what is told of the address."""
