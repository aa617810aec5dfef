"""Ranges of objects in the stores of Amazon, Google and Azure, with the credentials of environment or profile."""

import os
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from gigavqa.ranges.attempts import CONNECT_SECONDS, SILENT_SECONDS, TransientFaultError, replaced_error
from gigavqa.runtime.extras import install_advice
from gigavqa.tiling.errors import (
    ImageAddressError,
    ImageNotFoundError,
    ImageUnavailableError,
    ImageUnreadableError,
)
from gigavqa.tiling.remote.addresses import without_secrets
from gigavqa.tiling.remote.reader import RemoteHead, RemoteVersion

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_MOST_TOLD = 200
_TRY_SECONDS = 30.0


class ObjectRanges:
    """Reads objects, with one store for each bucket."""

    def __init__(self) -> None:
        self._stores: dict[tuple[str, str], ObjectStore] = {}

    async def look(self, url: str, num_bytes: int) -> RemoteHead:
        """Find out which version there is, and read its first bytes."""
        found, data = await self._get(url, {"range": (0, num_bytes)})
        size = int(found["size"])
        if not size:
            raise ImageUnreadableError(f"{url}: the file is empty")
        _require_length(data, min(size, num_bytes))
        return RemoteHead(RemoteVersion(url, size, _tag(url, found)), data)

    async def read(self, version: RemoteVersion, start: int, stop: int) -> bytes:
        """Read a range of a version."""
        kind, _, tag = version.tag.partition(":")
        condition = {"version": tag} if kind == "version" else {"if_match": tag}
        found, data = await self._get(version.url, {"range": (start, stop), **condition})
        if (_tag(version.url, found), int(found["size"])) != (version.tag, version.size):
            raise replaced_error(version.url)
        _require_length(data, stop - start)
        return data

    async def pieces(self, version: RemoteVersion) -> AsyncIterator[bytes]:
        """Object stores give ranges, and nothing is read whole."""
        raise ImageUnavailableError(f"{version.url}: its store gives no ranges")
        yield b""

    async def _get(self, url: str, options: Any) -> tuple[Any, bytes]:
        store, path = self._store(url), unquote(urlsplit(url).path.lstrip("/"))
        import obstore  # noqa: PLC0415 - the extra `remote`
        from obstore import exceptions  # noqa: PLC0415

        try:
            result = await obstore.get_async(store, path, options=options)
            return result.meta, bytes(await result.bytes_async())
        except (exceptions.NotFoundError, FileNotFoundError) as error:
            raise ImageNotFoundError(f"{url}: there is no such object") from error
        except exceptions.PreconditionError as error:
            raise replaced_error(url) from error
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError, PermissionError) as error:
            raise ImageUnavailableError(
                f"{url}: its store refuses it; credentials come from the environment or a profile, and need the right "
                "to read it"
            ) from error
        except exceptions.BaseError as error:
            raise TransientFaultError(_told(error)) from error

    def _store(self, url: str) -> "ObjectStore":
        parts = urlsplit(url)
        key = parts.scheme, parts.netloc
        if key not in self._stores:
            self._stores[key] = _open_store(*key)
        return self._stores[key]


def _open_store(scheme: str, bucket: str) -> "ObjectStore":
    try:
        from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 - the extra `remote`
    except ImportError as error:
        raise ImageAddressError(
            f"images in object stores need the extra `remote`: {install_advice('remote')}"
        ) from error
    options: Any = {
        "client_options": {
            "timeout": timedelta(seconds=_TRY_SECONDS),
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
            "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
        },
        "retry_config": {"max_retries": 0, "retry_timeout": timedelta(seconds=SILENT_SECONDS)},
    }
    try:
        if scheme == "s3":
            return S3Store(bucket, **options, **_profile())
        return GCSStore(bucket, **options) if scheme == "gs" else AzureStore(bucket, **options)
    except Exception as error:
        raise ImageUnavailableError(f"{scheme}://{bucket}: it cannot be opened: {_told(error)}") from error


def _profile() -> dict[str, Any]:
    """Return what gives the credentials of a profile, where one is named and no key is in the environment."""
    if not os.environ.get("AWS_PROFILE") or os.environ.get("AWS_ACCESS_KEY_ID"):
        return {}
    try:
        from botocore.session import Session  # noqa: PLC0415 - the extra `s3`
    except ImportError as error:
        raise ImageAddressError(f"AWS_PROFILE needs the extra `s3`: {install_advice('s3')}") from error
    session = Session()

    def credentials() -> Any:
        found = session.get_credentials()
        if found is None:
            raise ValueError("the profile of AWS_PROFILE has no credentials")
        key = found.get_frozen_credentials()
        named = {"access_key_id": key.access_key, "secret_access_key": key.secret_key, "expires_at": None}
        return named | ({"token": key.token} if key.token else {})

    return {"credential_provider": credentials, "region": session.get_config_variable("region") or "us-east-1"}


def _tag(url: str, found: Any) -> str:
    if found.get("version"):
        return f"version:{found['version']}"
    if found.get("e_tag"):
        return f"etag:{found['e_tag']}"
    raise ImageUnavailableError(f"{url}: its store says neither version nor ETag, so that a change is not noticed")


def _require_length(data: bytes, num_bytes: int) -> None:
    if len(data) != num_bytes:
        raise TransientFaultError(f"it gives {len(data)} of {num_bytes} bytes")


def _told(error: Exception) -> str:
    told = str(error).partition("Debug source")[0]
    return " ".join(without_secrets(told).split())[:_MOST_TOLD].strip()
