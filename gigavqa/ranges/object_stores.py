"""The way to objects in the stores of Amazon, Google and Azure: addresses signed by environment or profile.

The stores' own clients follow redirects wherever they lead, credentials in their headers; so they only
sign.
"""

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from cachetools import TTLCache

from gigavqa.ranges.attempts import CONNECT_SECONDS, SILENT_SECONDS, TransientFaultError
from gigavqa.runtime.extras import install_advice
from gigavqa.tiling.errors import ImageAddressError, ImageUnavailableError, quote_text
from gigavqa.tiling.remote.addresses import without_secrets

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

_MOST_TOLD = 200
_SIGNED = timedelta(minutes=15)
_KEPT_SECONDS = 240.0  # credentials are renewed when they have five minutes left
_MOST_KEPT = 4096
_UNSIGNED = {"access_key_id": "none", "secret_access_key": "none", "skip_signature": False}
_PLACES = {
    "s3": "AWS_REGION and AWS_ENDPOINT_URL say where its bucket is",
    "gs": "`gcs_base_url` of the service account's file says where its bucket is",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ENDPOINT say where its container is",
}


class ObjectStores:
    """A Route to objects, with one store for each bucket. Stores are called where the environment says, and lead to
    nowhere else.
    """

    refusal = "; credentials come from the environment or a profile, and need the right to read it"

    def __init__(self) -> None:
        self._stores: dict[tuple[str, str], S3Store | GCSStore | AzureStore] = {}
        self._signed: TTLCache[str, str] = TTLCache(_MOST_KEPT, _KEPT_SECONDS)

    async def begin(self, url: str) -> str:
        """Return an address with a signature of a quarter of an hour. Raises TransientFaultError, too."""
        if url not in self._signed:
            self._signed[url] = await self._sign(url)
        return self._signed[url]

    def follow(self, url: str, leads: str) -> str:
        """Follow no redirect: it would be given the signature of another server."""
        try:
            parts = urlsplit(leads)
            place = quote_text(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        except ValueError:
            place = "no address"
        raise ImageAddressError(
            f"{url}: its store redirects to {place}, and redirects of stores are not followed; "
            f"{_PLACES[urlsplit(url).scheme]}"
        )

    def may_call(self, host: str | None, address: str) -> bool:
        """Return True: the environment says where stores are."""
        return True

    async def _sign(self, url: str) -> str:
        parts = urlsplit(url)
        key = parts.scheme, parts.netloc
        if key not in self._stores:
            self._stores[key] = _open_store(*key)
        import obstore  # noqa: PLC0415 - the extra `remote`
        from obstore.exceptions import BaseError  # noqa: PLC0415

        try:
            store, path = self._stores[key], unquote(parts.path.lstrip("/"))
            signed: str = await obstore.sign_async(store, "GET", path, _SIGNED)
        except (BaseError, ValueError) as error:
            raise TransientFaultError(f"its address cannot be signed: {_told(error)}{self.refusal}") from error
        return signed.partition("?")[0] if parts.scheme == "s3" and _is_public_bucket() else signed


def _open_store(scheme: str, bucket: str) -> "S3Store | GCSStore | AzureStore":
    try:
        from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 - the extra `remote`
    except ImportError as error:
        raise ImageAddressError(
            f"images in object stores need the extra `remote`: {install_advice('remote')}"
        ) from error
    options: Any = {  # of the calls for credentials
        "client_options": {
            "timeout": timedelta(seconds=SILENT_SECONDS),
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
            "allow_http": True,  # where the environment says so: nothing else is called
        },
        "retry_config": {"max_retries": 0, "retry_timeout": timedelta(seconds=SILENT_SECONDS)},
    }
    try:
        if scheme == "s3":
            return S3Store(bucket, **options, **(_UNSIGNED if _is_public_bucket() else _profile()))
        return GCSStore(bucket, **options) if scheme == "gs" else AzureStore(bucket, **options)
    except Exception as error:
        raise ImageUnavailableError(f"{scheme}://{bucket}: it cannot be opened: {_told(error)}") from error


def _is_public_bucket() -> bool:
    return os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in {"1", "true", "on", "yes", "y"}


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


def _told(error: Exception) -> str:
    told = str(error).partition("Debug source")[0]
    return " ".join(without_secrets(told).split())[:_MOST_TOLD].strip()
