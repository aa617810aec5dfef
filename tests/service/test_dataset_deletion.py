"""Data sets are deleted over HTTP: what that costs is told before, and what stands against it is refused."""

from tests.service.datasets import NAME, write_town
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import Tenant
from tests.service.workers import play


def test_what_is_deleted_is_counted_before_and_gone_after(gateway: RunningGateway) -> None:
    """Jobs that have ended are told of, and keep their responses."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url)
    stakes = gateway.client.get(f"/v1/datasets/{NAME}/stakes").json()
    folder = gateway.settings.data / NAME
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert stakes == {
        "name": NAME,
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "ended_jobs": 1,
        "open_jobs": 0,
    }
    deleted = gateway.client.delete(f"/v1/datasets/{NAME}")
    assert (deleted.status_code, deleted.json()) == (200, {**stakes, "object": "dataset", "deleted": True})
    assert list(gateway.settings.data.iterdir()) == []
    assert gateway.client.get("/v1/datasets").json()["data"] == []
    assert len(gateway.client.get(f"/v1/jobs/{job_id}/results").text.splitlines()) == 4
    told = problem_of(gateway.client.get(f"/v1/jobs/{job_id}/report"), 404, "dataset-not-found")["detail"]
    assert NAME in told
    problem_of(gateway.client.delete(f"/v1/datasets/{NAME}"), 404, "dataset-not-found")


def test_a_data_set_that_a_job_asks_stays(gateway: RunningGateway) -> None:
    """Until the job has ended; jobs over others do not count."""
    write_town(gateway.settings.data, name="village")
    job_id = gateway.submit().json()["id"]
    assert gateway.client.get(f"/v1/datasets/{NAME}/stakes").json()["open_jobs"] == 1
    problem = problem_of(gateway.client.delete(f"/v1/datasets/{NAME}"), 409, "dataset-in-use")
    assert job_id in problem["detail"]
    assert gateway.client.delete("/v1/datasets/village").status_code == 200
    gateway.client.post(f"/v1/jobs/{job_id}/cancel")
    assert gateway.client.delete(f"/v1/datasets/{NAME}").status_code == 200


def test_a_link_to_a_data_set_is_not_followed(gateway: RunningGateway) -> None:
    """Neither is deleted."""
    (gateway.settings.data / "alias").symlink_to(gateway.settings.data / NAME)
    problem = problem_of(gateway.client.delete("/v1/datasets/alias"), 409, "data-root-unwritable")
    assert "is a link" in problem["detail"]
    assert gateway.client.get(f"/v1/datasets/{NAME}").status_code == 200


def test_it_is_everybodys_so_that_a_key_needs_to_operate(locked: RunningGateway) -> None:
    """Neither what it would cost is told to others, since that is of everybody's jobs, nor is it done."""
    with Tenant(locked, "ada", "submit") as ada, Tenant(locked, "root", "operate") as operator:
        ada.submit()
        play(locked.redis_url)
        problem_of(ada.get(f"/v1/datasets/{NAME}/stakes"), 403, "role-missing")
        problem_of(ada.delete(f"/v1/datasets/{NAME}"), 403, "role-missing")
        assert operator.get(f"/v1/datasets/{NAME}/stakes").json()["ended_jobs"] == 1
        assert operator.delete(f"/v1/datasets/{NAME}").status_code == 200
