"""A build asks a real model, whose weights are random: every reply has the schema's form, and none is believed."""

from pathlib import Path

import httpx
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.builds import Build
from gigavqa.construction.calls.accounts import call_accounts
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.construction.recipes.recipe import CategoryNames
from tests.construction.calls.painted import write_land, write_plazas
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL
from tests.waiting import wait_until

CALLS = 8 * 3
NAMES = {name: CategoryNames(name, f"{name}s") for name in ("person", "ship")}


def built(folder: Path, url: str, source: Path, images: Path) -> Build:
    """Run a build that asks the model."""
    told = {"source": source, "images": images, "benchmark": "ultravr", "ask": MODEL}
    names = {"person": NAMES["person"]} if source.suffix else {"ship": NAMES["ship"]}
    build = Build(BuildFolder(folder, source.stem), BuildSettings.model_validate({**told, "names": names}))
    with build.folder.locked(), CallDesk(build.folder, load_catalogue().find, url=url) as desk:
        build.run(desk)
    return build


@pytest.mark.engine
@pytest.mark.timeout(600)
def test_every_reply_has_the_form_of_the_schema(tmp_path: Path) -> None:
    """So that nothing is dropped as unreadable; samples that mean nothing disagree, are unsure, or all alike.

    Of landmarks a box may have no area, which no schema can say; none that means nothing is found again.
    """
    truth, land = write_plazas(tmp_path / "plazas", 1), write_land(tmp_path / "land", 1)
    installation = Installation(tmp_path)
    (tmp_path / "data").mkdir()
    try:
        installation.start_server()
        installation.start_gateway()
        installation.start_worker("--model", MODEL)
        served = f"{installation.url}/v1/models/{MODEL}"
        wait_until(lambda: httpx.get(served, timeout=30).json()["loaded"] == 1, timeout=400, what="the engine's start")
        plaza = built(
            tmp_path / "builds", installation.url, tmp_path / "plazas/person.json", tmp_path / "plazas/images"
        )
        port = built(tmp_path / "builds", installation.url, land / "labels", land / "images")
    finally:
        installation.stop()
    (account,) = call_accounts(plaza.folder)
    assert (account.spent.asked, account.outcome) == (CALLS, {"read": CALLS, "dropped": {}, "open": {}})
    assert sum(plaza.omissions["counts"].values()) == len(truth)
    assert {"cctv-cues-disagree", "cctv-cues-unsure", "cctv-cues-alike"} >= set(plaza.omissions["counts"])
    asked = {one.stage: one for one in call_accounts(port.folder)}["rs-landmarks"]
    assert (asked.spent.asked >= 4, asked.outcome["open"]) == (True, {})
    assert set(asked.outcome["dropped"]) <= {"box"}
    assert next(port.images()).landmarks == ()
