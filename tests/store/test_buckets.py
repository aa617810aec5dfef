"""A bucket that results cannot be written to is told from one that is away, by what an S3-speaking server says."""

import os
import socket
from collections.abc import Iterator
from time import monotonic

import httpx
import pytest

from gigavqa.contract.errors import ResultsUnavailableError
from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.store import object_stores
from gigavqa.store.object_stores import results_fault
from gigavqa.store.parquet_parts import PartStore
from tests.store.s3_server import s3_server

pytestmark = pytest.mark.slow

_NAMES = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE")
_URI = "s3://answers/gigavqa"


@pytest.fixture
def store() -> Iterator[str]:
    """The address of moto's server, named to the driver with credentials; no instance is kept by fsspec."""
    s3fs = pytest.importorskip("s3fs")
    with s3_server() as url:
        os.environ.update(dict(zip(_NAMES, (url, "operator", "secret", "us-east-1", os.devnull), strict=True)))
        s3fs.S3FileSystem.clear_instance_cache()
        yield url
    for name in _NAMES:
        del os.environ[name]
    s3fs.S3FileSystem.clear_instance_cache()


def test_a_bucket_is_missing_until_it_is_made_and_refuses_accounts_that_it_does_not_know(store: str) -> None:
    """Each fault is one sentence about a setting; nothing of the trial is left."""
    s3fs = pytest.importorskip("s3fs")
    fault = results_fault(_URI)
    assert isinstance(fault, SettingsInvalidError)
    assert "make the bucket" in str(fault)
    bucket = s3fs.S3FileSystem()
    bucket.mkdir("answers")
    assert results_fault(_URI) is None
    bucket.invalidate_cache()
    assert bucket.find("answers") == []
    httpx.post(f"{store}/moto-api/reset-auth", content=b"0").raise_for_status()  # from here on it knows nobody
    fault = results_fault(_URI)
    assert isinstance(fault, SettingsInvalidError)
    assert "AWS_ACCESS_KEY_ID" in str(fault)


def test_credentials_that_are_not_set_are_a_setting_too(store: str) -> None:
    """Waiting would not mend it."""
    del os.environ["AWS_ACCESS_KEY_ID"]
    fault = results_fault(_URI)
    os.environ["AWS_ACCESS_KEY_ID"] = "operator"
    assert isinstance(fault, SettingsInvalidError)
    assert "Unable to locate credentials" in str(fault)


def test_a_store_that_is_away_is_waited_for(store: str) -> None:
    """It is no fault of the settings."""
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{free_port('127.0.0.1')}"
    assert isinstance(results_fault(_URI), ResultsUnavailableError)


@pytest.mark.parametrize(("silent", "seconds"), [(False, 5), (True, 20)])
def test_a_bucket_that_does_not_answer_is_given_up_in_some_ten_seconds(silent: bool, seconds: float) -> None:
    """Also one that takes connections and says nothing, and a write; the sentence names what to look at."""
    pytest.importorskip("s3fs")
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name, value in zip(_NAMES, (url, "operator", "secret", "us-east-1", os.devnull), strict=True):
            patch.setenv(name, value)
        if not silent:
            server.close()
        parts, began = PartStore(f"{_URI}/{silent}"), monotonic()
        with pytest.raises(ResultsUnavailableError, match="look at RESULTS_URI and AWS_ENDPOINT_URL"):
            parts.read("job", "part-1", None)
        patch.setattr(object_stores, "_WRITE_SECONDS", 1.0)
        with pytest.raises(ResultsUnavailableError, match="look at RESULTS_URI and AWS_ENDPOINT_URL"):
            parts.put("job", "part-1", b"PAR1")
        assert monotonic() - began < seconds
