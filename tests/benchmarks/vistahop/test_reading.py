"""Records of every shape become the same samples, and samples records that read as themselves."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.evaluation.datasets import Dataset, load_dataset, load_for_scoring
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.tiling.headers import read_header
from tests.benchmarks.mmcr.files import page
from tests.benchmarks.vistahop.files import OURS, RUNNERS, write


def only(dataset: Dataset) -> VistaHopSample:
    """The one sample."""
    (found,) = dataset.samples
    assert isinstance(found, VistaHopSample)
    return found


def loose(tmp_path: Path, record: dict[str, Any]) -> VistaHopSample:
    """The sample of a file with one record."""
    path = tmp_path / "harbours.jsonl"
    path.write_text(json.dumps(record) + "\n")
    return only(load_for_scoring(path, "vistahop"))


def test_the_runners_records_are_asked_about_their_first_picture(tmp_path: Path) -> None:
    """Their id is name and index, their truths are a list, and hits are cut to five."""
    titles = [f"Title {number}" for number in range(7)]
    found = loose(tmp_path, {**RUNNERS, "image_search_title_list": titles, "image": ["images/a.tif", "images/b.tif"]})
    assert (found.id, found.answers, found.level) == ("harbours-0", ("1911", "in 1911"), "")
    assert found.question == "In which year was the firm founded whose mark is on the left crane?"
    assert (found.images, found.unshown) == (("images/a.tif", "thumbs/quay4.jpg"), ("images/b.tif",))
    assert [(hit.title, hit.thumbnail) for hit in found.hits] == [("Title 0", 1), *((t, None) for t in titles[1:5])]


def test_our_records_tell_all_that_the_tables_need(tmp_path: Path) -> None:
    """Level and groups follow."""
    found = loose(tmp_path, OURS)
    assert (found.level, found.category, found.form, found.anchor_kind) == ("L2", "Society", "single", "logo")
    assert found.groups["answer type"] == "date"
    assert found.all_hops[0].documents == ("d-031",)
    assert found.extra == {"note": "kept"}


def test_a_sample_written_as_a_record_reads_as_itself(tmp_path: Path) -> None:
    """Whatever shape it had."""
    benchmark = find_benchmark("vistahop")
    for record in (OURS, RUNNERS, {**OURS, "form": "arithmetic", "components": [COMPONENT, COMPONENT], "hops": 8}):
        first = loose(tmp_path, record)
        assert loose(tmp_path, benchmark.record(first)) == first


COMPONENT = {"question": "When?", "answers": ["1911"], "hops": 4, "value": 1911}


@pytest.mark.parametrize(
    "path",
    ["Crane -> Ansel Hoist -> 1911", ["Crane", "Ansel Hoist", "1911"],
     [{"source": "Crane", "target": "Ansel Hoist"}, {"head": "Ansel Hoist", "tail": "1911", "relation": "founded"}]],
)  # fmt: skip
def test_hops_of_synthesized_questions_are_edges_of_their_chain(tmp_path: Path, path: object) -> None:
    """However the chain is written."""
    record = {"question": "When?", "answer": "1911", "image_url": "a.tif", "reasoning_path": path, "metadata": {"k": 1}}
    found = loose(tmp_path, record)
    assert (found.hops, found.level, found.chain[-1].end) == (2, "L1", "1911")
    assert found.extra == {"metadata": {"k": 1}}


def test_rows_of_parquet_hold_their_pictures(tmp_path: Path) -> None:
    """Which become files named by their digests; columns that nobody knows are kept."""
    row = {"question": "When?", "answers": ["1911"], "image": {"bytes": page(7), "path": "a.png"}, "split": "test"}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "subset.parquet")
    (tmp_path / "none").mkdir()
    target = tmp_path / "data" / "subset"
    made = import_dataset(
        find_benchmark("vistahop"), tmp_path / "subset.parquet", tmp_path / "none", target, check_image=read_header
    )
    found = only(load_dataset(made.folder))
    assert (target / found.images[0]).read_bytes() == page(7)
    assert (found.id, found.answers, found.extra) == ("subset-0", ("1911",), {"split": "test"})


BAD: dict[str, dict[str, Any]] = {
    "question: is missing; there are id, images": {"question": None},
    "hops: must be a whole number of at least 1, not 0": {"hops": 0},
    "hops: must be a whole number of at least 1, not 'many'": {"hops": "many"},
    "level: 'L3' contradicts: of 7 hops it is L2": {"level": "L3"},
    "category: category 'Sports' is none of Life": {"category": "Sports"},
    "form: form 'double' is none of single": {"form": "double"},
    "answer_type: answer type 'shape' is none of entity": {"answer_type": "shape"},
    "components: form 'temporal' joins several chains, and there is no component": {"form": "temporal"},
    "components: their hops are 4 + 4, and hops says 7": {"components": [COMPONENT, COMPONENT]},
    "anchors.0.box: sides must lie from 0 to 1": {"anchors": [{"box": [0.1, 0.1, 1.2, 0.4]}]},
    "anchors.0.box: is [x1, y1, x2, y2] with x1 < x2": {"anchors": [{"box": [0.5, 0.1, 0.2, 0.4]}]},
    "anchors.0.kind: kind 'cloud' is none of logo": {"anchors": [{"kind": "cloud"}]},
    "image_search_thumbnail_list: 2 thumbnails for 1 titles": {
        "image_search_title_list": ["t"], "image_search_thumbnail_list": ["a.jpg", "b.jpg"],
    },
    'image_search: must be a list of {"title", "thumbnail"}': {"image_search": ["t"]},
    "image '../a.tif' does not lie in the data set's folder": {"images": ["../a.tif"]},
    "answers: a truth must be a text or a number, not {}": {"answers": [{}]},
    "chain: the corpus has no document d-032": {"chain": [{"from": "a", "to": "b", "documents": ["d-031", "d-032"]}]},
}  # fmt: skip


def problems_of(folder: Path) -> list[str]:
    """Everything that is wrong with a data set."""
    with pytest.raises(DatasetInvalidError) as caught:
        load_dataset(folder)
    return [str(problem) for problem in caught.value.problems]


def test_all_that_is_wrong_with_records_is_told_by_file_line_and_field(tmp_path: Path) -> None:
    """At once, but for what only whole samples can have wrong, which is told when the rest is good."""
    whole = "chain: the corpus"
    records = [{**OURS, "id": f"bad-{at}", **change} for at, change in enumerate(BAD.values())]
    found = problems_of(write(tmp_path / "harbours", [*records, {**OURS, "id": "bad-3"}]))
    for line, told in enumerate(BAD, start=1):
        if not told.startswith(whole):
            assert any(one.startswith(f"samples/a.jsonl:{line}: ") and told in one for one in found), (told, found)
    assert any(whole in one for one in found)


def test_ids_are_used_once(tmp_path: Path) -> None:
    """And the first place is told."""
    found = problems_of(write(tmp_path / "harbours", [OURS, OURS]))
    assert found == ["samples/a.jsonl:2: vh-0007: the id is already used at samples/a.jsonl:1"]


def test_a_question_without_a_truth_awaits_an_expert(tmp_path: Path) -> None:
    """It is asked and counts nowhere; an empty truth is none."""
    for truths in ([], [" "], None):
        found = loose(tmp_path, {**OURS, "answers": truths})
        assert not found.scored and found.level == "L2"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("tools.yaml", "tools: [", "tools.yaml: is neither YAML nor JSON"),
        ("tools.yaml", "tools: []", "tools.yaml: must be a list of declarations"),
        ("tools.yaml", "- {name: fly, parameters: {}}", "tools.yaml: tool 1: 'fly' is no zoom, search or image search"),
        ("tools.yaml", "- {name: text_search}", "tools.yaml: tool 1: 'text_search' has no parameters"),
        ("tools.json", '[{"name": "crop", "parameters": {}}, {"name": "crop", "parameters": {}}]',
         "tools.json: tool 'crop' is declared more than once"),
        ("tools.json", '[{"name": "crop", "parameters": {}}, {"name": "zoom", "parameters": {}}]',
         "tools.json: several tools are a zoom"),
        ("judgements.jsonl", '{"job": "j"}', "judgements.jsonl: line 1: must be an object with job (a text)"),
        ("judgements.jsonl", '{"job": "j", "request": "r", "annotator": " ", "correct": true}',
         "judgements.jsonl: line 1: annotator: is empty"),
        ("failures.jsonl", '{"job": "j", "request": "r", "type": "luck"}', "type 'luck' is none of anchor, drift"),
        ("corpus/b.jsonl", '{"id": "d-031", "text": "t"}\n{"id": "x"}\n', "b.jsonl:1: d-031: the id is already"),
        ("corpus/b.jsonl", '{"text": "t"}', "corpus: b.jsonl:1: id: is missing"),
        ("dataset.toml", 'name = "harbours"\nbenchmark = "vistahop"\n[search]\ncorpus = "pages"\n',
         "pages: is no corpus: it needs files that end in .jsonl"),
        ("dataset.toml", 'name = "harbours"\nbenchmark = "vistahop"\n[tools]\nfile = "tools.yaml"\n',
         "dataset.toml: tools.file: there is no 'tools.yaml' beside it"),
        ("dataset.toml", 'name = "harbours"\nbenchmark = "vistahop"\n[prompts]\nsystem = "x"\n',
         "dataset.toml: prompts.system: is not known; there is system_prompt, format_instruction"),
    ],
)  # fmt: skip
def test_what_lies_beside_is_refused_by_file_and_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    """In one sentence each."""
    folder = write(tmp_path / "harbours", [OURS])
    (folder / name).write_text(text)
    (found,) = problems_of(folder)
    assert told in found
