"""A job that weighs answers, from its submission through a worker to the report."""

from tests.service.datasets import write_town
from tests.service.gateways import RunningGateway, problem_of
from tests.service.openai.workers import working
from tests.waiting import wait_until


def test_a_job_that_weighs_answers_is_played_and_reported(gateway: RunningGateway) -> None:
    """Each picture is rendered once for both of its views; the report tells how much they matter, and so do files."""
    write_town(gateway.settings.data, 4)
    answer = gateway.submit(plan=None, cells=[{"protocol": "S0", "condition": "V2"}], likelihood="mean")
    assert answer.status_code == 201, answer.text
    job = answer.json()["id"]
    with working(gateway.settings) as worker:
        wait_until(lambda: gateway.job(job)["status"] == "completed", timeout=60, what="the job")
        told = gateway.job(job)
        assert (told["request_counts"]["total"], told["request_counts"]["completed"]) == (8, 8)
        assert (told["usage"]["views"], told["usage"]["completion_tokens"]) == (8, 0)
        assert worker.renders * 2 == told["usage"]["rasters"]
    assert told["spec"]["likelihood"] == "mean"
    report = gateway.client.get("/v1/reports", params={"job": job}).json()
    (table,) = [one for one in report["tables"] if one["name"] == "likelihood"]
    first = table["rows"][0]
    assert first["keys"]["mask"] == "mean"
    assert first["values"][:2] == [4, 0]
    assert not [one for one in report["tables"] if one["name"] == "table1"]


def test_a_job_that_cannot_be_weighed_is_refused_whole(gateway: RunningGateway) -> None:
    """By the field, and with what to do."""
    write_town(gateway.settings.data, 2)
    blind = gateway.submit(plan=None, cells=[{"protocol": "S0", "condition": "V0"}], likelihood="black")
    assert "shows no picture" in problem_of(blind, 422, "submission-invalid")["detail"]
    unknown = gateway.submit(likelihood="grey")
    assert unknown.status_code == 422 and "none of black, mean" in unknown.text
