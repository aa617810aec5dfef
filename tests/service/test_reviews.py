"""Samples are reviewed over HTTP: blind first, each verdict once and for good, by whom the key says."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gigavqa import Client
from gigavqa.cli.reviewing import print_review_address
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.review_export import apply_reviews
from gigavqa.evaluation.review_files import read_reviews
from gigavqa.service.operations.datasets import Datasets
from tests.service.datasets import record, write_dataset
from tests.service.gateways import RunningGateway, problem_of
from tests.service.reviewing import RECORDS, ROUTE, SHIPS, say, seen, verdict, write_ships
from tests.service.tenants import Tenant


@pytest.fixture
def ships(gateway: RunningGateway) -> RunningGateway:
    """A gateway with questions to be reviewed."""
    write_ships(gateway.settings.data)
    return gateway


def lines(gateway: RunningGateway, reviewer: str = "anonymous") -> list[dict[str, Any]]:
    """What stands in a reviewer's file."""
    text = (gateway.settings.data / SHIPS / f"reviews/{reviewer}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_a_sample_is_seen_without_what_it_is_reviewed_by(ships: RunningGateway) -> None:
    """Neither truth nor evidence nor verdicts of others come before they are asked for."""
    say(ships.client, "odd-1", "drop", reason="unclear")
    for found in seen(ships.client):
        assert set(found) == {
            "id", "digest", "position", "images", "question", "options", "kind", "possible", "groups", "mine"
        }  # fmt: skip
        assert found["mine"] is None
    kinds = {found["id"]: (found["kind"], found["possible"]) for found in seen(ships.client)}
    assert kinds == {"count-1": ("number", []), "presence-1": ("yes/no", ["yes", "no"]), "relation-1": ("text", [])}
    (image,) = seen(ships.client, sample="count-1")[0]["images"]
    assert (image["width"], image["height"], image["error"]) == (640, 480, None)


def test_an_answered_sample_is_told_whole(ships: RunningGateway) -> None:
    """Truth and boxes in pixels, also of a benchmark that names quadrants."""
    found = ships.client.get(f"{ROUTE}/samples/odd-1").json()
    assert (found["truth"], [one["box"] for one in found["evidence"]]) == ("B", RECORDS[1]["boxes"])
    town = ships.client.get("/v1/datasets/town/reviews/samples/cctv-0000").json()
    assert [one["box"] for one in town["evidence"]] == [[0, 0, 320, 240], [320, 240, 640, 480]]
    problem_of(ships.client.get(f"{ROUTE}/samples/none"), 404, "sample-not-found")


def test_verdicts_are_kept_and_counted(ships: RunningGateway) -> None:
    """Each in its line as it was said; the next one to be reviewed is another, and an undone one comes again."""
    say(ships.client, "count-1", answer="3", seconds=4.5)
    say(ships.client, "odd-1", "drop", reason="other", note="both are", answer="A")
    mended = say(ships.client, "presence-1", "mend", fields={"question": "Is a crane there?"}, answer="yes").json()
    assert [found["id"] for found in seen(ships.client)] == ["relation-1"]
    listed = ships.client.get(ROUTE).json()
    assert listed["states"] == {"unreviewed": 1, "keep": 1, "mend": 1, "drop": 1, "conflict": 0}
    (row,) = listed["reviewers"]
    assert (row["reviewer"], row["accuracy"]["value"], row["accuracy"]["count"]) == ("anonymous", 2 / 3, 3)
    assert [one["sample"] for one in listed["data"]] == ["count-1", "odd-1", "presence-1"]
    say(ships.client, "presence-1", "undo", undoes=mended["id"])
    assert [found["id"] for found in seen(ships.client)] == ["presence-1", "relation-1"]
    assert [line["verdict"] for line in lines(ships)] == ["keep", "drop", "mend", "undo"]
    assert ships.client.get(ROUTE, params={"state": "drop", "limit": 1}).json()["last_id"] == "odd-1"
    assert [found["id"] for found in seen(ships.client, state="drop")] == ["odd-1"]
    assert [found["id"] for found in seen(ships.client, state="all", before="relation-1", limit=1)] == ["presence-1"]


def test_what_is_sent_again_is_written_once(ships: RunningGateway) -> None:
    """As by a client whose answer was lost: also at once, by several, and after the sample has changed."""
    body = verdict(ships.client, "count-1")
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(lambda _: ships.client.post(ROUTE, json=body), range(16))]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == len(lines(ships)) == 1
    write_ships(ships.settings.data, [{**RECORDS[0], "answer": 4}])
    assert ships.client.post(ROUTE, json=body).text == answers[0].text
    problem_of(ships.client.post(ROUTE, json={**body, "answer": "5"}), 422, "review-refused")
    assert len(lines(ships)) == 1


