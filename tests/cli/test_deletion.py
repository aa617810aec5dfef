"""What `gigavqa dataset delete` and `gigavqa delete` take away, and what they refuse; names that nothing has."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Service
from tests.cli.installation import MODEL, Installation, sample, write_dataset

UNSERVED = "demo-sight"


def another_dataset(service: Service, name: str) -> Path:
    """A data set beside `tiny`."""
    return write_dataset(service.installation.home / "data" / name, [sample(0, "images/plaza.png")])


def test_a_data_set_is_deleted_without_a_gateway(installation: Installation) -> None:
    """Its whole folder; scripts are told what it was."""
    told = installation.json("dataset", "delete", "tiny", "--yes", "--json")
    assert (told["name"], told["deleted"], told["files"], told["ended_jobs"]) == ("tiny", True, 3, 0)
    assert list((installation.home / "data").iterdir()) == []
    assert installation.json("dataset", "list", "--json") == []


@pytest.mark.parametrize("name", ["tyni", "..", "../data/tiny", "/tmp", ".", "tiny/samples"])
def test_what_is_no_data_set_of_the_root_is_not_deleted(installation: Installation, name: str) -> None:
    """Neither a path nor a misspelling; the like name is told."""
    run = installation.run("dataset", "delete", name, "--yes")
    assert (run.returncode, "has no data set" in run.stderr) == (2, True)
    assert ("did you mean 'tiny'" in run.stderr) is (name == "tyni")
    assert (installation.home / "data" / "tiny" / "dataset.toml").is_file()


def test_a_linked_data_set_is_left_to_whoever_linked_it(installation: Installation, tmp_path: Path) -> None:
    """What the link leads to may be anybody's."""
    elsewhere = write_dataset(tmp_path / "elsewhere", [sample(0, "images/plaza.png")])
    (installation.home / "data" / "linked").symlink_to(elsewhere)
    run = installation.run("dataset", "delete", "linked", "--yes")
    assert (run.returncode, "is a link to" in run.stderr) == (2, True)
    assert (elsewhere / "images" / "plaza.png").is_file()


def test_nothing_is_deleted_where_nobody_can_be_asked(installation: Installation) -> None:
    """A script says --yes."""
    run = installation.run("dataset", "delete", "tiny")
    assert (run.returncode, "say --yes" in run.stderr) == (2, True)


def test_a_data_set_with_an_open_job_stays(service: Service) -> None:
    """Whether the gateway tells of the job, or the state store does; when it has ended, the data set goes."""
    installation, folder = service.installation, another_dataset(service, "busy")
    job = installation.ok("submit", "-d", "busy", "-m", UNSERVED).strip()
    for way in (installation, replace(installation, url="http://127.0.0.1:9")):
        run = way.run("dataset", "delete", "busy", "--yes")
        assert (run.returncode, f"is being asked by {job}" in run.stderr) == (4, True), run.stderr
    assert folder.is_dir()
    installation.ok("cancel", job)
    told = installation.json("dataset", "delete", "busy", "--yes", "--json")
    assert (told["ended_jobs"], folder.exists()) == (1, False)


def test_an_open_job_is_not_deleted_and_nobody_is_asked(service: Service) -> None:
    """How to end it is said at once."""
    job = service.installation.ok("submit", "-d", "tiny", "-m", UNSERVED).strip()
    run = service.installation.run("delete", job)
    assert (run.returncode, f"gigavqa cancel {job}" in run.stderr) == (4, True), run.stderr
    service.installation.ok("cancel", job)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("submit -d tyni -m {model}", "did you mean 'tiny'"),
        ("submit -d tiny -m demo-qwen3-lv", "did you mean '{model}'"),
        ("submit -d tiny -m {model} -p tabel1", "did you mean 'table1'"),
        ("submit -d tiny -m {model} -s cctv-001", "did you mean 'cctv-0001'"),
        ("submit -d tiny -m {model} --cell S01:V2", "did you mean 'S1' or 'S0'"),
        ("jobs -d tyni", "did you mean 'tiny'"),
        ("jobs -m demo-qwen3-lv", "did you mean '{model}'"),
        ("jobs --status complete", "did you mean 'completed'"),
        ("results JOB --sample cctv-001", "did you mean 'cctv-0001'"),
        ("results JOB --sample nope", "has no sample 'nope'"),
        ("results JOB --model nope", "it asks {model}"),
        ("watch JOBx", "did you mean 'JOB"),
        ("dataset sohw tiny", "did you mean 'show'"),
        ("reprot", "did you mean 'report'"),
        ("submit --datset tiny", "--dataset"),
        ("dataset demo --benchmark ultravrr", "did you mean 'ultravr'"),
        ("dataset show tiny cctv-001", "did you mean 'cctv-0001'"),
        ("models --paper ultarvr", "did you mean 'ultravr'"),
        ("prompt cctv-0001 -d tiny --protocol S0x", "did you mean 'S0'"),
        ("logs gatway", "did you mean 'gateway'"),
    ],
)
def test_a_misspelt_name_is_told_with_what_is_like_it(service: Service, words: str, told: str) -> None:
    """Of every kind: data sets, models, plans, samples, cells, jobs, benchmarks, commands, options, choices."""
    job = _job(service.installation)
    words = words.format(model=MODEL).replace("JOB", job)
    run = service.installation.run(*words.split())
    assert told.format(model=MODEL).replace("JOB", job).lower() in run.stderr.lower(), run.stderr
    assert run.returncode == 2


_JOBS: dict[str, str] = {}


def _job(installation: Installation) -> str:
    """The id of one job over `tiny`, for all tests."""
    if installation.url not in _JOBS:
        submitted = installation.ok("submit", "-d", "tiny", "-m", MODEL, "--cell", "S0:V0", "--title", "First look")
        _JOBS[installation.url] = submitted.strip()
    return _JOBS[installation.url]


def test_a_title_stands_in_the_list_of_jobs(service: Service) -> None:
    """It is a note of the job, which pages and programs find there."""
    job = _job(service.installation)
    assert "First look" in service.installation.ok("jobs")
    found = {each["id"]: each for each in service.installation.json("jobs", "--json")}
    assert found[job]["spec"]["metadata"] == {"title": "First look"}


def test_a_title_of_a_data_set_stands_in_its_list(installation: Installation, tmp_path: Path) -> None:
    """Instead of its name."""
    source = tmp_path / "questions.json"
    source.write_text(json.dumps([{"id": "a", "image": "plaza.png", "question": "Who?"}]))
    images = installation.home / "data" / "tiny" / "images"
    installation.ok("dataset", "import", str(source), "street", "--images", str(images), "--title", "Streets of Wien")
    titles = {each["name"]: each["title"] for each in installation.json("dataset", "list", "--json")}
    assert titles["street"] == "Streets of Wien"


def test_no_job_is_said_and_no_empty_table_shown(service: Service) -> None:
    """With status 0: nothing is wrong."""
    run = service.installation.run("jobs", "--status", "failed")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "no job fits\n")


def test_no_response_is_said(service: Service) -> None:
    """Where the names are right."""
    run = service.installation.run("results", _job(service.installation), "--condition", "V4")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "no response fits what was asked for\n")
