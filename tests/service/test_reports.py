"""Reports are computed from what is recorded, in three formats, and not again while nothing changes."""

import base64
import csv
import io

import httpx
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.reports.report import Report
from gigavqa.store.previews import PreviewStore
from tests.reports.tables import value_of
from tests.service.datasets import record, write_dataset
from tests.service.gateways import MODEL, RunningGateway, problem_of
from tests.service.workers import RASTER_KEY, play


@pytest.fixture
def job_id(gateway: RunningGateway) -> str:
    """A completed job in which every answer is A, as is right for one sample of four."""
    job_id: str = gateway.submit(plan="table1").json()["id"]
    play(gateway.redis_url)
    return job_id


def test_a_report_is_json_unless_asked_otherwise(gateway: RunningGateway, job_id: str) -> None:
    """One sample of four is right, under V2 as without the picture."""
    response = gateway.client.get(f"/v1/jobs/{job_id}/report")
    assert response.headers["content-type"] == "application/json"
    report = Report.model_validate(response.json())
    assert [value_of(report, "table1", name, model=MODEL).value for name in ("macro", "text_only")] == [0.25, 0.25]


def test_a_report_of_a_job_in_progress_says_what_is_missing(gateway: RunningGateway) -> None:
    """Requests without a response are counted as expected."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, max_bundles=1)
    (cell,) = gateway.client.get(f"/v1/jobs/{job_id}/report").json()["cells"]
    assert (cell["expected"], cell["answered"]) == (4, 2)


def test_a_report_grows_with_the_responses(gateway: RunningGateway) -> None:
    """A report that was read before is not taken for that of a later moment."""
    job_id = gateway.submit().json()["id"]
    path = f"/v1/jobs/{job_id}/report"
    assert gateway.client.get(path).json()["cells"][0]["answered"] == 0
    play(gateway.redis_url)
    assert gateway.client.get(path).json()["cells"][0]["answered"] == 4


def test_a_report_comes_as_markdown_and_csv(gateway: RunningGateway, job_id: str) -> None:
    """Both say something of the model."""
    markdown = gateway.client.get(f"/v1/jobs/{job_id}/report", params={"format": "md"})
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert "|" in markdown.text
    table = gateway.client.get(f"/v1/jobs/{job_id}/report", params={"format": "csv"})
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert any(MODEL in row.values() for row in rows)


def test_a_report_comes_as_one_page(gateway: RunningGateway, job_id: str) -> None:
    """With every sample that was asked, its raw text, and a policy that lets it connect to nobody."""
    page = gateway.client.get(f"/v1/jobs/{job_id}/report", params={"format": "html"})
    assert page.headers["content-type"].startswith("text/html")
    assert page.text.count('"question":') == 4
    assert "Final answer: A" in page.text
    assert "default-src 'none'" in page.text


def test_a_report_tells_its_job_and_what_was_asked(gateway: RunningGateway, job_id: str) -> None:
    """The job's plan and seed in every form, and on the page the prompts, made again from the job."""
    path = f"/v1/jobs/{job_id}/report"
    (job,) = gateway.client.get(path).json()["jobs"]
    assert (job["id"], job["plan"], job["seed"], job["status"]) == (job_id, "table1", 0, "completed")
    page, markdown = (gateway.client.get(path, params={"format": form}).text for form in ("html", "md"))
    assert f"job {job_id}: completed" in markdown
    assert f"<code>{job_id}</code>" in page
    assert '"chats":[]' not in page
    assert "The question is about what is shown above." in page


def test_a_page_shows_the_pictures_that_workers_left(gateway: RunningGateway) -> None:
    """The gateway passes on a preview's bytes and decodes none."""
    job_id = gateway.submit().json()["id"]
    PreviewStore(gateway.settings.results_uri).write(RASTER_KEY, b"bytes of a JPEG")
    play(gateway.redis_url)
    page = gateway.client.get(f"/v1/jobs/{job_id}/report", params={"format": "html"}).text
    assert page.count(base64.b64encode(b"bytes of a JPEG").decode()) == 1


def test_an_unknown_format_is_refused(gateway: RunningGateway, job_id: str) -> None:
    """There are json, md, csv and html."""
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}/report", params={"format": "pdf"}), 422, "request-invalid")


