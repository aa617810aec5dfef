"""`gigavqa prompt` prints what a job would send: views, examples and the texts of all turns."""

import shutil
from typing import Any

import pytest

from tests.benchmarks.ultravr.good_records import good_record
from tests.cli.installation import MODEL, Installation, write_dataset

TASK = "Question: Comparing standing adults and sitting children"


@pytest.fixture
def steps(installation: Installation) -> Installation:
    """An installation whose data set `walks` has three samples with steps, two of them on another image."""
    images = {"here": "plaza", "one": "square", "two": "square"}
    records = [
        good_record("cctv-comparison") | {"id": name, "image": f"images/{image}.png"} for name, image in images.items()
    ]
    images_folder = write_dataset(installation.home / "data" / "walks", records) / "images"
    shutil.copy(images_folder / "plaza.png", images_folder / "square.png")
    return installation


def prompt(installation: Installation, *arguments: str) -> dict[str, Any]:
    """The prompt of the sample `here`, as JSON."""
    printed: dict[str, Any] = installation.json("prompt", "here", "--dataset", "walks", *arguments, "--json")
    return printed


def test_a_prompt_is_printed_for_people(steps: Installation) -> None:
    """Views with their regions and this model's rasters, then the text."""
    text = steps.ok("prompt", "here", "-d", "walks", "--protocol", "S0", "-c", "V4", "-m", MODEL)
    assert "view 1: walks/images/plaza.png (800 x 600), region 0,0,800,600, native: raster" in text
    assert "visual tokens" in text
    assert "view 3: walks/images/plaza.png (800 x 600), region 400,0,400,300" in text
    assert "--- user, turn 1 of 1: the question ---" in text
    assert TASK in text


def test_a_text_is_printed_as_it_is(installation: Installation) -> None:
    """Nothing of it is taken for markup or for the name of an emoji."""
    question = "Is [bold]this[/bold] the :key: of [red]Gate 2[/red]?"
    write_dataset(installation.home / "data" / "odd", [good_record("rs-logic") | {"question": question}])
    assert f"Question: {question}\n" in installation.ok("prompt", "rs-logic", "-d", "odd", "-c", "V0")


def test_s3_names_its_examples_and_tells_them(steps: Installation) -> None:
    """Both samples of the other image, and their number is configurable."""
    printed = prompt(steps, "--protocol", "S3")
    assert sorted(printed["details"]["examples"]) == ["one", "two"]
    assert printed["messages"][0]["text"].count(TASK) == 3
    assert len(prompt(steps, "--protocol", "S3", "--option", "examples=1")["details"]["examples"]) == 1


def test_a_turn_is_printed_with_the_chat_before_it(steps: Installation) -> None:
    """S5 gives the true answers of the steps before it, and not its own."""
    messages = prompt(steps, "--protocol", "S5", "--turn", "3")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert [message["text"] for message in messages[1::2]] == [
        "true",
        "[[0.1, 0.1, 0.12, 0.12], [0.2, 0.2, 0.22, 0.22]]",
    ]
    assert messages[-1]["asks"] == "S3"


def test_the_models_own_answers_are_left_open(steps: Installation) -> None:
    """S4's history is not known before a model has answered."""
    printed = prompt(steps, "--protocol", "S4")
    answers = [message["text"] for message in printed["messages"] if message["role"] == "assistant"]
    assert (printed["turns"], answers) == (12, [None] * 11)
    assert "(the model's own answer)" in steps.ok("prompt", "here", "-d", "walks", "--protocol", "S4")


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--protocol", "S4", "--turn", "13"), 2, "12 turns, and no turn 13"),
        (("--protocol", "S4", "-c", "V7"), 2, "--condition 'V7' is none of V0, V0F, V1, V2, V3, V4"),
        (("--protocol", "S9"), 2, "protocol S9 is not available"),
    ],
)
def test_what_no_job_can_ask_is_refused(
    steps: Installation, arguments: tuple[str, ...], status: int, told: str
) -> None:
    """In one line."""
    run = steps.run("prompt", "here", "--dataset", "walks", *arguments)
    assert (run.returncode, told in run.stderr, "Traceback" in run.stderr) == (status, True, False)


def test_an_unknown_sample_is_named(steps: Installation) -> None:
    """The error says which data set has no such sample, what is close, and how all are listed."""
    run = steps.run("prompt", "hree", "--dataset", "walks")
    assert run.returncode == 2
    assert "'walks' has no sample 'hree'; did you mean 'here'? `gigavqa dataset show walks`" in run.stderr


def test_conditions_and_protocols_may_be_written_small(steps: Installation) -> None:
    """s0 under v1 is S0 under V1."""
    printed = prompt(steps, "--protocol", "s0", "-c", "v1")
    assert (printed["protocol"], printed["condition"]) == ("S0", "V1")


OPTIONS = {"A": "Red.", "B": "Blue.", "C": "Green."}


@pytest.mark.parametrize(("benchmark", "record", "protocol", "others"), [
    ("mmcr", {"document": "d", "pages": ["images/plaza.png"], "type": "figure"}, "N4",
     "N0, N1, N2, C0, C1, C2, I0, I1, I2"),
    ("atombench", {"image": "images/plaza.png", "level": "clue", "step": 1}, "AG", "A0"),
])  # fmt: skip
def test_a_protocol_that_does_not_apply_names_those_that_do(
    installation: Installation, benchmark: str, record: dict[str, Any], protocol: str, others: str
) -> None:
    """In `prompt`, and in `score` of lines of one's own."""
    asked = {"id": "x", "question": "Which?", "options": OPTIONS, "answer": "B", **record}
    folder = write_dataset(installation.home / "data" / "some", [asked])
    (folder / "dataset.toml").write_text(f'name = "some"\nbenchmark = "{benchmark}"\n')
    told = f"{protocol} does not apply to sample 'x'; those that do: {others}"
    assert told in installation.run("prompt", "x", "-d", "some", "--protocol", protocol, "-m", MODEL).stderr
    lines = installation.home / "lines.ndjson"
    lines.write_text(f'{{"sample_id": "x", "text": "B", "protocol": "{protocol}"}}\n')
    assert f"lines.ndjson:1: protocol: {told}" in installation.run("score", "some", str(lines)).stderr
