"""New data sets of tables and pictures that somebody sends: checked, made, and refused by line."""

import io
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.service.operations import dataset_imports
from gigavqa.service.operations.hidden_folders import hidden_folder
from tests.service.datasets import NAME
from tests.service.gateways import MODEL, RunningGateway, problem_of, running
from tests.service.openai.pictures import asking
from tests.service.tenants import make_key
from tests.waiting import wait_until

GOOD = "image,question,A,B,answer\nport.png,Which ship is longest?,the red one,the blue one,B\n"
BAD = GOOD + "none.png,Which?,red,blue,A\nport.png,Which?,red,blue,Z\n"
PLAZA = f"{NAME}/images/plaza-0.png"


def picture() -> bytes:
    """A picture of 64 x 48 pixels."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (10, 90, 160)).save(file, "png")
    return file.getvalue()


def send(
    gateway: RunningGateway,
    table: str = GOOD,
    images: Sequence[str] = ("port.png",),
    file: str = "questions.csv",
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> httpx.Response:
    """Send a table and pictures, all of which are the same."""
    parts = [("records", (file, table.encode())), *(("image", (name, picture())) for name in images)]
    return gateway.client.post(
        "/v1/datasets", data={"name": "street", **fields}, files=parts, headers=headers, timeout=120
    )


def left_behind(gateway: RunningGateway) -> list[Path]:
    """What lies in the data root beside its data sets."""
    return [path for path in gateway.settings.data.iterdir() if path.name != NAME]


@pytest.mark.slow
def test_a_table_is_checked_and_then_made(gateway: RunningGateway) -> None:
    """The check says what it would be and makes nothing; what is made can be asked."""
    checked = send(gateway, check="true")
    assert checked.status_code == 200, checked.text
    assert left_behind(gateway) == []
    found = checked.json()
    assert (found["made"], found["benchmark"], found["num_samples"], found["num_images"]) == (False, "questions", 1, 1)
    assert found["kinds"] == {"choice": 1}
    assert found["samples"] == [
        {"id": "questions-1", "images": ["images/port.png"], "question": "Which ship is longest?",
         "options": {"A": "the red one", "B": "the blue one"}, "truth": "B"}
    ]  # fmt: skip
    made = send(gateway, title="Street")
    assert (made.status_code, made.headers["location"]) == (201, "/v1/datasets/street")
    assert made.json() == {**found, "made": True}
    assert [path.name for path in left_behind(gateway)] == ["street"]
    known = gateway.client.get("/v1/datasets/street").json()
    assert (known["title"], known["num_samples"], known["num_images"]) == ("Street", 1, 1)
    problem_of(send(gateway), 409, "dataset-exists")


@pytest.mark.slow
def test_deep_pictures_are_taken_with_the_display_that_shows_them(gateway: RunningGateway) -> None:
    """Refused without; the data set declares it for everybody."""
    file = io.BytesIO()
    tifffile.imwrite(file, np.zeros((48, 64), np.uint16))
    parts = [
        ("records", ("q.csv", b"image,question\ndeep.tif,What is it?\n")),
        ("image", ("deep.tif", file.getvalue())),
    ]

    def made(**fields: str) -> httpx.Response:
        return gateway.client.post("/v1/datasets", data={"name": "deep", **fields}, files=parts, timeout=120)

    assert "has 16 bits a sample" in made().text
    answer = made(show="stretch=minmax;gamma=1.4")
    assert answer.status_code == 201, answer.text
    settings = (gateway.settings.data / "deep" / "dataset.toml").read_text("utf-8")
    assert tomllib.loads(settings)["show"] == "stretch=minmax gamma=1.4"
    (image,) = gateway.client.get("/v1/datasets/deep/images").json()["data"]
    assert (image["width"], image.get("error")) == (64, None)


@pytest.mark.slow
def test_bad_rows_are_named_and_may_be_left_out(gateway: RunningGateway) -> None:
    """By file and line, without where the file lay here; nothing is made of them in silence."""
    problem = problem_of(send(gateway, BAD), 422, "dataset-invalid")
    assert [(one["file"], one["line"]) for one in problem["errors"]] == [("questions.csv", 3), ("questions.csv", 4)]
    assert problem["errors"][0]["detail"] == "images: there is no image 'none.png'"
    assert left_behind(gateway) == []
    taken = send(gateway, BAD, leave_out_bad="true").json()
    assert (taken["num_samples"], len(taken["left_out"])) == (1, 2)
    assert "none" in problem_of(send(gateway, name="lane", benchmark="none"), 422, "import-invalid")["detail"]


@pytest.mark.slow
def test_questions_about_pictures_of_another_data_set_share_them(gateway: RunningGateway) -> None:
    """They are named as chats name them, and are the same files."""
    name = f"{NAME}/images/plaza-0.png"
    lines = f'{{"id": "q1", "image": "{name}", "question": "How many?", "answer": 3, "regions": "0,0,320,240"}}\n'
    made = send(gateway, lines, [], "kept.jsonl", picture=[name], benchmark="questions")
    assert made.status_code == 201, made.text
    (image,) = gateway.client.get("/v1/datasets/street/images").json()["data"]
    assert (gateway.settings.data / "street" / image["name"]).samefile(gateway.settings.data / name)
    record = gateway.client.get("/v1/datasets/street/samples/q1").json()["record"]
    assert "0,0,320,240" in str(record)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "../street"}, "is no name of a data set"),
        ({"name": ".street"}, "is no name of a data set"),
        ({"file": "questions.exe"}, "is no file of records"),
        ({"picture": "../secret.png"}, "not a relative path"),
        ({"picture": f"{NAME}/images/none.png"}, "does not exist"),
        ({"images": ["../port.png"]}, "not a relative path"),
        ({"images": ["port.png", "port.png"]}, "two pictures are called 'port.png'"),
        ({"images": ["a/port.png", "b/port.png", "a/port.png"]}, "two pictures are called 'a/port.png'"),
        ({"images": ["a", "a/port.png"]}, "two pictures are called 'a/port.png', or one as the folder of another"),
        ({"images": [PLAZA], "picture": PLAZA}, f"two pictures are called '{PLAZA}'"),
        ({"map": "foto"}, "foto=image"),
        ({"decimal": ";"}, "a comma"),
        ({"check": "yes"}, "true or false"),
        ({"show": "strech=minmax"}, "show: 'strech' is none of"),
        ({"pictures": "x"}, "there is no field 'pictures'"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_its_field(
    gateway: RunningGateway, fields: dict[str, Any], told: str
) -> None:
    """And leaves nothing in the data root."""
    problem = problem_of(send(gateway, **fields), 422, "import-invalid")
    assert told in problem["detail"]
    assert left_behind(gateway) == []


@pytest.mark.slow
def test_no_row_reaches_out_of_what_was_sent(gateway: RunningGateway) -> None:
    """Neither to files of others nor to pictures that were not named, and no row says where what was sent lay."""
    names = ("../../town/images/plaza-0.png", "../../../uploads/x.png", str(gateway.settings.data / NAME / "x.png"))
    lines = "".join(f'{{"image": "{name}", "question": "What?"}}\n' for name in names)
    problem = problem_of(send(gateway, lines, [], "q.jsonl", benchmark="questions"), 422, "dataset-invalid")
    assert [one["line"] for one in problem["errors"]] == [1, 2, 3]
    assert ".work-" not in str(problem)


@pytest.mark.slow
def test_names_are_read_as_browsers_write_them(gateway: RunningGateway) -> None:
    """A quote is %22 in a form; an ending in capitals is that of a table, too."""
    table = GOOD.replace("port.png", '"a/q""uote.png"')
    made = send(gateway, table, ['a/q"uote.png'], "ONE.CSV")
    assert made.status_code == 201, made.text
    assert made.json()["samples"][0]["images"] == ['images/a/q"uote.png']


@pytest.mark.slow
def test_two_at_once_make_one_data_set(gateway: RunningGateway) -> None:
    """The other is told that there is one now, and neither leaves anything else behind."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: send(gateway), range(2)))
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    problem_of(max(answers, key=lambda answer: answer.status_code), 409, "dataset-exists")
    assert [path.name for path in left_behind(gateway)] == ["street"]


