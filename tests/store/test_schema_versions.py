"""What was kept in the first form is read in the form of now: bundles, specifications, responses hot and sunk."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from redis.asyncio import Redis

from gigavqa.contract.codec import compress
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import SCHEMA_VERSION, Bundle
from gigavqa.contract.responses import Response
from gigavqa.contract.schema_versions import read_bundle, read_response, read_spec
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.tiling.views import View
from tests.store.examples import MODEL, SPEC, make_bundles, run_job
from tests.store.parts import parts_of, sink_all

FORM_1 = Path(__file__).parent / "form_1"
TEXTS: list[str] = pyarrow.parquet.read_table(FORM_1 / "part.parquet")["response"].to_pylist()


def told(response: Response) -> dict[str, Any]:
    """A response as the first form told it."""
    fields = response.model_dump(mode="json", exclude={"version", "details"})
    for turn in fields["turns"]:
        turn["step_id"] = turn.pop("asks")
    for raster in fields["rasters"]:
        assert raster.pop("turn") == 0
    return fields | {"examples": response.details.get("examples")}


def test_a_response_of_the_first_form_tells_what_it_told() -> None:
    """All 45 of a part have every field that they had, failures, overflows and told trajectories among them."""
    assert [told(read_response(text)) for text in TEXTS] == [json.loads(text) for text in TEXTS]


@pytest.mark.parametrize("text", TEXTS[::9])
def test_a_response_is_written_in_the_form_of_now(text: str) -> None:
    """It begins with its version, tells its labels flat, and comes back equal."""
    response = read_response(text)
    written = response.model_dump_json()
    assert written.startswith(f'{{"version":{SCHEMA_VERSION},"request_id":')
    assert read_response(written) == read_response(written.encode()) == response


def test_fields_in_another_order_are_the_same_response() -> None:
    """Tools that write JSON anew may sort its fields."""
    response = read_response(TEXTS[0])
    sorted_anew = json.dumps(json.loads(response.model_dump_json()), sort_keys=True)
    assert read_response(sorted_anew) == response


def test_a_response_of_a_form_to_come_is_refused() -> None:
    """It is not read as if it were of this form."""
    text = json.dumps({**json.loads(TEXTS[0]), "version": SCHEMA_VERSION + 1})
    with pytest.raises(
        ValueError, match=f"is of version {SCHEMA_VERSION + 1}; this release reads versions 1 to {SCHEMA_VERSION}"
    ):
        read_response(text)


async def test_a_hot_response_of_the_first_form_is_read_and_sunk(redis: Redis, tmp_path: Path) -> None:
    """What an older worker recorded is read from the server, and from the part that the sink makes of it."""
    job = await run_job(redis, 1)
    await redis.hset(KEYS.texts(job.id), "r0", compress(TEXTS[0].encode()))
    results = ResultStore(redis, str(tmp_path))
    ((_, hot),) = await results.read(job.id)
    await sink_all(redis, tmp_path)
    ((_, sunk),) = await results.read(job.id)
    assert hot == sunk == read_response(TEXTS[0])


async def test_a_part_of_the_first_form_is_read(redis: Redis, tmp_path: Path) -> None:
    """Pointers of the server into an older part find its responses."""
    job = await run_job(redis, 2)
    await sink_all(redis, tmp_path)
    (part,) = parts_of(tmp_path)
    shutil.copy(FORM_1 / "part.parquet", part)
    await redis.delete(KEYS.parts(job.id))  # its seal is of the other content
    read = await ResultStore(redis, str(tmp_path)).read(job.id)
    assert [response for _, response in read] == [read_response(text) for text in TEXTS[:2]]


async def test_a_bundle_that_was_queued_in_the_first_form_is_claimed(redis: Redis) -> None:
    """A worker of now plays what an older gateway has queued."""
    old = json.loads((FORM_1 / "bundle.json").read_text())
    job, _ = await JobRegistry(redis).create(SPEC)
    queue = JobQueue(redis)
    (queued,) = make_bundles(job.id, 1)
    await queue.enqueue(job.id, [queued], None)
    await redis.hset(KEYS.payloads(job.id), queued.id, compress(json.dumps(old).encode()))
    (lease,) = await queue.claim([MODEL], "w", 1, 0)
    few_shot, given = lease.bundle.requests
    assert (few_shot.id, few_shot.details) == (old["requests"][0]["id"], {"examples": ["rs-other"]})
    assert [view.model_dump() for view in few_shot.views] == old["requests"][0]["views"]
    asked = [(turn["text"], turn["step_id"], turn["given"]) for turn in old["requests"][1]["turns"]]
    assert [(turn.text, turn.asks, turn.given) for turn in given.turns] == asked


def test_views_of_the_first_form_come_before_the_first_text() -> None:
    """As they did in every prompt then."""
    old = json.loads((FORM_1 / "bundle.json").read_text())["requests"][0]
    (turn,) = read_bundle((FORM_1 / "bundle.json").read_bytes()).requests[0].turns
    assert turn.parts == (*(View.model_validate(view) for view in old["views"]), old["turns"][0]["text"])


def test_a_bundle_of_the_form_of_now_comes_back_equal() -> None:
    """Reading is the inverse of writing."""
    (bundle,) = make_bundles("job", 1, 3)
    assert read_bundle(bundle.model_dump_json().encode()) == bundle


def test_a_specification_of_the_first_form_has_its_options() -> None:
    """What stood beside the other fields is an option now, and nothing else is changed."""
    old = json.loads((FORM_1 / "spec.json").read_text())
    spec = read_spec((FORM_1 / "spec.json").read_text())
    assert spec.options == {"thumbnail": old.pop("thumbnail"), "examples": old.pop("examples")}
    assert spec.model_dump(mode="json", exclude={"options"}) == old


def test_an_option_that_stands_twice_is_refused() -> None:
    """Neither of the two is preferred in silence."""
    with pytest.raises(ValueError, match="thumbnail"):
        read_spec(json.dumps({**SPEC.model_dump(mode="json"), "options": {"thumbnail": 1}, "thumbnail": 2}))


def test_what_is_no_object_is_refused() -> None:
    """By the fields that it lacks."""
    for read, kind in ((read_response, Response), (read_spec, JobSpec)):
        with pytest.raises(ValueError, match=kind.__name__):
            read("[1]")
    with pytest.raises(ValueError, match=Bundle.__name__):
        read_bundle(b"{}")
