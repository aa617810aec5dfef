"""The configuration of the authors' program describes a data set: records, pictures, prompts and how it is scored."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from gigavqa.answers.boxes import BoxFrame
from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.commands.dataset import app
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.importing import find_config, import_dataset
from gigavqa.evaluation.replies import reply_of
from gigavqa.tiling.headers import read_header
from tests.benchmarks.vistahop.examples import PICTURE, direct
from tests.benchmarks.vistahop.files import OURS, RUNNERS
from tests.evaluation.responses import MODEL

CONFIGURED: dict[str, Any] = {
    "root": "harbours",
    "annotation": "harbours/data.jsonl",
    "reward_fn": [],
    "unused_reward_fn": ["llm_score"],
    "input_template": {"arguments": {"system_prompt": "Hunt.", "format_instruction": ""}},
}


def configured(folder: Path, **more: Any) -> Path:
    """A configuration of two data sets, beside records and pictures of the first."""
    (folder / "harbours" / "images").mkdir(parents=True)
    (folder / "harbours" / "thumbs").mkdir()
    for name in ("images/harbour.tif", "thumbs/quay4.jpg"):
        Image.new("RGB", (64, 48)).save(folder / "harbours" / name)
    (folder / "harbours" / "data.jsonl").write_text(2 * (json.dumps(RUNNERS) + "\n"))
    path = folder / "config.json"
    path.write_text(json.dumps({"harbours": {**CONFIGURED, **more}, "streets": CONFIGURED}))
    return path


def imported(path: Path, target: Path) -> Dataset:
    """The data set that a configuration describes."""
    known = find_config(path, target.name)
    assert known is not None
    reader, found = known
    made = import_dataset(reader, found.records, found.images, target, check_image=read_header, described=found)
    return load_dataset(made.folder)


def test_a_configuration_of_the_authors_program_is_a_data_set(tmp_path: Path) -> None:
    """By its name there: records, pictures and prompts; ids are the name and the record's number."""
    found = imported(configured(tmp_path), tmp_path / "data" / "harbours")
    assert [sample.id for sample in found.samples] == ["harbours-0", "harbours-1"]
    assert tomllib.loads((tmp_path / "data" / "harbours" / "dataset.toml").read_text())["prompts"] == {
        "system_prompt": "Hunt.",
        "format_instruction": "",
    }
    cell = Cell(protocol="direct", condition="V2")
    spec = JobSpec(dataset="harbours", models=(MODEL,), cells=(cell,))
    first, *_ = (request for _, request in expand(found, spec, load_catalogue(), lambda _: PICTURE))
    assert first.system == "Hunt."
    assert first.turns[0].text == found.samples[0].question, "an empty instruction is none"
    assert (first.prompt_version or "").startswith("own:")


@pytest.mark.parametrize("field", ["reward_fn", "unused_reward_fn"])
def test_a_score_of_letters_marks_lettered_answers(tmp_path: Path, field: str) -> None:
    """A letter is right however it is told, and any other sentence with it in a word is not."""
    lettered = {**RUNNERS, "reward_model": {"ground_truth": ["B"]}}
    path = configured(tmp_path, **{field: ["em_score_mcq"]})
    (tmp_path / "harbours" / "data.jsonl").write_text(json.dumps(lettered))
    found = imported(path, tmp_path / "data" / "harbours")
    (asked,) = found.samples
    judge = found.benchmark.judge(asked)
    for text, score in {"The answer is (B).": 1.0, "B. Quay 4": 1.0, "A": 0.0, "Bergen": 0.0}.items():
        assert judge(reply_of(direct(asked, text)), BoxFrame("unit", None)).score == score, text


@pytest.mark.parametrize(
    ("name", "more", "told"),
    [
        ("quays", {}, "config.json: holds harbours, streets; name the data set as one of them"),
        ("harbours", {"annotation": "none.jsonl"}, "config.json: harbours.annotation: there is no file"),
        ("harbours", {"root": "none"}, "config.json: harbours.root: there is no folder"),
        ("harbours", {"root": 7}, "config.json: harbours.root: must be a path, not 7"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(
    tmp_path: Path, name: str, more: dict[str, Any], told: str
) -> None:
    """In one sentence, by file, data set and field."""
    with pytest.raises(DatasetInvalidError, match=re.escape(told)):
        find_config(configured(tmp_path, **more), name)


def test_records_are_no_configuration(tmp_path: Path) -> None:
    """Lists, lines, and one record alone."""
    for name, records in {"a.json": [RUNNERS], "b.jsonl": RUNNERS, "c.json": OURS}.items():
        (tmp_path / name).write_text(json.dumps(records))
        assert find_config(tmp_path / name, "harbours") is None


def test_the_command_imports_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without being told where the pictures are, or whose records they are."""
    monkeypatch.setenv("GIGAVQA_HOME", str(tmp_path / "home"))
    done = CliRunner().invoke(app, ["import", str(configured(tmp_path)), "harbours"])
    assert done.exit_code == 0, done.output
    assert "2 samples and 2 images" in done.output
    assert len(load_dataset(tmp_path / "home" / "data" / "harbours").samples) == 2
