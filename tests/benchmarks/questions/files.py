"""Pictures and files of questions as people's own tools write them, each about the same three questions."""

import base64
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.tiling.headers import read_header

COLOURS = ("red", "green", "blue")
SIZE = (160, 120)


def jpeg(colour: str) -> bytes:
    """A picture of one colour."""
    file = io.BytesIO()
    Image.new("RGB", SIZE, colour).save(file, "JPEG")
    return file.getvalue()


def draw_pictures(folder: Path) -> Path:
    """A folder with a picture of each colour, named by it."""
    folder.mkdir(parents=True, exist_ok=True)
    for colour in COLOURS:
        (folder / f"{colour}.jpg").write_bytes(jpeg(colour))
    return folder


def _csv(path: Path) -> None:
    frame = {"image_path": [f"{colour}.jpg" for colour in COLOURS], "question": "Which colour, \"if\" any,\nis it?",
             "choices": [list(COLOURS)] * 3, "answer": [0, 1, 2], "category": ["warm", "cold", "cold"]}  # fmt: skip
    pd.DataFrame(frame).to_csv(path, index=False)


def _csv_of_letters(path: Path) -> None:
    columns = {f"option_{letter}": colour for letter, colour in zip("abc", COLOURS, strict=True)}
    frame = {"file_name": [f"/data/elsewhere/{colour}.jpg" for colour in COLOURS], "query": "Which colour?", **columns,
             "label": ["A", "green", "c"], "task": ["warm", "cold", "cold"]}  # fmt: skip
    pd.DataFrame(frame).to_csv(path)  # with pandas' own column of numbers, which has no name


def _vlmevalkit(path: Path) -> None:
    """A TSV as VLMEvalKit has them: pictures in base64, or the index of the row that has the same."""
    encoded = [base64.b64encode(jpeg(colour)).decode() for colour in COLOURS]
    frame = {"index": [1, 2, 3, 1001], "image": [*encoded, "1"], "question": "Which colour?", "hint": None,
             **dict(zip("ABC", COLOURS, strict=True)), "answer": ["A", "B", "C", "A"],
             "category": ["warm", "cold", "cold", "warm"], "l2-category": "colour", "split": "dev"}  # fmt: skip
    pd.DataFrame(frame).to_csv(path, sep="\t", index=False)


def _hugging_face(path: Path) -> None:
    """Parquet as `datasets` writes it: pictures as structs, and class labels as numbers that the metadata names."""
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pictures = [[{"bytes": jpeg(colour), "path": None}] for colour in COLOURS]
    columns = {
        "images": pa.array(pictures, pa.list_(picture)),
        "question": pa.array(["Which colour?"] * 3),
        "choices": pa.array([list(COLOURS)] * 3),
        "answer": pa.array([0, 1, 2], pa.int64()),
        "subject": pa.array([0, 1, 1], pa.int64()),
    }
    features = {
        "images": {"feature": {"_type": "Image"}, "_type": "Sequence"},
        "answer": {"dtype": "int64", "_type": "Value"},
        "subject": {"names": ["warm", "cold"], "_type": "ClassLabel"},
    }
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)


def _pandas_parquet(path: Path) -> None:
    frame = {"image": [f"{colour}.jpg" for colour in COLOURS], "question": "Which colour?",
             "A": "red", "B": "green", "C": "blue", "D": None, "answer": list("ABC"),
             "category": ["warm", "cold", "cold"]}  # fmt: skip
    pd.DataFrame(frame, index=[5, 7, 9]).to_parquet(path)


def _records() -> list[dict[str, object]]:
    options = dict(zip("ABC", COLOURS, strict=True))
    return [
        {
            "image": f"images/{colour}.jpg",
            "question": "Which colour?",
            "options": options,
            "answer": letter,
            "type": kind,
        }
        for colour, letter, kind in zip(COLOURS, "ABC", ("warm", "cold", "cold"), strict=True)
    ]


def _json(path: Path) -> None:
    path.write_text(json.dumps({"version": 1, "questions": _records()}), encoding="utf-8")


def _lines(path: Path) -> None:
    uri = {"image": f"data:image/jpeg;base64,{base64.b64encode(jpeg('red')).decode()}"}
    first, *others = _records()
    path.write_text("\n".join(map(json.dumps, [{**first, **uri}, *others])), encoding="utf-8")


FORMS: Mapping[str, Callable[[Path], None]] = {
    "plain.csv": _csv,
    "letters.csv": _csv_of_letters,
    "vlmevalkit.tsv": _vlmevalkit,
    "hugging-face.parquet": _hugging_face,
    "pandas.parquet": _pandas_parquet,
    "whole.json": _json,
    "lines.jsonl": _lines,
}
"""How each form is written, by a file's name."""


def bring(source: Path, pictures: Path, target: Path, **settings: object) -> ImportSummary:
    """Import a file of questions as the data set `target`."""
    return import_dataset(
        find_benchmark("questions"),
        source,
        pictures,
        target,
        check_image=read_header,
        **settings,  # type: ignore[arg-type]
    )


def ask_about(tmp_path: Path, *records: dict[str, object], **settings: object) -> Dataset:
    """The data set of some records, as JSON lines, over the pictures of all colours."""
    tmp_path.mkdir(exist_ok=True)
    source = tmp_path / "records.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    pictures = draw_pictures(tmp_path / "pictures")
    return load_dataset(bring(source, pictures, tmp_path / "data" / "records", **settings).folder)
