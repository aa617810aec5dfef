"""Small pictures of rasters: of a job there are those that it was shown."""

from collections.abc import Callable

from gigavqa.store.previews import PreviewStore
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import Tenant
from tests.service.workers import RASTER_KEY, play

JPEG = b"\xff\xd8 a small picture"
OTHER_KEY = "fedcba9876543210"


def test_a_preview_is_given_once_and_kept_for_good(gateway: RunningGateway) -> None:
    """Its key names its content: who has it is told so; what is no key, or of no raster of the job, is refused."""
    store = PreviewStore(gateway.settings.results_uri)
    store.write(OTHER_KEY, JPEG)
    job = gateway.submit().json()["id"]
    play(gateway.redis_url)
    at = f"/v1/jobs/{job}/previews"
    problem_of(gateway.client.get(f"{at}/{RASTER_KEY}"), 404, "preview-not-found")
    store.write(RASTER_KEY, JPEG)
    answer = gateway.client.get(f"{at}/{RASTER_KEY}")
    assert (answer.content, answer.headers["content-type"]) == (JPEG, "image/jpeg")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    known = {"If-None-Match": answer.headers["etag"]}
    assert gateway.client.get(f"{at}/{RASTER_KEY}", headers=known).status_code == 304
    problem_of(gateway.client.get(f"{at}/{OTHER_KEY}"), 404, "preview-not-found")
    problem_of(gateway.client.get(f"{at}/..%2F..%2Fx"), 404, "not-found")
    problem_of(gateway.client.get(f"{at}/nokey"), 422, "request-invalid")


def test_who_knows_a_key_learns_nothing_of_it_before_his_own_job_was_shown_the_raster(
    start: Callable[..., RunningGateway],
) -> None:
    """Not even that somebody has it: a key can be computed by whoever has the picture."""
    gateway = start(require_keys=True)
    ada, bob = Tenant(gateway, "ada"), Tenant(gateway, "bob")
    PreviewStore(gateway.settings.results_uri).write(RASTER_KEY, JPEG)
    adas = ada.submit().json()["id"]
    play(gateway.redis_url)
    bobs = bob.submit().json()["id"]
    known = {"If-None-Match": f'"{RASTER_KEY}"'}
    assert ada.get(f"/v1/jobs/{adas}/previews/{RASTER_KEY}", headers=known).status_code == 304
    problem_of(bob.get(f"/v1/jobs/{adas}/previews/{RASTER_KEY}", headers=known), 404, "job-not-found")
    problem_of(bob.get(f"/v1/jobs/{bobs}/previews/{RASTER_KEY}", headers=known), 404, "preview-not-found")
    play(gateway.redis_url)
    assert bob.get(f"/v1/jobs/{bobs}/previews/{RASTER_KEY}").content == JPEG
