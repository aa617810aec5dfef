"""Labels of replies are written in the form that the benchmark reads, whatever the benchmark."""

import json
from pathlib import Path

import pytest

from gigavqa.evaluation.capabilities import DatasetFiles, LabelKind, ReplyLabels
from gigavqa.evaluation.errors import DatasetInvalidError, ReviewRefusedError
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.evaluation.label_files import LabelledReply, choice_in, read_labels, write_label

KINDS = [
    pytest.param(benchmark, kind, id=f"{name}-{kind.name}")
    for name, benchmark in installed_benchmarks().items()
    if (labels := ReplyLabels.found_in(benchmark))
    for kind in labels.label_kinds
]
FIRST = LabelledReply("job_1", "a:direct-V2:m:0", "a", "m", "ada")
OTHER = LabelledReply("job_1", "b:direct-V2:m:0", "b", "m", "ada")


@pytest.mark.parametrize(("benchmark", "kind"), KINDS)
def test_every_choice_is_read_by_its_benchmark(benchmark: DatasetFiles, kind: LabelKind, tmp_path: Path) -> None:
    """What is said later stands in place of what was said before, which would contradict it."""
    for choice in kind.choices:
        write_label(tmp_path, kind, FIRST, choice)
        write_label(tmp_path, kind, OTHER, choice)
        benchmark.configured({kind.file: (tmp_path / kind.file).read_text()})
        assert [choice_in(kind, line) for line in read_labels(tmp_path, kind)] == [choice, choice]
    assert kind.file in benchmark.labels
    write_label(tmp_path, kind, FIRST, None)
    assert len(read_labels(tmp_path, kind)) == 1


@pytest.mark.parametrize(("benchmark", "kind"), [one for one in KINDS if one.values[1].annotator])  # type: ignore[union-attr]
def test_each_annotator_says_his_own(benchmark: DatasetFiles, kind: LabelKind, tmp_path: Path) -> None:
    """Where the file tells who says it."""
    write_label(tmp_path, kind, FIRST, next(iter(kind.choices)))
    write_label(tmp_path, kind, FIRST._replace(annotator="bob"), next(iter(kind.choices)))
    assert len(read_labels(tmp_path, kind)) == 2


def test_lines_that_were_written_by_hand_stay(tmp_path: Path) -> None:
    """To the letter; one that cannot be read is named, and nothing is written over it."""
    kind = LabelKind("error", "What is it?", "errors.jsonl", {"near": "near it"}, {"sample_id": "sample"}, "category")
    by_hand = '{"sample_id":"z",  "category": "near", "note": "ä"}'
    (tmp_path / kind.file).write_text(f"{by_hand}\n\n")
    write_label(tmp_path, kind, FIRST, "near")
    assert (tmp_path / kind.file).read_text().splitlines()[0] == by_hand
    assert json.loads((tmp_path / kind.file).read_text().splitlines()[1]) == {"sample_id": "a", "category": "near"}
    with pytest.raises(ReviewRefusedError, match="'far' is none of near"):
        write_label(tmp_path, kind, FIRST, "far")
    (tmp_path / kind.file).write_text("broken\n")
    with pytest.raises(DatasetInvalidError, match=r"errors.jsonl:1: is not JSON"):
        write_label(tmp_path, kind, FIRST, "near")
    assert (tmp_path / kind.file).read_text() == "broken\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == [kind.file]
