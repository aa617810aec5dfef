"""Commands that need no service: budget, models, view, ingest."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.catalogue.load import SHIPPED_MODELS
from tests.cli.installation import MODEL, Installation


def test_budget_prints_rasters_and_visual_tokens(installation: Installation) -> None:
    """Qwen3-VL at the paper's budget: 4096 x 4096 pixels are 16384 tokens of 32 x 32 pixels."""
    found = installation.json("budget", "qwen3-vl-8b", "10000x10000")
    assert found["rasters"] == [[4096, 4096]]
    assert found["visual_tokens"] == 16384
    assert found["source"] == [10000, 10000]


def test_budget_refuses_what_the_family_refuses(installation: Installation) -> None:
    """A picture 300 times as long as broad ends in the budget's own error."""
    run = installation.run("budget", "qwen3-vl-8b", "30000x100")
    assert run.returncode == 2
    assert "30000x100" in run.stderr


def test_models_lists_the_catalogue_and_the_operators_entries(installation: Installation) -> None:
    """An entry in GIGAVQA_HOME/catalogue stands beside those of the product."""
    entry = SHIPPED_MODELS / f"{MODEL}.toml"
    own = installation.home / "catalogue" / "mine.toml"
    own.parent.mkdir()
    own.write_text(entry.read_text().replace(f'id = "{MODEL}"', 'id = "mine"'))
    ids = {model["id"] for model in installation.json("models", "--json")}
    assert {"mine", MODEL, "qwen3-vl-8b"} <= ids


def test_view_writes_the_raster_of_the_budget(installation: Installation) -> None:
    """The file has exactly the size that `budget` says."""
    target = installation.home / "seen.png"
    plaza = installation.home / "data" / "tiny" / "images" / "plaza.png"
    (seen,) = installation.json("view", str(plaza), "-m", MODEL, "-c", "V2", "-o", str(target), "--json")
    budget = installation.json("budget", MODEL, "800x600")
    with Image.open(target) as picture:
        assert [list(picture.size)] == budget["rasters"]
    assert seen["visual_tokens"] == budget["visual_tokens"]


def test_view_numbers_the_rasters_of_a_view_with_several(installation: Installation) -> None:
    """V4 of a sample writes the full image first, then the two quadrants of its evidence."""
    target = installation.home / "seen.png"
    arguments = ("view", "--dataset", "tiny", "--sample", "cctv-0001", "-m", MODEL, "-c", "V4", "-o", str(target))
    seen = installation.json(*arguments, "--json")
    assert [item["region"] for item in seen] == ["0,0,800,600", "0,0,400,300", "400,300,400,300"]
    assert [Path(item["file"]).name for item in seen] == ["seen-1.png", "seen-2.png", "seen-3.png"]
    assert all(Path(item["file"]).exists() for item in seen)


def test_view_of_evidence_named_by_hand_equals_that_of_the_sample(installation: Installation) -> None:
    """--place shows the same pixels as the sample whose evidence names this quarter."""
    by_hand, of_sample = installation.home / "hand.png", installation.home / "sample.png"
    quarters = ("--place", "1,1", "--cell", "2,2")  # the older spelling is taken, too
    installation.ok("view", "tiny/images/plaza.png", "-m", MODEL, "-c", "V3", *quarters, "-o", str(by_hand))
    installation.ok("view", "--dataset", "tiny", "--sample", "cctv-0001", "-m", MODEL, "-c", "V3", "-o", str(of_sample))
    for number in (1, 2):
        with (
            Image.open(by_hand.with_stem(f"hand-{number}")) as one,
            Image.open(of_sample.with_stem(f"sample-{number}")) as other,
        ):
            assert np.array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("-c", "V2", "--place", "1,1"), "V2 shows no local evidence"),
        (("-c", "V5"), "V5 is about images with and without evidence"),
        (("-c", "V3", "--place", "3,1"), "outside a grid of 2 x 2"),
        (("-c", "V3", "--place", "1,1", "--grid", "2by2"), "ROWSxCOLS"),
        (("-c", "V3", "--place", "3"), "ROW,COL"),
        (("-c", "V3", "--region", "0,0,900,10"), "reaches outside an image of 800x600"),
        (("-o", "nowhere/x.png"), "there is no folder nowhere"),
        (("-o", "x.txt"), "call it x.png"),
    ],
)
def test_wrong_arguments_of_view_are_one_sentence(
    installation: Installation, arguments: tuple[str, ...], named: str
) -> None:
    """Said before anything is rendered, with status 2."""
    run = installation.run("view", "tiny/images/plaza.png", "-m", MODEL, *arguments)
    assert (run.returncode, named in run.stderr, run.stderr.count("\n")) == (2, True, 1), run.stderr


def test_a_close_model_is_said(installation: Installation) -> None:
    """By every command that takes one."""
    for arguments in (("budget", "qwen3vl-8b", "9x9"), ("view", "tiny/images/plaza.png", "-m", "qwen3vl-8b")):
        run = installation.run(*arguments)
        assert (run.returncode, "did you mean 'qwen3-vl-8b'" in run.stderr) == (2, True)


@pytest.mark.parametrize("size", ["100", "0x5", "axb", "100x", "1e3x5"])
def test_a_size_of_budget_that_is_none_is_refused(installation: Installation, size: str) -> None:
    """The message says the form."""
    run = installation.run("budget", MODEL, size)
    assert (run.returncode, "WIDTHxHEIGHT" in run.stderr) == (2, True)


@pytest.mark.parametrize(("condition", "named"), [("V0", "V0"), ("V3", "--place")])
def test_view_says_what_is_missing(installation: Installation, condition: str, named: str) -> None:
    """V0 shows no image, and V3 needs evidence."""
    run = installation.run("view", "tiny/images/plaza.png", "-m", MODEL, "-c", condition)
    assert run.returncode == 2
    assert named in run.stderr


def test_a_picture_that_is_none_is_an_error_naming_the_file(installation: Installation) -> None:
    """A text file called .png ends in one line."""
    fake = installation.home / "fake.png"
    fake.write_text("this is no picture")
    run = installation.run("view", str(fake), "-m", MODEL)
    assert run.returncode == 2
    assert "fake.png" in run.stderr
    assert "Traceback" not in run.stderr


def test_ingest_makes_a_pyramid_once(installation: Installation) -> None:
    """The second run names the same file and does not write it again."""
    folder = installation.home / "made"
    first = installation.ok("ingest", "tiny/images/plaza.png", "-o", str(folder)).strip()
    written = Path(first).stat().st_mtime_ns
    second = installation.ok("ingest", "tiny/images/plaza.png", "-o", str(folder)).strip()
    assert second == first
    assert Path(second).stat().st_mtime_ns == written
