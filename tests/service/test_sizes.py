"""Large data sets and reports: what is kept is bounded, and nothing is read twice, or before a client is answered."""

import threading

from redis import Redis

from gigavqa.service.http.freshness import StampedCache
from tests.service.datasets import record, write_dataset
from tests.service.gateways import RunningGateway
from tests.service.workers import play
from tests.waiting import wait_until


def test_what_is_kept_is_bounded_by_its_size() -> None:
    """Old values go for new ones, and one that is larger than the bound is kept alone."""
    kept = StampedCache[str](10, len)
    for key, value in (("a", "1234"), ("b", "12345"), ("c", "123")):
        kept.get(key, 1, lambda value=value: value)  # type: ignore[misc]
    assert [kept.find(key, 1) for key in "abc"] == [None, "12345", "123"]
    kept.get("d", 1, lambda: "1" * 11)
    assert [kept.find(key, 1) for key in "bcd"] == [None, None, "1" * 11]
    assert kept.find("d", 2) is None


def test_what_several_ask_for_at_once_is_made_once() -> None:
    """The others wait for whoever makes it, also after one has failed."""
    kept, made, begun, go_on = StampedCache[int](4), [], threading.Event(), threading.Event()

    def make() -> int:
        made.append(1)
        begun.set()
        go_on.wait(10)
        return len(made)

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("key", 1, make))) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    go_on.set()
    for thread in threads:
        thread.join()
    assert (found, made) == ([1, 1, 1], [1])


def test_a_large_data_set_is_read_after_the_answer(gateway: RunningGateway) -> None:
    """A megabyte that is no record is found by the check behind it, and other mistakes still before."""
    folder = write_dataset(gateway.settings.data, [record(0)], "broken")
    with (folder / "samples/cctv.jsonl").open("a") as lines:
        lines.write("no record " * 110_000 + "\n")
    assert gateway.submit(dataset="broken", models=["nobody"]).status_code == 422
    assert gateway.submit(dataset="broken", plan="table9").status_code == 422
    answer = gateway.submit(dataset="broken")
    assert (answer.status_code, answer.json()["status"]) == (201, "validating")
    job_id = answer.json()["id"]
    wait_until(lambda: gateway.job(job_id)["status"] == "failed", what="the end of the check")
    assert gateway.job(job_id)["errors"] == ["samples/cctv.jsonl:2: is not JSON: Expecting value at column 1"]


def test_a_report_s_page_is_kept_until_something_is_recorded(gateway: RunningGateway) -> None:
    """The second reader's page takes no look at the job's responses."""
    job_id = gateway.submit().json()["id"]
    path = f"/v1/jobs/{job_id}/report?format=html"
    with Redis.from_url(gateway.redis_url) as redis:

        def read_page() -> tuple[str, int]:
            redis.config_resetstat()
            page = gateway.client.get(path).text
            return page, redis.info("commandstats").get("cmdstat_xrange", {}).get("calls", 0)

        empty, _ = read_page()
        play(gateway.redis_url)
        (first, looks), again = read_page(), read_page()
        assert empty != first and looks > 0
        assert again == (first, 0)
