"""What models are shown and told of one's own questions, also by a prompt of one's own."""

from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.evaluation.errors import DatasetInvalidError, EvidenceMissingError, ProtocolUnavailableError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.evaluation.replies import reply_of
from gigavqa.tiling.geometry import ImageFrame, Region, Size
from tests.benchmarks.questions.files import ask_about
from tests.benchmarks.questions.test_reading import requests_of
from tests.evaluation.responses import response
from tests.reports.pages import raster

OPTIONS = {"image": "red.jpg", "question": "Which?", "options": ["x", "y"], "answer": 0, "hint": "Look."}


def test_the_direct_prompt_says_what_is_shown_and_how_to_answer(tmp_path: Path) -> None:
    """Paragraphs in a fixed order; step by step begins alike, so that both share a prefix."""
    dataset = ask_about(tmp_path, OPTIONS)
    direct, steps = (request.turns[0] for request in requests_of(dataset, "direct:V2", "step-by-step:V2"))
    assert direct.text.split("\n\n") == [
        "The image above is the full image.",
        "Hint: Look.",
        "Question: Which?",
        "Options:\nA. x\nB. y",
        "Answer with the letter of the one correct option. End your response with a line of the form "
        '"Final answer: X", where X is one of A or B.',
    ]
    assert steps.text == f"{direct.text}\n\nThink step by step before you give the final answer."
    assert direct.parts[0] == direct.views[0]


def test_text_alone_may_be_abstained_from(tmp_path: Path) -> None:
    """V0 shows nothing and says so."""
    (request,) = requests_of(ask_about(tmp_path, OPTIONS), "direct:V0")
    assert request.views == () and request.turns[0].text.startswith("No image is provided.")
    assert "not sure" in request.turns[0].text


def test_local_evidence_is_cropped_behind_the_full_images(tmp_path: Path) -> None:
    """V3 shows the regions alone, V4 the whole pictures and then the regions of each."""
    record = {"image": ["red.jpg", "blue.jpg"], "question": "Which?", "answer": "yes",
              "evidence": [{"image": "blue.jpg", "box": [0, 0, 0.5, 0.5]}, "10,20,30,40"]}  # fmt: skip
    local, both = requests_of(ask_about(tmp_path, record), "direct:V3", "direct:V4")
    places = [(view.image.rpartition("/")[2], view.region) for view in both.views]
    assert places == [("red.jpg", "full"), ("blue.jpg", "full"), ("blue.jpg", "0,0,80,60"), ("red.jpg", "10,20,30,40")]
    assert local.views == both.views[2:]
    assert both.turns[0].text.startswith("The first 2 images above are the full images")


def test_local_evidence_is_refused_for_each_question_without_any(tmp_path: Path) -> None:
    """Every one is named, and which columns would bring it."""
    dataset = ask_about(tmp_path, {**OPTIONS, "id": "one"}, {**OPTIONS, "id": "two"})
    with pytest.raises(EvidenceMissingError) as caught:
        requests_of(dataset, "direct:V3")
    assert [line.split("'")[1] for line in str(caught.value).splitlines()] == ["one", "two"]
    assert "columns `boxes` or `regions`" in str(caught.value)


def test_evidence_beyond_the_picture_is_refused_with_its_place(tmp_path: Path) -> None:
    """It is known only when the picture's size is."""
    dataset = ask_about(tmp_path, {**OPTIONS, "regions": "150,0,50,50"})
    with pytest.raises(EvidenceMissingError, match="'records-1': evidence: region '150,0,50,50' reaches outside"):
        requests_of(dataset, "direct:V3")


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        ("lonlat:1,2,3", "is none of full"),
        ("lonlat:13,52,13.5,52.5", ""),
        ("epsg:25833:400000,5799000,401000,5800000", ""),
        ({"type": "Polygon", "coordinates": [[[13, 52], [13.5, 52], [13.5, 52.5], [13, 52]]]}, ""),
        ({"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {}}, "is no area"),
        ({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"image": "blue.jpg"},
          "geometry": {"type": "Polygon", "coordinates": [[[1, 2], [2, 2], [2, 3], [1, 2]]]}}]}, "blue.jpg"),
    ],
)  # fmt: skip
def test_places_are_evidence_and_need_a_picture_that_lies_somewhere(
    tmp_path: Path, evidence: object, told: str
) -> None:
    """They are read with the records, and refused of a picture without a georeference."""
    if told:
        with pytest.raises(DatasetInvalidError, match=f"evidence: .*{told}"):
            ask_about(tmp_path, {**OPTIONS, "evidence": evidence})
        return
    dataset = ask_about(tmp_path, {**OPTIONS, "evidence": evidence})
    with pytest.raises(EvidenceMissingError, match=r"evidence: region '.*' needs an image that says where it lies"):
        requests_of(dataset, "direct:V3")