@pytest.mark.slow
def test_what_takes_too_long_is_not_made(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it can be called refused."""
    monkeypatch.setattr(dataset_imports, "_IMPORT_SECONDS", 0.01)
    assert "took longer" in problem_of(send(gateway), 422, "import-invalid")["detail"]
    assert left_behind(gateway) == []


def test_what_a_dead_gateway_has_left_of_an_import_is_served_to_nobody_and_swept(gateway: RunningGateway) -> None:
    """At the next start, as before the next import; what another gateway works on stays."""
    root = gateway.settings.data
    with hidden_folder(root) as alive:
        dead = root / ".work-dead"
        (dead / "images").mkdir(parents=True)
        (dead / "images/port.png").write_bytes(picture())
        (dead / "dataset.toml").touch()
        body = {"model": MODEL, "messages": asking("gigavqa:.work-dead/images/port.png")}
        refused = gateway.client.post("/v1/chat/completions", json=body)
        assert "does not exist" in refused.json()["error"]["message"]
        assert gateway.client.get("/v1/datasets/.work-dead").status_code == 404
        assert (
            "does not exist"
            in problem_of(send(gateway, picture=".work-dead/images/port.png"), 422, "import-invalid")["detail"]
        )
        assert not dead.exists()
        dead.mkdir()
        gateway.stop()
        with running(gateway.settings):
            wait_until(lambda: not dead.exists(), what="the end of what was left")
        assert alive.is_dir()


def test_a_table_that_is_too_large_is_refused(start: Callable[..., RunningGateway]) -> None:
    """By the bound of bodies; its pictures have that of files."""
    gateway = start(max_body_bytes=len(GOOD))
    problem = problem_of(send(gateway, GOOD + "\n"), 413, "body-too-large")
    assert "`gigavqa dataset import`" in problem["detail"]


@pytest.mark.slow
def test_a_data_set_is_everybodys_so_that_a_key_needs_to_operate(locked: RunningGateway) -> None:
    """Whoever may only submit is refused before anything is read."""
    for role, status in (("submit", 403), ("operate", 201)):
        key, _ = make_key(locked.redis_url, "ada", role)  # type: ignore[arg-type]
        answer = send(locked, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == status, answer.text


def test_a_data_root_that_cannot_be_written_is_named(gateway: RunningGateway) -> None:
    """As where the pictures of a cluster are mounted for reading alone."""
    data = gateway.settings.data
    data.rename(data.with_name("elsewhere"))
    problem = problem_of(send(gateway), 409, "data-root-unwritable")
    assert "`gigavqa dataset import`" in problem["detail"]
