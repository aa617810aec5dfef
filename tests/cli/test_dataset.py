"""Checks of data sets name what is wrong and where, errors apart from warnings; samples are shown."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gigavqa.evaluation.installed import installed_benchmarks
from tests.benchmarks.ultravr.good_records import good_record
from tests.cli.installation import MODEL, Installation, sample, write_dataset
from tests.truth.reading import FILES


def made(installation: Installation, name: str, *records: dict[str, Any]) -> Path:
    """A data set of the data root."""
    return write_dataset(installation.home / "data" / name, records)


def test_a_good_data_set_has_no_problem(installation: Installation) -> None:
    """The check counts the samples by domain and category."""
    found = installation.json("dataset", "check", "tiny", "--no-checklists", "--json")
    assert (found["ok"], found["errors"], found["warnings"]) == (True, [], [])
    assert found["samples"] == {"cctv/comparison": 4}


def test_a_bad_record_is_named_by_file_and_line(installation: Installation) -> None:
    """An answer that is no option stands on line 2 of the file."""
    folder = made(installation, "bad", sample(0, "images/plaza.png"), sample(1, "images/plaza.png") | {"answer": "Z"})
    run = installation.run("dataset", "check", str(folder))
    assert run.returncode == 2
    assert "samples/cctv.jsonl:2" in run.stderr
    assert "cctv-0001" in run.stderr


def test_a_missing_image_is_named_once(installation: Installation) -> None:
    """Records that are fine can name an image that is not there: one line for all of them."""
    made(installation, "blind", *(sample(number, "images/gone.png") for number in range(3)))
    run = installation.run("dataset", "check", "blind", "--no-checklists")
    assert run.returncode == 2
    assert run.stderr.splitlines()[1:] == [
        "  samples/cctv.jsonl:1: cctv-0000: image 'images/gone.png' does not exist under the image root (2 others too)"
    ]


def test_an_unreadable_image_is_named(installation: Installation) -> None:
    """An image of zero bytes is found without a job."""
    folder = made(installation, "empty", sample(0, "images/empty.png"))
    (folder / "images" / "empty.png").touch()
    run = installation.run("dataset", "check", str(folder))
    assert run.returncode == 2
    assert "images/empty.png" in run.stderr


def test_what_the_papers_checklists_miss_is_a_warning(installation: Installation) -> None:
    """Own data can be asked: status 0, what the paper's tables need beyond it is said once for all samples."""
    run = installation.run("dataset", "check", "tiny")
    assert run.returncode == 0
    told = "samples/cctv.jsonl:1: cctv-0000: subcategory must be 'attribute_bundle_count_difference', not 'count'"
    assert f"{told} (3 others too)" in run.stderr
    assert "no error found" in run.stdout


def test_strict_counts_warnings(installation: Installation) -> None:
    """The same data set then ends with the status of bad input, and JSON still keeps both kinds apart."""
    run = installation.run("dataset", "check", "tiny", "--strict", "--json")
    found = json.loads(run.stdout)
    assert (run.returncode, found["ok"], found["errors"], len(found["warnings"])) == (2, False, [], 8)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_pixels_finds_a_truncated_picture(installation: Installation, suffix: str) -> None:
    """Its header is whole, so that the check without --pixels passes it."""
    folder = made(installation, "cut", sample(0, f"images/cut.{suffix}"))
    picture = folder / "images" / f"cut.{suffix}"
    Image.effect_noise((300, 200), 80).convert("RGB").save(picture)
    picture.write_bytes(picture.read_bytes()[:-4000] if suffix != "tif" else _without_last_rows(picture))
    installation.ok("dataset", "check", "cut")
    run = installation.run("dataset", "check", "cut", "--pixels")
    assert (run.returncode, f"images/cut.{suffix}" in run.stderr) == (2, True)