def test_a_verdict_has_no_sample_read_again(ships: RunningGateway) -> None:
    """The data set stays loaded as it is: a million samples are not read for each verdict."""
    datasets: Datasets = ships.app.state.parts[Datasets]
    say(ships.client, "count-1")
    loaded = datasets.load(SHIPS)
    say(ships.client, "odd-1")
    assert ships.client.get(ROUTE).json()["states"]["keep"] == 2
    assert datasets.load(SHIPS) is loaded


def test_a_changed_sample_is_asked_again(ships: RunningGateway) -> None:
    """A verdict on what it was is refused, and one that was given does not count."""
    say(ships.client, "count-1")
    late = verdict(ships.client, "odd-1")
    write_ships(ships.settings.data, [{**RECORDS[0], "answer": 4}, {**RECORDS[1], "question": "Which?"}])
    assert [found["id"] for found in seen(ships.client)] == ["count-1", "odd-1"]
    assert ships.client.get(ROUTE).json()["reviewers"][0]["outdated"] == 1
    problem_of(ships.client.post(ROUTE, json=late), 409, "sample-changed")


@pytest.mark.parametrize(
    ("sample", "fields", "said"),
    [
        ("odd-1", {"answer": "D"}, "'D' is none of the options"),
        ("odd-1", {"options": {"A": "one", "C": "two"}}, "lettered A, C"),
        ("odd-1", {"options": {"A": "one", "B": "One ", "C": "two"}}, "'one' is offered 2 times"),
        ("count-1", {"options": {"A": "one", "B": "two"}}, "its record has none"),
        ("count-1", {"answer": "several"}, "several"),
        ("count-1", {"boxes": [[0, 0, 641, 9]]}, "beyond images/port.png of 640 x 480"),
    ],
)
def test_a_mend_that_cannot_be_read_is_refused(ships: RunningGateway, sample: str, fields: Any, said: str) -> None:
    """At once, by the field, before anything is written."""
    problem = problem_of(say(ships.client, sample, "mend", fields=fields), 422, "review-refused")
    assert said in problem["detail"]
    assert not (ships.settings.data / SHIPS / "reviews/anonymous.jsonl").exists()


@pytest.mark.parametrize(
    ("sample", "answer", "said"),
    [
        ("odd-1", "Z", "answer: 'z' is none of A, B, C"),
        ("count-1", "several", "answer: 'several' is no number"),
        ("presence-1", "perhaps", "answer: 'perhaps' is none of"),
    ],
)
def test_a_blind_answer_that_nobody_could_give_is_refused(
    ships: RunningGateway, sample: str, answer: str, said: str
) -> None:
    """By its field, before anything is written; that it cannot be told can always be said."""
    assert said in problem_of(say(ships.client, sample, answer=answer), 422, "review-refused")["detail"]
    assert not (ships.settings.data / SHIPS / "reviews/anonymous.jsonl").exists()
    assert say(ships.client, sample, answer="").status_code == 201


def test_mends_go_into_an_export(ships: RunningGateway) -> None:
    """As the data set is read again, with everything that was mended."""
    mend = {
        "question": "Which is it?",
        "options": {"A": "left", "B": "right"},
        "answer": "A",
        "boxes": [[1, 2, 30, 40]],
    }
    assert say(ships.client, "odd-1", "mend", fields=mend).status_code == 201
    folder = ships.settings.data / SHIPS
    records, counts = apply_reviews(RECORDS, read_reviews(folder, load_dataset(folder)))
    assert (counts.mended, counts.unreviewed) == (1, 3)
    write_ships(ships.settings.data, records)
    found = ships.client.get(f"{ROUTE}/samples/odd-1").json()
    assert (found["question"], found["options"], found["truth"]) == ("Which is it?", {"A": "left", "B": "right"}, "A")
    assert [one["box"] for one in found["evidence"]] == [[1, 2, 30, 40]]


def test_an_answer_that_awaits_an_expert_is_given(ships: RunningGateway) -> None:
    """As a mend of the sample, whatever its benchmark: nothing is compared before, and an export holds it."""
    write_dataset(ships.settings.data, [record(0, answer=""), record(1)])
    found = ships.client.get("/v1/datasets/town/reviews/samples/cctv-0000").json()
    assert found["truth"] == ""
    entry = {"id": "expert-says", "sample": found["id"], "digest": found["digest"], "answer": "C"}
    told = {**entry, "verdict": "mend", "fields": {"answer": "C"}}
    assert ships.client.post("/v1/datasets/town/reviews", json=told).status_code == 201
    assert ships.client.get("/v1/datasets/town/reviews").json()["reviewers"][0]["accuracy"]["value"] is None
    folder = ships.settings.data / "town"
    (mended, _), _ = apply_reviews([record(0, answer=""), record(1)], read_reviews(folder, load_dataset(folder)))
    assert mended == record(0, answer="C")


