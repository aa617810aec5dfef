"""The place of results: how long it is waited for, what its driver raises, whether it takes what is written."""

import logging
import secrets
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from threading import Thread
from typing import Any

import fsspec
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.local import LocalFileSystem

from gigavqa.contract.errors import ResultsUnavailableError
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.extras import install_advice

log = logging.getLogger(__name__)

_SECONDS = 10.0
_S3_WAITS = {"connect_timeout": 3, "read_timeout": 5, "retries": {"total_max_attempts": 1}}
_WRITE_SECONDS = 120.0
_S3_ATTEMPTS = 2  # together some ten seconds; the driver's own, of minutes each, are 25


def open_results(uri: str) -> tuple[Any, str]:
    """Return the file system of an fsspec address, and the path in it.

    A bucket that is away or silent is given up within some ten seconds; FSSPEC_S3_CONFIG_KWARGS sets other waits.
    """
    if not uri.startswith(("s3://", "s3a://")):
        return fsspec.core.url_to_fs(uri)  # type: ignore[no-any-return]
    waits = {**_S3_WAITS, **fsspec.config.conf.get("s3", {}).get("config_kwargs", {})}
    filesystem, root = fsspec.core.url_to_fs(uri, config_kwargs=waits)
    filesystem.retries = _S3_ATTEMPTS
    return filesystem, root


def write_object(filesystem: Any, path: str, content: bytes) -> None:
    """Write what other readers see when it is complete. Raises TimeoutError where a bucket is silent for two minutes.

    A bucket is asked for leave to send first, and its driver would wait for that for ever.
    """
    bound = {"timeout": _WRITE_SECONDS} if isinstance(filesystem, AsyncFileSystem) else {}
    filesystem.pipe_file(path, content, **bound)


@contextmanager
def translate_store_errors() -> Iterator[None]:
    """Raise ResultsUnavailableError where the driver of object stores does not reach one. Decorates, too."""
    try:
        yield
    except _driver_errors() as error:
        told = str(error) or "it says nothing"
        remedy = "start it, or look at RESULTS_URI and AWS_ENDPOINT_URL"
        raise ResultsUnavailableError(f"the results store is not reached: {told}; {remedy}") from error


def results_fault(uri: str) -> Exception | None:
    """Write a small file to where results go, and remove it; returns what went wrong.

    SettingsInvalidError is what waiting does not mend: no bucket, no right, no driver. OSError is a store that is away.
    """
    tried: Future[Exception | None] = Future()
    # A store that hangs must hold up neither the start nor the end of a process.
    Thread(target=lambda: tried.set_result(_try_writing(uri)), daemon=True, name="results").start()
    try:
        return tried.result(_SECONDS)
    except FutureTimeoutError:
        return ResultsUnavailableError(f"RESULTS_URI {uri} does not answer within {_SECONDS:g} s")


def require_results(uri: str) -> None:
    """Raise SettingsInvalidError where results cannot be written, whoever waits; warn of a store that is away."""
    fault = results_fault(uri)
    if isinstance(fault, SettingsInvalidError):
        raise fault
    if fault:
        log.warning("%s; responses stay in the state store meanwhile", fault)


def _try_writing(uri: str) -> Exception | None:
    try:
        with translate_store_errors():
            filesystem, root = open_results(uri)
            path = f"{root}/.trial-{secrets.token_hex(4)}"
            if isinstance(filesystem, LocalFileSystem):
                filesystem.makedirs(root, exist_ok=True)
            filesystem.pipe_file(path, b"gigavqa")
            filesystem.rm_file(path)
    except (ImportError, ValueError) as error:
        return SettingsInvalidError(f"RESULTS_URI {uri}: {error}{_driver_advice(error)}")
    except (FileNotFoundError, PermissionError) as error:
        return SettingsInvalidError(f"RESULTS_URI {uri} cannot be written: {error}; {_advice(error)}")
    except ResultsUnavailableError as error:
        if isinstance(error.__cause__, _credential_errors()):
            return SettingsInvalidError(f"RESULTS_URI {uri} cannot be written: {error.__cause__}; {_CREDENTIALS}")
        return error
    except Exception as error:  # noqa: BLE001 - drivers raise what they like, and the caller is told
        return OSError(f"RESULTS_URI {uri} cannot be written: {error}")
    return None


_CREDENTIALS = "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, elsewhere than at AWS, AWS_ENDPOINT_URL"


def _advice(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "make the bucket, or name one that there is"
    return f"give this user or account the right to read, write, list and delete there; for a bucket {_CREDENTIALS}"


def _driver_advice(error: Exception) -> str:
    return f"; {install_advice('s3')}" if isinstance(error, ImportError) else ""


def _driver_errors() -> tuple[type[Exception], ...]:
    try:
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - where it was raised, it is there
    except ImportError:
        return (TimeoutError,)
    return (TimeoutError, BotoCoreError)


def _credential_errors() -> tuple[type[Exception], ...]:
    try:
        from botocore.exceptions import NoCredentialsError, PartialCredentialsError  # noqa: PLC0415 - the same
    except ImportError:
        return ()
    return (NoCredentialsError, PartialCredentialsError)
