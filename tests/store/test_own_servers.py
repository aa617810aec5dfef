"""What is wrong with an operator's server is said at once, in one sentence: no waiting would mend it."""

import logging
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from gigavqa.runtime.errors import SettingsInvalidError, StateStoreRefusedError
from gigavqa.store.connection import connect
from gigavqa.store.reachability import require_usable
from tests.store.own_servers import make_certificates, redis_server

PASSWORD, IN_URL = "p@s:s/", "p%40s%3As%2F"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """An authority of one's own, and what a server of it needs."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def port(certificates: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server with TLS and users."""
    _, certificate, key = certificates
    lines = (
        f"tls-cert-file {certificate}",
        f"tls-key-file {key}",
        f"tls-ca-cert-file {certificate}",
        "appendonly yes",
        f"user vqa on >{PASSWORD} ~* &* +@all",
        "user poor on >poor ~* &* +@all -@dangerous",
    )
    with redis_server(tmp_path_factory.mktemp("redis"), *lines) as port:
        yield port


@pytest.fixture
def ask(port: int, certificates: tuple[Path, Path, Path]) -> str:
    """What follows the user in an address that is right."""
    return f"@localhost:{port}/3?ssl_ca_certs={certificates[0]}"


async def _refusal(url: str) -> str:
    began = monotonic()
    with pytest.raises(StateStoreRefusedError) as refused:
        await require_usable(url)
    client = connect(url)
    with pytest.raises(StateStoreRefusedError):
        await client.ping()
    await client.aclose()
    assert monotonic() - began < 5
    assert issubclass(StateStoreRefusedError, SettingsInvalidError)  # so that processes and commands end with status 2
    return str(refused.value)


async def test_tls_password_and_database_of_an_address_are_taken(ask: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is warned of."""
    url = f"rediss://vqa:{IN_URL}{ask}"
    with caplog.at_level(logging.WARNING):
        await require_usable(url)
    assert not caplog.records
    client = connect(url)
    assert (await client.client_info())["db"] == 3
    await client.aclose()


async def test_a_wrong_password_is_refused_and_named(ask: str) -> None:
    """By the server's own words, with how it is written."""
    assert "is refused: invalid username-password pair" in (said := await _refusal(f"rediss://vqa:wrong{ask}"))
    assert "%40" in said


async def test_an_authority_that_is_not_trusted_is_named(port: int) -> None:
    """With the parameter that trusts it."""
    said = await _refusal(f"rediss://vqa:{IN_URL}@localhost:{port}/3")
    assert "certificate is not trusted" in said
    assert "?ssl_ca_certs=" in said


async def test_a_sentinel_is_told_from_a_store(tmp_path: Path) -> None:
    """It answers, and keeps no jobs."""
    with redis_server(tmp_path / "sentinel", "sentinel monitor mine 127.0.0.1 1 1", is_sentinel=True) as sentinel:
        assert "a Sentinel" in await _refusal(f"redis://127.0.0.1:{sentinel}/0")


@pytest.mark.parametrize("rights", ["+ping", "~* &* +@all -@scripting", "~* resetchannels +@all", "~other:* &* +@all"])
async def test_a_user_without_the_rights_of_a_run_is_named_at_the_start(tmp_path: Path, rights: str) -> None:
    """Keys, scripts and channels are tried, not what it may by its lists."""
    fault = pytest.raises(StateStoreRefusedError, match="names a user who may not do all that gigavqa does")
    with redis_server(tmp_path / "redis", f"user health on >health {rights}") as port, fault:
        await require_usable(f"redis://health:health@127.0.0.1:{port}/0")


async def test_tls_that_only_one_side_speaks_is_said_before_waiting(
    port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both ways to write the address."""
    monkeypatch.setattr("gigavqa.store.reachability._SECONDS", 0.5)
    with redis_server(tmp_path / "plain") as plain, caplog.at_level(logging.WARNING):
        await require_usable(f"redis://vqa:{IN_URL}@localhost:{port}/3")
        await require_usable(f"rediss://127.0.0.1:{plain}/0")
    assert len(caplog.records) == 2
    assert all("rediss://" in record.message and "redis://" in record.message for record in caplog.records)


async def test_a_policy_that_is_hidden_is_said_once_at_the_start(ask: str, caplog: pytest.LogCaptureFixture) -> None:
    """With the right that shows it."""
    with caplog.at_level(logging.WARNING):
        await require_usable(f"rediss://poor:poor{ask}")
    (record,) = caplog.records
    assert "give its user `+info`" in record.message


async def test_a_store_without_append_only_file_is_said_at_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its crash would lose jobs."""
    with redis_server(tmp_path / "redis") as port, caplog.at_level(logging.WARNING):
        await require_usable(f"redis://127.0.0.1:{port}/0")
    (record,) = caplog.records
    assert "set `appendonly yes`" in record.message