def test_a_report_that_did_not_change_is_not_sent_again(gateway: RunningGateway, job_id: str) -> None:
    """The ETag stands for what is recorded and for the records that it is judged by."""
    path = f"/v1/jobs/{job_id}/report"
    known = {"If-None-Match": gateway.client.get(path).headers["etag"]}
    assert gateway.client.get(path, headers=known).status_code == 304
    write_dataset(gateway.settings.data, [record(number, answer="A") for number in range(4)])
    assert gateway.client.get(path, headers=known).status_code == 200


def test_a_report_of_a_data_set_that_is_gone_is_not_found(gateway: RunningGateway, job_id: str) -> None:
    """Responses are judged by the data set's records, so there must be some."""
    (gateway.settings.data / "town").rename(gateway.settings.data / "village")
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}/report"), 404, "dataset-not-found")


def joint(gateway: RunningGateway, *job_ids: str, **how: bool) -> httpx.Response:
    """Ask for one report over several jobs."""
    return gateway.client.get("/v1/reports", params={"job": list(job_ids), **how})


def test_a_report_over_two_jobs_counts_both(gateway: RunningGateway, job_id: str) -> None:
    """Another job asks V1 beside V2 and V0 again: V1 comes from it alone, V2 has two repeats."""
    other = gateway.submit(cells=[{"protocol": "S0", "condition": name} for name in ("V1", "V2")]).json()["id"]
    play(gateway.redis_url)

    report = joint(gateway, job_id, other).json()

    answered = {cell["condition"]: (cell["answered"], cell["expected"]) for cell in report["cells"]}
    assert answered == {"V2": (8, 8), "V0": (4, 4), "V1": (4, 4)}
    assert report["cells"][-1]["condition"] == "V2"
    assert report["cells"][-1]["repeats"]["values"] == [0.25, 0.25]


def test_jobs_that_ask_one_model_the_same_stand_apart_where_that_is_wanted(gateway: RunningGateway) -> None:
    """Each under its job's title, else its id; a job that asks other samples goes on with the others."""
    titled, other = (gateway.submit(metadata=pairs).json()["id"] for pairs in ({"title": "Cold"}, {}))
    play(gateway.redis_url)
    apart = joint(gateway, titled, other, by_job=True).json()
    assert {(cell["model"], cell["answered"], cell["expected"]) for cell in apart["cells"]} == {
        (f"{MODEL}@{titled}", 4, 4),
        (f"{MODEL}@{other}", 4, 4),
    }
    titles = {row["keys"].get("model"): row["title"] for row in apart["tables"][0]["rows"] if not row["summary"]}
    title = load_catalogue()[MODEL].title
    assert titles == {f"{MODEL}@{titled}": f"Cold: {title}", f"{MODEL}@{other}": f"{other}: {title}"}
    assert {one["model"]: one["responses"] for one in apart["provenance"]} == {
        f"{MODEL}@{titled}": 4,
        f"{MODEL}@{other}": 4,
    }
    told = "\n".join(caveat["text"] for caveat in apart["caveats"])
    assert f"Cold: {title}: " in told and "@job_" not in told
    (together,) = joint(gateway, titled, other).json()["cells"]
    assert (together["model"], together["answered"]) == (MODEL, 8)
    halves = [gateway.submit(samples=[f"cctv-000{number}"]).json()["id"] for number in range(2)]
    play(gateway.redis_url)
    (both,) = joint(gateway, *halves, by_job=True).json()["cells"]
    assert (both["model"], both["answered"]) == (MODEL, 2)


def test_a_report_over_one_job_is_that_jobs_report(gateway: RunningGateway, job_id: str) -> None:
    """Named once or twice."""
    alone = gateway.client.get(f"/v1/jobs/{job_id}/report").json()
    assert joint(gateway, job_id, job_id).json() == alone


def test_jobs_over_different_data_sets_have_no_joint_report(gateway: RunningGateway, job_id: str) -> None:
    """The problem names both."""
    write_dataset(gateway.settings.data, [record(number) for number in range(2)], name="village")
    other = gateway.submit(dataset="village").json()["id"]
    problem = problem_of(joint(gateway, job_id, other), 422, "datasets-differ")
    assert "town, village" in problem["detail"]


def test_a_joint_report_names_the_job_that_is_not_there(gateway: RunningGateway, job_id: str) -> None:
    """And a joint report over no job is refused."""
    problem_of(joint(gateway, job_id, "job_0"), 404, "job-not-found")
    problem_of(joint(gateway), 422, "request-invalid")
