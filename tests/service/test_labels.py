"""A job's responses are labelled, over HTTP and on the page, and its report follows."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browsing import AXE, Complaints, axe_findings, elsewhere, fits, launched_browser, with_browser
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import Tenant
from tests.service.workers import play

HOPS = "hops"


@pytest.fixture
def hops(gateway: RunningGateway) -> RunningGateway:
    """A gateway with questions whose wrong answers people sort."""
    write_hops(gateway.settings.data)
    return gateway


def write_hops(root: Path) -> None:
    """Write two questions about one picture."""
    folder = root / HOPS
    for name in ("samples", "images"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (640, 480), (90, 120, 60)).save(folder / "images/port.png")
    (folder / "dataset.toml").write_text(f'name = "{HOPS}"\nbenchmark = "vistahop"\n')
    records = (
        {"id": name, "image": "images/port.png", "question": "In which year?", "answers": ["1911"], "hops": 7}
        for name in "ab"
    )
    (folder / "samples/all.jsonl").write_text("\n".join(map(json.dumps, records)))


def played(gateway: RunningGateway, client: Any = None, said: str = "Final answer: 1999") -> str:
    """A job over them, answered; returns its id."""
    body = {"dataset": HOPS, "models": ["demo-qwen3-vl"], "cells": [{"protocol": "direct", "condition": "V2"}]}
    job_id: str = (client or gateway.client).post("/v1/jobs", json=body).json()["id"]
    play(gateway.redis_url, lambda _: said)
    return job_id


def requests_of(gateway: RunningGateway, job_id: str, client: Any = None) -> list[str]:
    """The ids of a job's responses."""
    lines = (client or gateway.client).get(f"/v1/jobs/{job_id}/results").text.splitlines()
    return sorted(json.loads(line)["request_id"] for line in lines)


def written(gateway: RunningGateway, file: str) -> list[dict[str, Any]]:
    """What stands in a file of labels."""
    return [json.loads(line) for line in (gateway.settings.data / HOPS / file).read_text().splitlines()]


def test_a_label_is_in_its_file_when_it_is_answered(hops: RunningGateway) -> None:
    """In the benchmark's own form; a second one takes its place, and null takes it back."""
    job_id = played(hops)
    first, second = requests_of(hops, job_id)
    route = f"/v1/jobs/{job_id}/labels"
    known = hops.client.get(route).json()
    assert [(kind["name"], kind["together"]) for kind in known["kinds"]] == [("judgement", False), ("failure", True)]
    for choice in ("anchor", "drift"):
        told = hops.client.put(route, json={"kind": "failure", "request": first, "choice": choice}).json()["data"]
        assert [(label["request"], label["choice"]) for label in told] == [(first, choice)]
    hops.client.put(route, json={"kind": "judgement", "request": second, "choice": "incorrect"})
    assert written(hops, "failures.jsonl") == [{"job": job_id, "request": first, "type": "drift"}]
    said = {"job": job_id, "request": second, "annotator": "anonymous", "correct": False}
    assert written(hops, "judgements.jsonl") == [said]
    assert hops.client.get(f"/v1/jobs/{job_id}/report").status_code == 200
    assert hops.client.put(route, json={"kind": "judgement", "request": second}).json()["data"] == told
    assert written(hops, "judgements.jsonl") == []


def test_what_cannot_be_said_is_refused(hops: RunningGateway) -> None:
    """By the field; a benchmark without labels offers none."""
    job_id = played(hops)
    (first, _), route = requests_of(hops, job_id), f"/v1/jobs/{job_id}/labels"
    for wish, told in (
        ({"kind": "failure", "request": "none"}, "request: the job has no response"),
        ({"kind": "mood", "request": first}, "kind: 'mood' is not known; there is judgement, failure"),
        ({"kind": "failure", "request": first, "choice": "rain"}, "choice: 'rain' is none of anchor"),
    ):
        assert told in problem_of(hops.client.put(route, json=wish), 422, "review-refused")["detail"]
    town = hops.submit().json()["id"]
    assert hops.client.get(f"/v1/jobs/{town}/labels").json()["kinds"] == []


def test_annotators_are_the_owners_of_keys(locked: RunningGateway) -> None:
    """Who sees the job labels it; it is not there for others, and a key that reads does not label."""
    write_hops(locked.settings.data)
    with Tenant(locked, "ada") as ada, Tenant(locked, "eve") as eve, Tenant(locked, "root", "operate") as root:
        job_id = played(locked, ada)
        wish = {"kind": "judgement", "request": requests_of(locked, job_id, ada)[0], "choice": "correct"}
        route = f"/v1/jobs/{job_id}/labels"
        assert ada.put(route, json=wish).status_code == root.put(route, json=wish).status_code == 200
        problem_of(eve.put(route, json=wish), 404, "job-not-found")
        assert [line["annotator"] for line in written(locked, "judgements.jsonl")] == ["ada", "root"]
        assert len(ada.get(route).json()["data"]) == 1


@with_browser
@pytest.mark.slow
def test_responses_are_labelled_on_a_page(hops: RunningGateway) -> None:
    """By keys, one response a screen, in both schemes and at both widths."""
    job_id = played(hops)
    first, second = requests_of(hops, job_id)
    with launched_browser() as browser:
        tab = browser.new_page()
        seen = Complaints(tab)
        tab.goto(f"{hops.url}/jobs/{job_id}")
        tab.get_by_role("link", name="Label its responses").click()
        expect(tab.locator("#reply")).to_have_text("Final answer: 1999")
        tab.keyboard.press("3")
        expect(tab.locator("[data-kind=failure] [aria-pressed=true]")).to_contain_text("wrong or missing visual anchor")
        tab.keyboard.press("ArrowRight")
        expect(tab.locator("#bar")).to_contain_text("2 of 2")
        tab.keyboard.press("2")
        expect(tab.locator("[data-kind=judgement] [aria-pressed=true]")).to_contain_text("it is not")
        found = {(line["request"], line["type"]) for line in written(hops, "failures.jsonl")}
        assert len(found) == 1
        assert found <= {(first, "anchor"), (second, "anchor")}
        assert seen.told == []
        for scheme in ("light", "dark"):
            for width in (390, 1440):
                tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                tab.set_viewport_size({"width": width, "height": 800})
                assert (axe_findings(tab) if AXE.is_file() else [], fits(tab)) == ([], True)
        elsewhere(lambda: hops.client.put(f"/v1/jobs/{job_id}/labels", json={"kind": "failure", "request": first}))
        town = elsewhere(lambda: hops.submit().json()["id"])
        tab.goto(f"{hops.url}/jobs/{town}/label")
        expect(tab.locator("#content")).to_contain_text("reads no labels")