def _without_last_rows(picture: Path) -> bytes:
    """A TIFF whose strips reach behind the file's end; its directory stands before them."""
    with Image.open(picture) as image:
        image.load()
        image.save(picture, compression=None, big_tiff=False)
    return picture.read_bytes()[:-4000]


def test_pixels_passes_whole_pictures(installation: Installation) -> None:
    """Every picture that samples name is decoded."""
    installation.ok("dataset", "check", "tiny", "--pixels")


BAD: list[tuple[str, bytes, str]] = [
    ("a line that is no JSON", b'{"id": 1,\n', "samples/cctv.jsonl:1: is not JSON"),
    ("half a pair of escapes", json.dumps(sample(0, "x") | {"question": "a\ud83d"}).encode(), "half a character"),
    ("arrays without end", b"[" * 100_000, "samples/cctv.jsonl:1: is nested too deeply"),
    ("a number of 5000 digits", b'{"id": ' + b"1" * 5000 + b"}", "samples/cctv.jsonl:1: cannot be read"),
    ("another encoding", '{"question": "大小"}'.encode("gb18030"), "is not UTF-8 text"),
    ("nothing", b"\n", "samples: holds no record"),
    ("options as a text", json.dumps(sample(0, "x") | {"options": "A,B"}).encode(),
     "cctv-0000: options: must be an object of letters and texts, or a list of texts, not 'A,B'"),
    ("an unknown domain", json.dumps(sample(0, "x") | {"domain": "xray"}).encode(),
     "domain: must be 'cctv', 'rs', 'wsi' or 'ad', not 'xray'"),
    ("no question", json.dumps({"id": "a", "domain": "rs", "category": "comparison"}).encode(), "question: is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), [pytest.param(text, told, id=what) for what, text, told in BAD])
def test_a_bad_file_is_one_error_that_names_it(installation: Installation, text: bytes, told: str) -> None:
    """No crash, no half-read data set: file, field and what must stand there."""
    (made(installation, "bad", sample(0, "x")) / "samples" / "cctv.jsonl").write_bytes(text)
    run = installation.run("dataset", "check", "bad")
    assert (run.returncode, told in run.stderr, "fault of gigavqa" in run.stderr) == (2, True, False), run.stderr


def test_files_of_other_systems_are_read(installation: Installation) -> None:
    """A byte order mark and CRLF, in the records and in dataset.toml."""
    folder = made(installation, "windows", sample(0, "images/plaza.png"))
    for file in (folder / "dataset.toml", folder / "samples" / "cctv.jsonl"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    installation.ok("dataset", "check", "windows")
    assert {"windows": "ultravr"}.items() <= {
        item["name"]: item["benchmark"] for item in installation.json("dataset", "list", "--json")
    }.items()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('name = "odd"\nbenchmark = ["ultravr"]', "dataset.toml: benchmark: must be a text"),
        ('name = "odd"', f"dataset.toml: benchmark: is missing; known: {', '.join(installed_benchmarks())}"),
        ("name", "dataset.toml: "),
    ],
)
def test_wrong_settings_are_named(installation: Installation, settings: str, told: str) -> None:
    """Field by field."""
    (made(installation, "odd", sample(0, "images/plaza.png")) / "dataset.toml").write_text(settings)
    run = installation.run("dataset", "check", "odd")
    assert (run.returncode, told in run.stderr, "fault of gigavqa" in run.stderr) == (2, True, False), run.stderr


def test_a_folder_without_settings_is_said_to_lack_them(installation: Installation) -> None:
    """By its path or by its name."""
    folder = made(installation, "bare", sample(0, "images/plaza.png"))
    (folder / "dataset.toml").unlink()
    for name in ("bare", str(folder)):
        run = installation.run("dataset", "check", name)
        assert (run.returncode, "bare/dataset.toml is missing" in run.stderr) == (2, True)


def test_close_names_of_data_sets_are_said(installation: Installation) -> None:
    """`tinny` is likely `tiny`."""
    run = installation.run("dataset", "show", "tinny")
    assert (run.returncode, "did you mean 'tiny'?" in run.stderr) == (2, True)


def test_samples_are_listed(installation: Installation) -> None:
    """Id, groups, image, what the benchmark tells, and the question's start."""
    made(installation, "walks", good_record("cctv-comparison"))
    head, line = installation.ok("dataset", "show", "walks").splitlines()
    assert head.split() == ["sample", "domain", "category", "image", "steps", "evidence", "question"]
    assert line.split("  ")[0] == "cctv-comparison"
    assert "images/plaza.jpg" in line and "  11  " in line and "upper-right, upper-left" in line
    assert "Comparing standing adults" in line


def test_one_sample_is_shown_whole(installation: Installation) -> None:
    """Question, options, answer, and every step with its truth."""
    made(installation, "walks", good_record("rs-logic"))
    text = installation.ok("dataset", "show", "walks", "rs-logic")
    assert "answer: B" in text
    assert "S2 (integer): How many horizontal ships are in the upper-left quadrant?\n  truth: 2" in text
    assert "  D. Horizontal ships are absent from both" in text


def test_a_shown_record_loads_again(installation: Installation) -> None:
    """As JSON it is the record that could stand in a file."""
    record = installation.json("dataset", "show", "tiny", "cctv-0002", "--json")
    made(installation, "again", record)
    assert installation.json("dataset", "show", "again", "cctv-0002", "--json") == record


def test_records_and_pictures_are_imported(installation: Installation) -> None:
    """A new data set stands in the data root; a second one of the name is refused."""
    tiny = installation.home / "data" / "tiny"
    arguments = ("dataset", "import", str(tiny / "samples"), "--images", str(tiny / "images"), "copy")
    assert "4 samples and 1 image" in installation.ok(*arguments)
    assert (installation.home / "data" / "copy" / "images" / "plaza.png").is_file()
    assert installation.run(*arguments).returncode == 2


@pytest.mark.slow
def test_types_and_notes_are_told(installation: Installation) -> None:
    """By an import, which says how files were read, and by a check; as JSON, too."""
    arguments = ("--images", str(FILES / "pictures"), "--benchmark", "questions")
    shown = installation.run("dataset", "import", str(FILES / "six_types.jsonl"), "six", *arguments)
    types = "types: 1 choice, 1 choice of several, 1 yes/no, 1 number, 1 text, 1 open"
    assert types in shown.stdout and types in installation.ok("dataset", "check", "six")
    assert installation.json("dataset", "check", "six", "--json")["types"]["yes/no"] == 1
    made = installation.json("dataset", "import", str(FILES / "vstar.parquet"), "vstar", *arguments, "--json")
    assert made.keys() == {"folder", "benchmark", "samples", "images", "kinds", "left_out", "notes", "warnings"}
    assert made["kinds"] == {"choice": 2} and "options are read out of" in made["notes"][0]["message"]


@pytest.mark.parametrize("rows", ["harbour.png;;yes\nharbour.png;Is it?;yes\n", "harbour.png;;yes\n"])
def test_leaving_out_bad_rows_is_offered_where_others_are_left(
    installation: Installation, tmp_path: Path, rows: str
) -> None:
    """With their number."""
    (tmp_path / "some.csv").write_text(f"image;question;answer\n{rows}")
    arguments = ("--images", str(FILES / "pictures"), "--benchmark", "questions")
    refused = installation.run("dataset", "import", str(tmp_path / "some.csv"), f"some{len(rows)}", *arguments)
    assert ("--leave-out-bad imports the other 1 question" in refused.stderr) == ("Is it?" in rows)


def test_a_decimal_sign_can_be_told(installation: Installation) -> None:
    """Where the file does not tell."""
    arguments = ("--images", str(FILES / "pictures"), "--benchmark", "questions")
    source = str(FILES / "dots_in_semicolons.csv")
    refused = installation.run("dataset", "import", source, "dots", *arguments)
    assert refused.returncode == 2 and "--decimal" in refused.stderr
    assert "types: 2 number" in installation.ok("dataset", "import", source, "dots", *arguments, "--decimal", ",")


def test_an_import_of_bad_records_says_each_thing_once(installation: Installation) -> None:
    """Three records on one missing picture are one line, and nothing is made."""
    folder = made(installation, "source", *(sample(number, "gone.png") for number in range(3)))
    arguments = ("dataset", "import", str(folder / "samples"), "--images", str(folder / "images"), "target")
    run = installation.run(*arguments)
    assert (run.returncode, run.stderr.count("gone.png"), "2 others too" in run.stderr) == (2, 1, True)
    assert not (installation.home / "data" / "target").exists()


def test_list_shows_the_data_root(installation: Installation) -> None:
    """The list holds every folder with a dataset.toml."""
    assert [item["name"] for item in installation.json("dataset", "list", "--json")] == ["tiny"]


@pytest.mark.parametrize(
    "arguments", ["dataset check deep", "dataset check deep --pixels", "view {} -m {}", "ingest {}"]
)
def test_a_picture_of_16_bits_is_refused_with_what_helps(installation: Installation, arguments: str) -> None:
    """By every command that would look at it; none shows it black."""
    folder = made(installation, "deep", sample(0, "images/deep.png"))
    picture = folder / "images" / "deep.png"
    Image.fromarray(np.arange(60 * 40, dtype=np.uint16).reshape(40, 60)).save(picture)
    run = installation.run(*arguments.format(picture, MODEL).split())
    assert run.returncode == 2
    assert "images/deep.png: has 16 bits a sample, 1 band" in " ".join(run.stderr.split())
    assert "proposes how it could be shown" in " ".join(run.stderr.split())


@pytest.mark.slow
def test_a_picture_of_16_bits_is_neither_imported_nor_asked_about(installation: Installation, tmp_path: Path) -> None:
    """The row that shows it is named, and no data set is made."""
    Image.fromarray(np.zeros((40, 60), np.uint16)).save(tmp_path / "deep.png")
    questions = tmp_path / "rows.csv"
    questions.write_text("image,question,A,B,answer\ndeep.png,Which?,one,two,A\n")
    for arguments in (
        ("dataset", "import", str(questions), "new", "--images", str(tmp_path), "--benchmark", "questions"),
        ("ask", str(tmp_path), str(questions), "-m", MODEL),
    ):
        run = installation.run(*arguments)
        assert (run.returncode, "has 16 bits a sample, 1 band" in " ".join(run.stderr.split())) == (2, True)
        assert "rows.csv:2" in run.stderr
    assert not (installation.home / "data" / "new").exists()


@pytest.mark.slow
def test_an_import_tells_what_it_did_not_read_and_what_a_table_will_lack(
    installation: Installation, tmp_path: Path
) -> None:
    """And a check tells the same of the data set, which counts none of it as an error."""
    question = {"question": "Which?", "options": ["one", "two"], "answer": "A"}
    Image.new("RGB", (60, 60)).save(tmp_path / "quay.png")
    records = tmp_path / "records.json"
    records.write_text(json.dumps([{"image": "quay.png", "clue_questions": [question], "conclusions": [question]}]))
    arguments = ("dataset", "import", str(records), "quay", "--images", str(tmp_path), "--benchmark", "atombench")
    run = installation.run(*arguments)
    assert (run.returncode, run.stdout.split(" in ")[0]) == (0, "1 sample and 1 image")
    assert "note: records.json: not read: clue_questions (1 record; did you mean" in run.stderr
    assert "warning: records.json:1: quay-q1: its image has no clue question" in run.stderr
    assert "2 warnings; `gigavqa dataset check quay` lists them at any time" in run.stderr
    found = installation.json("dataset", "check", "quay", "--json")
    assert "its image has no clue question" in str(found["warnings"])
