"""Builds that ask a model for what nobody added: what it sees in the pictures becomes questions, once each."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.build_settings import BuildSettings
from gigavqa.construction.builds import Build
from gigavqa.construction.calls.accounts import call_accounts
from gigavqa.construction.calls.budgets import CallBudget
from gigavqa.construction.calls.call_desk import CallDesk
from gigavqa.construction.errors import BuildError
from gigavqa.construction.recipes.recipe import CategoryNames
from gigavqa.construction.ultravr.cctv_cues import agreement
from gigavqa.construction.ultravr.rs_landmarks import is_broad
from tests.construction.calls.conftest import Service
from tests.construction.calls.painted import cues_seen, halls_seen, write_land, write_plazas
from tests.construction.cutting import build_with_cuts
from tests.workers.examples import ENTRY

PLAZAS, PAIRS = 2, 8
BAG = {"carried": "a bag"}
_NAMES = {name: CategoryNames(name, f"{name}s") for name in ("person", "ship")}


@pytest.fixture(scope="module")
def plazas(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Painted plazas, and where each person faces."""
    folder = tmp_path_factory.mktemp("plazas")
    return folder, write_plazas(folder / "plazas", PLAZAS)


def settings_of(folder: Path, source: str, category: str, **changed: object) -> BuildSettings:
    """Of a build that asks."""
    told: dict[str, object] = {"source": folder / source, "images": folder / "images", "benchmark": "ultravr"}
    told |= {"names": {category: _NAMES[category]}, "ask": ENTRY.id, "per_image": 1000, "per_recipe": 0}
    return BuildSettings.model_validate(told | changed)


def built(service: Service, builds: Path, settings: BuildSettings, most: int | None = None) -> Build:
    """Run a build to its end, within a budget of calls."""
    made = Build(BuildFolder(builds, "seen"), settings)
    budget = CallBudget(calls=most)
    with made.folder.locked(), CallDesk(made.folder, lambda _: ENTRY, url=service.gateway.url, budget=budget) as desk:
        made.run(desk)
    return made


def facings(build: Build) -> dict[str, Any]:
    """Where persons face in the relational candidates of a build, by their ids."""
    found = [one for one in build.candidates() if one.recipe == "cctv-relational-inference"]
    pairs = [(name, one.program[f"target_{at}"]) for one in found for at, name in zip("ab", one.objects, strict=True)]
    return {name: target["direction"] for name, target in pairs}


