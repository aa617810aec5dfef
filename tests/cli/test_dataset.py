"""Checks of data sets name what is wrong and where."""

from tests.cli.installation import Installation, sample, write_dataset


def test_a_good_data_set_has_no_problem(installation: Installation) -> None:
    """The check counts the samples by domain and category."""
    found = installation.json("dataset", "check", "tiny", "--no-checklists", "--json")
    assert found["ok"] is True
    assert found["samples"] == {"cctv/comparison": 4}


def test_a_bad_record_is_named_by_file_and_line(installation: Installation) -> None:
    """An answer that is no option stands on line 2 of the file."""
    bad = sample(1, "images/plaza.png") | {"answer": "Z"}
    folder = write_dataset(installation.home / "data" / "bad", [sample(0, "images/plaza.png"), bad])
    run = installation.run("dataset", "check", str(folder))
    assert run.returncode == 1
    assert "samples/cctv.jsonl:2" in run.stderr
    assert "cctv-0001" in run.stderr


def test_a_missing_image_is_named(installation: Installation) -> None:
    """Records that are fine can name an image that is not there."""
    folder = write_dataset(installation.home / "data" / "blind", [sample(0, "images/gone.png")])
    run = installation.run("dataset", "check", str(folder))
    assert run.returncode == 1
    assert "images/gone.png" in run.stderr


def test_an_unreadable_image_is_named(installation: Installation) -> None:
    """An image of zero bytes is found without a job."""
    folder = write_dataset(installation.home / "data" / "empty", [sample(0, "images/empty.png")])
    (folder / "images" / "empty.png").touch()
    run = installation.run("dataset", "check", str(folder))
    assert run.returncode == 1
    assert "images/empty.png" in run.stderr


def test_the_papers_checklists_are_applied(installation: Installation) -> None:
    """The small data set's subcategory is none of the paper's."""
    run = installation.run("dataset", "check", "tiny")
    assert run.returncode == 1
    assert "samples/cctv.jsonl:1: cctv-0000: subcategory must be 'attribute_bundle_count_difference'" in run.stderr


def test_records_and_pictures_are_imported(installation: Installation) -> None:
    """A new data set stands in the data root; a second one of the name is refused."""
    tiny = installation.home / "data" / "tiny"
    arguments = ("dataset", "import", str(tiny / "samples"), "--images", str(tiny / "images"), "copy")
    assert "4 samples and 1 images" in installation.ok(*arguments)
    assert (installation.home / "data" / "copy" / "images" / "plaza.png").is_file()
    assert installation.run(*arguments).returncode == 1


def test_list_shows_the_data_root(installation: Installation) -> None:
    """The list holds every folder with a dataset.toml."""
    assert [item["name"] for item in installation.json("dataset", "list", "--json")] == ["tiny"]
