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
from tests.construction.calls.painted import write_plazas
from tests.flow.installation import Installation
from tests.flow.jobs import MODEL
from tests.waiting import wait_until

CALLS = 8 * 3


@pytest.mark.engine
@pytest.mark.timeout(600)
def test_every_reply_has_the_form_of_the_schema(tmp_path: Path) -> None:
    """So that nothing is dropped as unreadable; samples that mean nothing disagree, are unsure, or all alike."""
    truth = write_plazas(tmp_path / "plazas", 1)
    told = {"source": tmp_path / "plazas/person.json", "images": tmp_path / "plazas/images", "benchmark": "ultravr"}
    settings = BuildSettings(**told, names={"person": CategoryNames("person", "persons")}, ask=MODEL)
    build = Build(BuildFolder(tmp_path / "builds", "plaza"), settings)
    installation = Installation(tmp_path)
    (tmp_path / "data").mkdir()
    try:
        installation.start_server()
        installation.start_gateway()
        installation.start_worker("--model", MODEL)
        served = f"{installation.url}/v1/models/{MODEL}"
        wait_until(lambda: httpx.get(served, timeout=30).json()["loaded"] == 1, timeout=400, what="the engine's start")
        with build.folder.locked(), CallDesk(build.folder, load_catalogue().find, url=installation.url) as desk:
            build.run(desk)
    finally:
        installation.stop()
    (account,) = call_accounts(build.folder)
    assert (account.spent.asked, account.outcome) == (CALLS, {"read": CALLS, "dropped": {}, "open": {}})
    assert sum(build.omissions["counts"].values()) == len(truth)
    assert {"cctv-cues-disagree", "cctv-cues-unsure", "cctv-cues-alike"} >= set(build.omissions["counts"])
