"""Folders of what is known of slides: who is trusted, what is contradicted, and what is refused."""

import json
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.errors import AnnotationFileError
from tests.construction.scenes import read, write_json

SLIDES = ("TCGA-A1-A0SJ-01Z-00-DX1.png", "TCGA-B2-A0XX-01Z-00-DX1.png")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder beside one of two small pictures that stand for slides."""
    (tmp_path / "images").mkdir()
    for name in SLIDES:
        Image.new("L", (600, 600)).save(tmp_path / "images" / name)
    (tmp_path / "known").mkdir()
    return tmp_path / "known"


def _write(folder: Path, **tables: str) -> None:
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")


def _read(folder: Path) -> tuple[dict[str, AnnotatedImage], Omissions]:
    found, omissions = read(folder, folder.parent / "images")
    return {image.image: image for image in found}, omissions


def _asked(folder: Path, *answers: tuple[str, str]) -> None:
    value = [{"Id": "TCGA-A1-A0SJ", "Question": question, "Answer": answer} for question, answer in answers]
    write_json(folder / "wsivqa.json", value)


def test_experts_are_trusted_more_than_reports_and_those_more_than_answers(folder: Path) -> None:
    """What is overruled is told."""
    _write(
        folder,
        experts="slide,grade,focality\nTCGA-A1-A0SJ,3,leans multifocal\n",
        reports="slide,grade,lvi\nTCGA-A1-A0SJ,2,absent\nTCGA-B2-A0XX,1,present\n",
    )
    _asked(folder, ("Is lymphovascular invasion present?", "Yes"), ("What is the status of the margins?", "negative"))
    found, omissions = _read(folder)
    assert found[SLIDES[0]].labels == {
        "grade": "3", "focality": "leans multifocal", "lvi": "absent", "margin": "negative",
    }  # fmt: skip
    assert found[SLIDES[1]].labels == {"grade": "1", "lvi": "present"}
    assert omissions.counts == {"overruled": 2}
    assert any("reports.csv" in one.sentence and "experts.csv '3'" in one.sentence for one in omissions)


def test_what_a_source_says_twice_and_differently_is_used_of_none(folder: Path) -> None:
    """A less trusted source does not settle it; an untorn value beside it stays."""
    _write(folder, reports="slide,grade,lvi\nTCGA-A1-A0SJ,2,absent\nTCGA-A1-A0SJ,3,absent\n")
    _asked(folder, ("What is the histologic grade?", "Grade III"))
    found, omissions = _read(folder)
    assert found[SLIDES[0]].labels == {"lvi": "absent"}
    assert omissions.counts == {"conflict": 1}
    ((_, sentence),) = omissions
    assert "reports.csv" in sentence
    assert "'2' and '3'" in sentence


def test_areas_and_steps_come_with_the_labels(folder: Path) -> None:
    """Of a slide that only one of them names, too."""
    (folder / "regions").mkdir()
    ring = [[0, 0], [300, 0], [300, 300], [0, 300], [0, 0]]
    feature = {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": {"objectType": "annotation", "classification": {"name": "DCIS"}},
    }
    collection = json.dumps({"type": "FeatureCollection", "features": [feature]})
    (folder / "regions" / SLIDES[1].replace("png", "geojson")).write_text(collection, encoding="utf-8")
    _write(
        folder,
        experts="slide,lvi\nTCGA-A1-A0SJ,present\n",
        steps="slide,category,Q2,Q2.1\nTCGA-A1-A0SJ,comparison,Yes,3;9\nTCGA-B2-A0XX,comparison,Maybe,40\n",
    )
    found, omissions = _read(folder)
    assert list(found) == list(SLIDES)
    assert found[SLIDES[0]].labels == {"lvi": "present", "comparison/Q2": "Yes", "comparison/Q2.1": "3;9"}
    assert [one.category for one in found[SLIDES[1]].annotations] == ["DCIS"]
    assert omissions.counts == {"off-scale": 2}


@pytest.mark.parametrize(
    ("table", "text", "reason"),
    [
        ("reports", "slide,grade\nTCGA-A1-A0SJ,leans 3\n", "off-scale"),
        ("reports", "slide,grade\nTCGA-A1-A0SJ,4\n", "off-scale"),
        ("reports", "slide,grade\nTCGA-C3-0000,3\n", "image-missing"),
        ("reports", "slide,grade\nTCGA-A1-A0SJ,3,4\n", "malformed"),
        ("reports", "slide,stage\nTCGA-A1-A0SJ,3\n", "unknown-column"),
        ("steps", "slide,category,Q2\nTCGA-A1-A0SJ,grading,Yes\n", "off-scale"),
        ("steps", "slide,category,Q4\nTCGA-A1-A0SJ,comparison,Teeth\n", "off-scale"),
    ],
)
def test_what_is_wrong_in_a_table_is_told_by_line_and_column(table: str, text: str, reason: str, folder: Path) -> None:
    """And nothing of it is used."""
    _write(folder, **{"experts": "slide,lvi\nTCGA-B2-A0XX,present\n", table: text})
    found, omissions = _read(folder)
    assert found[SLIDES[1]].labels == {"lvi": "present"}
    assert not found.get(SLIDES[0], AnnotatedImage("", 1, 1)).labels
    assert omissions.counts == {reason: 1}


@pytest.mark.parametrize("header", ["slide,grade,grade", "slide ,slide"])
def test_a_table_without_sure_columns_is_refused(header: str, folder: Path) -> None:
    """Nobody knows which of two is meant."""
    _write(folder, experts=f"{header}\nTCGA-A1-A0SJ,3,3\n")
    with pytest.raises(AnnotationFileError, match="name each column once"):
        _read(folder)