def test_relational_questions_have_the_facing_that_was_painted(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Three samples a pair, asked once; the page's account says what the dry run said, and the same again asks none."""
    folder, truth = plazas
    service.server.begin(lambda seen, _: seen, subject=cues_seen)
    settings = settings_of(folder / "plazas", "person.json", "person")
    build = built(service, tmp_path, settings)
    assert facings(build) == truth
    assert any(record["id"].startswith("cctv-relational") for record in build.records())
    (account,) = call_accounts(build.folder)
    assert account.forecast is not None
    assert account.forecast.calls == account.spent.asked == account.spent.answered == 3 * PAIRS * PLAZAS
    lines = [json.loads(line) for line in build.folder.file("additions.jsonl").read_text().splitlines()]
    assert {line["object"]: len(line["calls"]) for line in lines} == dict.fromkeys(truth, 3)
    asked = service.server.asked.total()
    built(service, tmp_path, settings)
    assert service.server.asked.total() == asked == 3 * PAIRS * PLAZAS


def test_a_dry_run_asks_nothing_and_tells_what_is_left(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Before anything is asked, and after."""
    service.server.begin(lambda seen, _: seen, subject=cues_seen)
    made = Build(BuildFolder(tmp_path, "seen"), settings_of(plazas[0] / "plazas", "person.json", "person"))

    def forecast() -> Any:
        with made.folder.locked(), CallDesk(made.folder, lambda _: ENTRY, url=service.gateway.url) as desk:
            return made.forecast(desk)[0]

    before = forecast()
    assert (before.whole.calls, before.left.calls) == (3 * PAIRS * PLAZAS, 3 * PAIRS * PLAZAS)
    assert before.whole.visual_tokens > 0 and service.server.asked.total() == 0
    built(service, tmp_path, made.settings)
    assert forecast().left.calls == 0


@pytest.mark.slow
def test_persons_of_unreadable_replies_are_told_as_work_for_people(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Every third pair's replies are no JSON; the others' facing is as painted."""
    folder, truth = plazas
    wrong: set[str] = set()

    def answer(seen: str, _: int) -> str:
        if seen not in pairs:
            pairs.append(seen)
        if pairs.index(seen) % 3 == 0:
            wrong.add(seen)
            return "no idea"
        return seen

    pairs: list[str] = []
    service.server.begin(answer, subject=cues_seen)
    build = built(service, tmp_path, settings_of(folder / "plazas", "person.json", "person"))
    left = build.omissions["counts"]["cctv-cues-unread"]
    lines = [json.loads(line) for line in build.folder.file("additions.jsonl").read_text().splitlines()]
    assert left >= 2 * len(wrong) > 0
    assert len(lines) == len(truth) - left
    assert {line["object"]: line["attributes"]["facing"] for line in lines}.items() <= truth.items()
    assert any("--attributes" in one["sentence"] for one in build.omissions["sentences"])


def test_a_build_whose_budget_is_spent_goes_on_and_asks_the_rest_later(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """It says how many questions are open and why; a larger bound asks what is left, and nothing twice."""
    folder, truth = plazas
    service.server.begin(lambda seen, _: seen, subject=cues_seen)
    settings, most = settings_of(folder / "plazas", "person.json", "person"), 3 * PAIRS
    few = built(service, tmp_path, settings, most)
    assert 0 < len(facings(few)) < len(truth)
    assert few.omissions["counts"]["cctv-cues-open"] == PAIRS * (PLAZAS - 1)
    assert any(f"{most} of --at-most-calls {most} are asked" in one["sentence"] for one in few.omissions["sentences"])
    whole = built(service, tmp_path, settings)
    assert facings(whole) == truth
    assert service.server.asked.total() == 3 * PAIRS * PLAZAS


@pytest.mark.slow
def test_a_build_that_is_cut_at_any_file_asks_nothing_twice(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And comes to the records of one that was not."""
    service.server.begin(lambda seen, _: seen, subject=cues_seen)
    settings = settings_of(plazas[0] / "plazas", "person.json", "person")
    cut = build_with_cuts(lambda: built(service, tmp_path / "cut", settings), monkeypatch)
    assert cut.cuts > 5
    assert service.server.asked.total() == 3 * PAIRS * PLAZAS
    assert facings(cut.build) == plazas[1]


def test_what_people_said_stands_and_is_not_asked(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Of two persons of one pair nothing is asked; of one whose neighbour is told, both are shown and one is kept."""
    folder, truth = plazas
    table = tmp_path / "cues.csv"
    told = {"person.json#1": "left", "person.json#2": "left", "person.json#3": "left"}
    table.write_text("object,facing\n" + "".join(f"{name},{facing}\n" for name, facing in told.items()))
    service.server.begin(lambda seen, _: seen, subject=cues_seen)
    build = built(service, tmp_path, settings_of(folder / "plazas", "person.json", "person", attributes=table))
    assert service.server.asked.total() == 3 * (PAIRS * PLAZAS - 1)
    found = {one.id: one.attributes["facing"] for image in build.images() for one in image.annotations}
    assert found == truth | told


@pytest.mark.slow
def test_landmarks_are_named_found_again_and_counted_by(service: Service, tmp_path: Path) -> None:
    """The halls of four quadrants are kept with the boxes that were painted; an open area is no landmark."""
    folder = write_land(tmp_path / "land", 2)
    service.server.begin(lambda seen, _: seen, subject=halls_seen)
    build = built(service, tmp_path, settings_of(folder, "labels", "ship"))
    marks = {one.attributes["landmark"]: one.box for one in next(build.images()).landmarks}
    assert set(marks) == {f"the {color} hall" for color in ("blue", "yellow", "purple", "white")}
    assert marks["the yellow hall"] == pytest.approx((700, 150, 800, 250), abs=4)
    assert build.omissions["counts"]["rs-landmarks-broad"] == 8
    conditions = {one.program["condition_a"] for one in build.candidates() if one.recipe == "rs-comparison"}
    assert any("hall" in one for one in conditions)
    spent = {one.stage: one.spent.asked for one in call_accounts(build.folder)}
    assert spent == {"rs-landmarks": 8, "rs-landmark-check": 8}


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ({"number": "several", "boxes": [[400, 375, 600, 625]] * 2}, "not-one"),
        ({"number": "one", "boxes": [[0, 0, 100, 100]]}, "elsewhere"),
    ],
)
def test_landmarks_that_are_not_found_again_are_told_as_work_for_people(
    service: Service, tmp_path: Path, check: dict[str, Any], reason: str
) -> None:
    """Several such things, or one in another place."""
    folder = write_land(tmp_path / "land", 1)
    service.server.begin(lambda seen, _: json.dumps(check) if "number" in seen else seen, subject=halls_seen)
    build = built(service, tmp_path, settings_of(folder, "labels", "ship"))
    assert next(build.images()).landmarks == ()
    assert build.omissions["counts"] == {f"rs-landmarks-{reason}": 4, "rs-landmarks-broad": 4}


def test_a_model_that_says_the_same_of_everybody_is_not_believed(
    service: Service, plazas: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """Its samples agree, and it is sure; but so is one that never looks."""
    truth = plazas[1]
    same = json.dumps({ink: _seen() for ink in ("red", "green")})
    service.server.begin(lambda *_: same, subject=cues_seen)
    build = built(service, tmp_path, settings_of(plazas[0] / "plazas", "person.json", "person"))
    assert build.omissions["counts"] == {"cctv-cues-alike": len(truth)}
    assert facings(build) == {}


def test_recipes_that_ask_nothing_refuse_a_model(service: Service, tmp_path: Path) -> None:
    """By the names of those that ask."""
    folder = write_land(tmp_path / "land", 1)
    with pytest.raises(BuildError, match="cctv-relational-inference, rs-comparison do"):
        built(service, tmp_path, settings_of(folder, "labels", "ship", recipes=("rs-relational-inference",)))


def test_a_model_that_writes_boxes_in_pixels_is_refused_for_landmarks(service: Service, tmp_path: Path) -> None:
    """Pixels of what is shown are none of the image's."""
    made = Build(BuildFolder(tmp_path, "seen"), settings_of(write_land(tmp_path / "land", 1), "labels", "ship"))
    entry = ENTRY.model_copy(update={"box_convention": "pixels"})
    with (
        made.folder.locked(),
        CallDesk(made.folder, lambda _: entry, url=service.gateway.url) as desk,
        pytest.raises(BuildError, match="writes boxes in pixels"),
    ):
        made.run(desk)


def _seen(direction: str = "left", confidence: float = 0.9, carried: str = "a bag") -> dict[str, Any]:
    return {
        "direction": direction, "confidence": confidence, "upper_clothing_color": "blue", "headwear": "none",
        "carried": carried,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        ([_seen()] * 3, {"facing": "left", "upper clothing": "blue", **BAG}),
        ([_seen(), _seen(), _seen(carried="a box")], {"facing": "left", "upper clothing": "blue"}),
        ([_seen(confidence=each) for each in (0.1, 0.8, 0.9)], {"facing": "left", "upper clothing": "blue", **BAG}),
        ([_seen(), _seen(), _seen("right")], "disagree"),
        ([_seen(confidence=0.79)] * 3, "unsure"),
        ([_seen("unsure")] * 3, "unsure"),
        ([_seen()] * 2, "unread"),
    ],
)  # fmt: skip
def test_what_three_samples_agree_on_is_kept_where_they_are_sure(seen: list[dict[str, Any]], kept: Any) -> None:
    """A cue that they do not agree on is left out, and the rest stays."""
    assert agreement(seen) == kept


@pytest.mark.parametrize("text", ["the road", "a building", "green grass", "the long road", "open area", "Buildings"])
def test_broad_descriptions_are_no_landmarks(text: str) -> None:
    """They fit many things; what stands out of its kind fits one."""
    assert is_broad(text)
    assert not is_broad("the red-roofed building")
