"""What a data set holds, page by page, what can be asked of it, and which version answers."""

from collections.abc import Callable
from importlib.metadata import version

from gigavqa.evaluation.installed import installed_benchmarks
from tests.service.datasets import NAME, record, write_dataset, write_town
from tests.service.gateways import RunningGateway, problem_of


def test_samples_are_listed_in_pages_and_told_whole(gateway: RunningGateway) -> None:
    """In the order of the data set; one of them comes with a record that reads as the same sample."""
    first = gateway.client.get(f"/v1/datasets/{NAME}/samples", params={"limit": 3}).json()
    rest = gateway.client.get(f"/v1/datasets/{NAME}/samples", params={"after": first["last_id"]}).json()
    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert [one["id"] for one in first["data"] + rest["data"]] == [f"cctv-{number:04d}" for number in range(4)]
    whole = gateway.client.get(f"/v1/datasets/{NAME}/samples/cctv-0001").json()
    assert {name: whole[name] for name in first["data"][1]} == first["data"][1]
    assert (whole["truth"], whole["record"]["answer"]) == ("B", "B")


def test_samples_are_found_by_picture_group_and_words(gateway: RunningGateway) -> None:
    """A filter that fits nothing gives an empty page, and an unknown sample is not found."""

    def found(**filters: str) -> list[str]:
        page = gateway.client.get(f"/v1/datasets/{NAME}/samples", params=filters).json()
        return [one["id"] for one in page["data"]]

    assert found(image="images/plaza-1.png") == ["cctv-0001", "cctv-0003"]
    assert found(search="CCTV-0002") == ["cctv-0002"] and len(found(search="more people")) == 4
    assert len(found(group="cctv")) == 4 and found(group="rs") == []
    problem_of(gateway.client.get(f"/v1/datasets/{NAME}/samples/nobody"), 404, "sample-not-found")
    refused = gateway.client.get(f"/v1/datasets/{NAME}/samples", params={"after": "nobody"})
    problem_of(refused, 404, "sample-not-found")
    problem_of(gateway.client.get("/v1/datasets/nowhere/samples"), 404, "dataset-not-found")


def test_pictures_are_listed_with_what_their_headers_tell(gateway: RunningGateway) -> None:
    """One that cannot be read says why, beside those that can, and says nothing of where the data root lies."""
    folder = write_town(gateway.settings.data)
    (folder / "images/plaza-1.png").write_bytes(b"no picture")
    page = gateway.client.get(f"/v1/datasets/{NAME}/images", params={"limit": 1}).json()
    (good,) = page["data"]
    assert (good["width"], good["height"], good["format"], good["num_samples"]) == (640, 480, "png", 2)
    assert good["num_bytes"] == (folder / "images/plaza-0.png").stat().st_size
    (bad,) = gateway.client.get(f"/v1/datasets/{NAME}/images", params={"after": page["last_id"]}).json()["data"]
    assert bad["width"] is None and bad["error"] and str(gateway.settings.data) not in bad["error"]


def test_a_picture_that_a_sample_shows_in_its_own_way_says_so(gateway: RunningGateway) -> None:
    """So that pages lead to it in these colours; of all others nothing is said."""
    write_dataset(gateway.settings.data, [record(0, show="bands=1;gamma=2"), record(1)])
    first, second = gateway.client.get(f"/v1/datasets/{NAME}/images").json()["data"]
    assert (first["show"], second["show"]) == ("bands=1 gamma=2", "")


def test_pictures_are_a_manifest_that_iiif_viewers_open(start: Callable[..., RunningGateway]) -> None:
    """A canvas for each picture that can be read, which our viewer draws; without a viewer there is none."""
    gateway = start(viewer_url="http://127.0.0.1:8471/")
    (write_town(gateway.settings.data) / "images/plaza-1.png").write_bytes(b"no picture")
    answer = gateway.client.get(f"/v1/datasets/{NAME}/manifest")
    manifest = answer.json()
    assert answer.headers["content-type"].startswith("application/ld+json")
    assert (manifest["type"], manifest["id"]) == ("Manifest", f"{gateway.url}/v1/datasets/{NAME}/manifest")
    assert manifest["summary"] == {"en": ["1 picture of 2; 1 other cannot be read"]}
    (canvas,) = manifest["items"]
    (painting,) = canvas["items"][0]["items"]
    assert "#" not in canvas["id"]  # fragments of it are parts of the picture
    assert (canvas["width"], canvas["height"], painting["target"]) == (640, 480, canvas["id"])
    (service,) = painting["body"]["service"]
    assert service["id"] == f"http://127.0.0.1:8471/iiif/3/{NAME}%2Fimages%2Fplaza-0.png"
    assert painting["body"]["id"] == f"{service['id']}/full/max/0/default.jpg"
    assert gateway.client.get(f"/v1/datasets/{NAME}/manifest?after=images/plaza-0.png").json()["items"] == []


def test_a_manifest_needs_a_viewer(gateway: RunningGateway) -> None:
    """Which the operator names."""
    problem = problem_of(gateway.client.get(f"/v1/datasets/{NAME}/manifest"), 404, "viewer-missing")
    assert "GIGAVQA_VIEWER_URL" in problem["detail"]


def test_every_plan_is_listed_with_its_cells(gateway: RunningGateway) -> None:
    """What is listed first for a benchmark is what a job without a plan asks."""
    plans = gateway.client.get("/v1/plans").json()["data"]
    known = [(name, plan) for name, one in installed_benchmarks().items() for plan in one.plans]
    assert [(plan["benchmark"], plan["name"]) for plan in plans] == known
    chosen = gateway.client.get("/v1/plans", params={"benchmark": "questions"}).json()["data"]
    assert {plan["benchmark"] for plan in chosen} == {"questions"} and chosen[0]["cells"]


def test_the_version_is_the_distributions(gateway: RunningGateway) -> None:
    """With the benchmarks that are installed."""
    told = gateway.client.get("/v1/version").json()
    assert (told["version"], told["api"]) == (version("gigavqa"), "v1")
    assert "ultravr" in told["benchmarks"]
