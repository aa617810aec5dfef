"""The users of docs/operating.md may do what is said of them on a real server, and nothing of it is refused."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from gigavqa.backup.archives import Archive
from gigavqa.backup.backups import back_up
from gigavqa.backup.checking import check
from gigavqa.backup.restoring import restore
from gigavqa.runtime.errors import StateStoreRefusedError
from gigavqa.runtime.home import Home
from gigavqa.store.reachability import described_store_errors
from tests.service.datasets import write_town
from tests.service.gateways import MODEL, running, settings_of
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.workers import working
from tests.store.own_servers import redis_server
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
LINES = re.findall(r"^    ACL SETUSER (.*)$", PAGE, re.MULTILINE)


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Redis]:
    """Somebody who may do all, on a server with the users of the page."""
    assert [line.split()[0] for line in LINES] == ["gigavqa", "gigavqa-backup", "health"]
    with redis_server(tmp_path / "redis", "appendonly yes") as port:
        admin = Redis(port=port)
        for line in LINES:
            admin.execute_command("ACL", "SETUSER", *line.replace("PASSWORD", "secret").split())
        yield admin
        admin.close()


def address(admin: Redis, user: str, database: int = 0) -> str:
    """Where a user finds a database of the server."""
    return f"redis://{user}:secret@127.0.0.1:{admin.get_connection_kwargs()['port']}/{database}"


def test_the_users_of_the_page_suffice(admin: Redis, tmp_path: Path) -> None:
    """To play a job and a chat, to back up, to check, and to restore into another database."""
    own, other = address(admin, "gigavqa"), address(admin, "gigavqa", 1)
    settings = settings_of(tmp_path / "home", own)
    write_town(settings.data)
    with running(settings) as gateway, working(settings):
        wait_for_worker(gateway)
        job_id = gateway.submit(plan="table1").json()["id"]
        body = {"model": MODEL, "messages": [{"role": "user", "content": "One or two?"}], "stream": True}
        assert "[DONE]" in gateway.client.post("/v1/chat/completions", json=body).text
        wait_until(lambda: gateway.job(job_id)["status"] == "completed", timeout=60, what="the job")
        assert gateway.client.get("/v1/watch").json()["concerns"] == []
        for_backup = address(admin, "gigavqa-backup")
        back_up(for_backup, settings, tmp_path / "backup")
    assert [each for each in check(for_backup, settings) if each.severity == "damage"] == []
    restore(
        Archive(tmp_path / "backup"),
        Home.from_environment({"GIGAVQA_HOME": str(tmp_path / "other"), "REDIS_URL": other}),
    )
    with running(settings_of(tmp_path / "other", other)) as gateway:
        assert len(httpx.get(f"{gateway.url}/v1/jobs/{job_id}/results").text.splitlines()) == 8
    assert admin.acl_log() == []


def test_a_right_that_is_missing_is_named_before_anything_is_written(admin: Redis, tmp_path: Path) -> None:
    """One that a script wants, of which the server says no more than that it is missing."""
    settings = settings_of(tmp_path / "home", address(admin, "gigavqa"))
    with running(settings):
        back_up(address(admin, "gigavqa-backup"), settings, tmp_path / "backup")
    admin.execute_command("ACL", "SETUSER", "gigavqa", "-rename")
    elsewhere = {"GIGAVQA_HOME": str(tmp_path / "other"), "REDIS_URL": address(admin, "gigavqa", 1)}
    with pytest.raises(StateStoreRefusedError, match="may not do all that gigavqa does"), described_store_errors():
        restore(Archive(tmp_path / "backup"), Home.from_environment(elsewhere))
    assert not (tmp_path / "other").exists()
