"""The report's page holds everything in one file, and takes no text for markup."""

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from evaluation.report import build_report
from evaluation.writers.drawings import drawings, write_drawing
from evaluation.writers.page.page import render_html
from evaluation.writers.page.samples import choose_samples, most_samples
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.pages import CATALOGUE, DATASET, HOSTILE, KEY, jpeg, page, raster, report_of, responses
from tests.evaluation.responses import response


class _Elements(HTMLParser):
    """Collects what a browser would take for elements, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> _Elements:
    """Read a page as a browser does."""
    elements = _Elements()
    elements.feed(html)
    return elements


@pytest.fixture(scope="module")
def html() -> str:
    """The page of a few responses."""
    return page()


def test_texts_of_models_and_records_stay_texts(html: str) -> None:
    """A response, a data set's name and a model's title hold elements; the page has none of them, and shows all."""
    found = parsed(html)

    scripts = [attributes for tag, attributes in found.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "pictures"}, {}]
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert not any(attributes.get("src") for _, attributes in found.elements)
    assert HOSTILE in found.text
    assert "tiny <b>set</b>" in found.text
    assert "Model <script>x</script> & $y$" in found.text


def test_the_page_asks_nobody_for_anything(html: str) -> None:
    """No address but those of XML namespaces, and a policy that forbids connections."""
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))

    assert {address for address in addresses if not address.startswith("http://www.w3.org/")} == set()
    assert "default-src 'none'" in html


def test_every_picture_stands_in_the_file_once(html: str) -> None:
    """Three responses saw one raster: one data URI, found by its key."""
    found = re.search(r'id="pictures">(.*?)</script>', html)

    assert found is not None
    uris = json.loads(found[1])
    assert uris == {KEY: f"data:image/jpeg;base64,{base64.b64encode(jpeg()).decode()}"}
    assert html.count("data:image/jpeg") == 1


def test_random_weights_are_said_at_the_top() -> None:
    """Before any number."""
    made = page([response("c1", "Final answer: B", model="demo-qwen3-vl")])

    assert made.index("its weights are random") < made.index("<table")


def test_a_sample_shows_steps_beside_their_ground_truth(html: str) -> None:
    """Of S2's reply: the step's question, truth, what was read, and its operation."""
    text = " ".join(parsed(html).text.split())

    assert "How many standing adults are there?" in text
    assert "Ground truth" in text
    assert "S3 QUA How many standing adults are there?" in text


def test_tables_without_rows_and_figures_without_numbers_are_left_out() -> None:
    """A job of S0 under V2 has Table 1 alone."""
    given = [response("c1", "Final answer: B")]
    made = render_html(build_report(DATASET, given, CATALOGUE))

    assert 'id="table1"' in made
    assert 'id="table2"' not in made
    assert 'id="figures"' not in made
    assert 'id="samples"' not in made


def test_a_page_shows_at_most_so_many_samples_and_says_so() -> None:
    """One of five here; the numbers count them all."""
    made = page(most=1)

    assert made.count('class="sample"') == 1
    assert "1 of 5 samples are shown here" in made


def test_a_page_shows_at_most_so_many_responses_and_says_so() -> None:
    """3,000 long answers to one sample and one to another: 200 of the first, and four megabytes at most."""
    many = [response("c1", "x" * 7000 + "B", request_id=f"r{number}", repeat=number) for number in range(3000)]

    made = page([*many, response("r1", "B")])

    assert made.count('class="response ') == 201
    assert "with 201 of 3,001 responses" in made
    assert len(made) < 4_000_000


def test_so_many_samples_are_chosen_as_have_room_for_their_responses() -> None:
    """100 samples with 20 responses each, 50 with 40, and ten where not even one would fit."""
    report = report_of(responses())

    def of(count: int, samples: int) -> int:
        origin = report.provenance[0].model_copy(update={"responses": count})
        return most_samples(report.model_copy(update={"provenance": (origin,), "samples": samples}))

    assert (of(2000, 100), of(40_000, 1000), of(100_000, 46), of(1, 10_000)) == (100, 50, 10, 500)


def test_long_texts_are_shortened_in_their_middle() -> None:
    """The beginning and the end, with the final answer, stay."""
    made = page([response("c1", f"START{'x' * 20_000}\nFinal answer: B")])

    assert "START" in made
    assert "Final answer: B" in made
    assert "characters left out here" in made
    assert len(made) < 200_000


def test_samples_to_show_are_taken_from_every_category() -> None:
    """Of three of CCTV and one of RS, two are one of each."""
    samples = [good_sample("cctv-comparison", id=f"c{number}") for number in range(3)] + [
        good_sample("rs-logic", id="r")
    ]

    assert choose_samples(dataset_of(samples), most=2) == {"c0", "r"}


def test_a_raster_without_a_preview_is_named_all_the_same() -> None:
    """Its sizes are told, and no picture is shown."""
    made = page([response("c1", "Final answer: B", rasters=(raster("f" * 32),))])

    assert "shown at 640 × 352" in made
    assert "data:image/jpeg" not in made


@pytest.mark.parametrize(("form", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_figures_are_drawn_as_files(form: str, begins: bytes) -> None:
    """Three parts, each the same bytes every time."""
    parts = drawings(report_of(responses()))

    assert [part.figure.name for part in parts] == ["figure2a", "figure2b", "figure2c"]
    for part in parts:
        drawn = write_drawing(part, form)  # type: ignore[arg-type]
        assert drawn.startswith(begins)
        assert drawn == write_drawing(part, form)  # type: ignore[arg-type]


def test_the_page_has_what_its_samples_need() -> None:
    """Every sample of the data set that has a response has a block."""
    assert page().count('class="sample"') == len(DATASET.samples)