def test_two_reviewers_write_at_once_and_see_their_own(locked: RunningGateway) -> None:
    """Each as the key's owner; who operates sees both, how far they agree, and settles what they differ on."""
    write_ships(locked.settings.data)
    with Tenant(locked, "ada") as ada, Tenant(locked, "bob") as bob, Tenant(locked, "root", "operate") as root:
        names = [record["id"] for record in RECORDS]
        said = dict(zip(names, ("4", "A", "no", "A"), strict=True))
        with ThreadPoolExecutor(2) as pool:
            first = pool.map(lambda name: say(ada, name, answer=said[name]).status_code, names)
            dropped = {"reason": "unclear", "answer": "5"}
            second = pool.map(lambda name: say(bob, name, "drop", **dropped).status_code, names[:1])
            assert {*first, *second} == {201}
        say(bob, "odd-1")
        assert [row["reviewer"] for row in bob.get(ROUTE).json()["reviewers"]] == ["bob"]
        assert bob.get(f"{ROUTE}/samples/relation-1").json()["reviews"] == {}
        assert [found["id"] for found in seen(bob)] == names[2:]
        table = root.get(ROUTE).json()
        assert table["states"]["conflict"] == 1
        assert table["agreement"][0]["verdicts"]["value"] == 0.5
        assert set(root.get(f"{ROUTE}/samples/count-1").json()["reviews"]) == {"ada", "bob"}
        problem_of(say(bob, "count-1", id="bob-settles-it", settles=True), 403, "role-missing")
        assert say(root, "count-1", settles=True).status_code == 201
        assert root.get(ROUTE).json()["states"] == {"unreviewed": 0, "keep": 4, "mend": 0, "drop": 0, "conflict": 0}


def test_no_key_writes_in_anothers_name(locked: RunningGateway) -> None:
    """Nor undoes what another said, nor reviews with a key that only reads, nor without one."""
    write_ships(locked.settings.data)
    with Tenant(locked, "ada") as ada, Tenant(locked, "eve") as eve, Tenant(locked, "guest", "read") as guest:
        said = say(ada, "count-1").json()
        undo = verdict(eve, "count-1", "undo", undoes=said["id"])
        problem_of(eve.post(ROUTE, json=undo), 422, "review-refused")
        problem_of(eve.post(ROUTE, json={**undo, "reviewer": "ada"}), 422, "request-invalid")
        problem_of(say(guest, "count-1"), 403, "role-missing")
        problem_of(locked.client.post(ROUTE, json=undo), 401, "invalid-api-key")
        assert len(lines(locked, "ada")) == 1


def test_a_data_root_that_cannot_be_written_is_told_of(ships: RunningGateway) -> None:
    """By what is to be changed."""
    (ships.settings.data / SHIPS / "reviews").write_text("")
    assert "ships/reviews" in problem_of(say(ships.client, "count-1"), 409, "data-root-unwritable")["detail"]


def test_python_clients_review(ships: RunningGateway, capsys: pytest.CaptureFixture[str]) -> None:
    """What is to be reviewed, a verdict on it, and what all say; the command line prints where the page is."""
    with Client(ships.url) as client:
        (sample,) = client.samples_to_review(SHIPS, after="count-1")
        entry = {"sample": sample["id"], "digest": sample["digest"], "verdict": "keep", "answer": "B"}
        assert client.review(SHIPS, entry)["sample"] == "odd-1"
        assert client.reviews(SHIPS)["states"]["keep"] == 1
    print_review_address(SHIPS, ships.url)
    assert capsys.readouterr().out.strip() == f"{ships.url}/datasets/{SHIPS}/review"


def test_an_expert_s_answer_reaches_the_report_by_its_review(gateway: RunningGateway) -> None:
    """Of a record that awaits one; undone, it awaits one again. What is asked stays the same."""
    records = [record(0, id="t4", domain="wsi", answer="")]
    folder = write_dataset(gateway.settings.data, records, "slides")
    route, before = "/v1/datasets/slides/reviews", load_dataset(folder)
    (sample,) = gateway.client.get(f"{route}/samples").json()["data"]
    told = {"id": "t4-mended", "sample": "t4", "digest": sample["digest"], "verdict": "mend", "fields": {"answer": "B"}}
    assert gateway.client.post(route, json=told).status_code == 201
    assert (load_dataset(folder).samples[0].truth, load_dataset(folder).digest) == ("B", before.digest)
    assert gateway.client.get(f"{route}/samples/t4").json()["truth"] == "B"
    undone = {"id": "t4-undone", "sample": "t4", "digest": sample["digest"], "verdict": "undo", "undoes": "t4-mended"}
    assert gateway.client.post(route, json=undone).status_code == 201
    assert load_dataset(folder).samples[0].truth == ""