def test_a_prompt_about_a_place_is_made_again_without_the_picture(tmp_path: Path) -> None:
    """A raster records the place and its pixels, so that no file is opened for a report."""
    dataset = ask_about(tmp_path, {**OPTIONS, "evidence": "lonlat:13,52,13.5,52.5"})
    frame = ImageFrame.of(Size(160, 120), {"lonlat": lambda asked, size: Region(1, 2, 30, 40)})
    cells = (Cell(protocol="direct", condition="V3"),)
    spec = JobSpec(dataset=dataset.name, models=("demo-qwen3-vl",), cells=cells)
    ((_, request),) = expand(dataset, spec, load_catalogue(), lambda image: frame)
    shown = raster("f" * 32, "1,2,30,40").model_copy(update={"view": request.views[0], "source_size": Size(160, 120)})
    labels = {name: getattr(request, name) for name in ("request_id", "protocol", "prompt_version", "details")}
    answered = response(request.sample_id, "A", "V3", **labels, rasters=(shown,))
    assert request.views[0].region == "lonlat:13,52,13.5,52.5"
    told = PromptRebuilder(dataset, {}).of(reply_of(answered), dataset.samples[0])
    assert (told.turns, told.unknown) == (request.turns, "")


def _own(tmp_path: Path, text: str) -> dict[str, dict[str, Path]]:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return {"settings": {"prompt.toml": path}}


def test_a_prompt_of_ones_own_is_a_protocol_beside_the_others(tmp_path: Path) -> None:
    """What it leaves out is the direct prompt's, and its version stands with every response."""
    own = _own(tmp_path, 'version = "mine/1"\nprompt = "{question} [{letters}]\\n\\n{options}\\n\\n{form}"\n'
               'option = "({letter}) {text}"\nform.choice = "One letter, please."\n')  # fmt: skip
    dataset = ask_about(tmp_path, OPTIONS, **own)
    (request,) = requests_of(dataset, "own:V2")
    assert request.turns[0].text == "Which? [A or B]\n\nOptions:\n(A) x\n(B) y\n\nOne letter, please."
    assert request.prompt_version == "own mine/1+questions-shown/1"
    assert requests_of(dataset, "direct:V2")[0].prompt_version == "questions-direct/1+questions-shown/1"


def test_without_a_prompt_of_ones_own_there_is_no_such_protocol(tmp_path: Path) -> None:
    """The two that there are are named."""
    with pytest.raises(ProtocolUnavailableError, match="own is not available; there is direct, step-by-step"):
        requests_of(ask_about(tmp_path, OPTIONS), "own:V2")


def test_another_prompt_is_another_data_set(tmp_path: Path) -> None:
    """A report tells by the digest that the questions were asked otherwise."""
    first, second = (
        ask_about(tmp_path / name, OPTIONS, **_own(tmp_path, f'version = "{name}"\n')).digest for name in ("a", "b")
    )
    assert first != second


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = ", "prompt.toml: is not TOML"),
        ('prompt = "{question}"', "version: is missing"),
        ('version = "1"\npromt = "{question}"', "promt: there is no such text; there are version, prompt, hint"),
        ('version = "1"\nprompt = "{quesion}"', "prompt: there is no {quesion}; there are {category}, {form}"),
        ('version = "1"\nprompt = "{question"', "a brace that is meant as such is written twice"),
        ('version = "1"\nprompt = "What?"', "prompt: has no {question}"),
        ('version = "1"\noption = 3', "option: must be a text"),
        ('version = "1"\nform.chioce = "x"', "form: must be a table of texts for choice, choices, yes_no"),
        ('version = "1"\noptions_heading = "{x}"', "options_heading: there is no {x}; it has none"),
    ],
)
def test_a_wrong_prompt_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    """And nothing is made."""
    with pytest.raises(DatasetInvalidError) as caught:
        ask_about(tmp_path, OPTIONS, **_own(tmp_path, text))
    assert told in str(caught.value) and str(caught.value).startswith("prompt.toml: ")
