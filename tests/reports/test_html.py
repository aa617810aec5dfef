"""The report's page holds everything in one file, and takes no text for markup."""

import base64
import json
import random
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gigavqa.contract.jobs import Job, JobSpec, JobStatus
from gigavqa.contract.responses import ClosingAnswer
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.outcomes import sample_outcomes
from gigavqa.evaluation.prompts import PromptRebuilder
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Unit, Value
from gigavqa.reports.report import JobFacts, Report, build_report
from gigavqa.reports.writers.drawings import list_drawings, write_drawing
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.page import page as page_module
from gigavqa.reports.writers.page import texts
from gigavqa.reports.writers.page.page import SCRIPTS, render_html
from gigavqa.reports.writers.page.samples import OUTCOMES, choose_samples, collect_outcomes, most_samples
from gigavqa.reports.writers.page.tables import layout_table, page_number
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tests.reports.pages import (
    CATALOGUE,
    DATASET,
    HOSTILE,
    KEY,
    QUADRANTS,
    asked,
    jpeg,
    page,
    raster,
    report_of,
    responses,
    several_models,
)
from tests.reports.tables import table_of

PAGE = Path(page_module.__file__).parent


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


def data_of(html: str) -> Any:
    """What the page's script is given."""
    found = re.search(r'id="data">(.*?)</script>', html)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def html() -> str:
    """The page of a few responses."""
    return page()


def test_texts_of_models_and_records_stay_texts(html: str) -> None:
    """A response, a data set's name and a model's title hold elements; the page has none of them, and holds all."""
    found = parsed(html)

    scripts = [attributes for tag, attributes in found.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "pictures"}, {"type": "application/json", "id": "data"}, {}]
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert not any(attributes.get("src") for _, attributes in found.elements)
    assert any(HOSTILE in text for text in data_of(html)["texts"])
    assert HOSTILE not in html
    assert "tiny <b>set</b>" in found.text
    assert "Model <script>x</script> & $y$" in found.text


def test_the_script_takes_no_text_for_markup() -> None:
    """Nothing of it parses strings as elements or as code."""
    script = "".join((PAGE / name).read_text() for name in SCRIPTS)

    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|new Function", script)
        == []
    )


def test_the_page_asks_nobody_for_anything(html: str) -> None:
    """No address but those of XML namespaces, and a policy that forbids connections."""
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))

    assert {address for address in addresses if not address.startswith("http://www.w3.org/")} == set()
    assert "default-src 'none'" in html


def test_the_pages_own_files_name_no_benchmark() -> None:
    """Neither the name of one, nor a protocol, domain or category of one."""
    files = [path for path in PAGE.iterdir() if path.suffix in {".py", ".j2", ".js", ".css"}]
    known = find_benchmark("ultravr")
    words = {known.title, *known.protocols, *(name for names in known.grouping.known.values() for name in names)}

    assert len(files) > 8
    for file in files:
        assert set(re.findall(r"\w+", file.read_text())) & {*words, "ultravr", "cctv", "wsi"} == set(), file.name


def test_every_picture_stands_in_the_file_once(html: str) -> None:
    """Three responses saw one raster: one data URI, found by its key."""
    found = re.search(r'id="pictures">(.*?)</script>', html)

    assert found is not None
    uris = json.loads(found[1])
    assert uris == dict.fromkeys((KEY, *QUADRANTS), f"data:image/jpeg;base64,{base64.b64encode(jpeg()).decode()}")
    assert html.count("data:image/jpeg") == len(uris)


def test_a_text_that_many_responses_share_stands_in_the_file_once() -> None:
    """Six repeats were asked with one prompt: the question, in records and prompt, and the options stand once each."""
    given = [response("c1", "B", repeat=at, request_id=f"r{at}", rasters=(raster(),), **asked("c1", "V2"))
             for at in range(6)]  # fmt: skip
    data = data_of(page(given))

    (sample,) = data["samples"]
    assert [one["chat"] for one in sample["responses"]] == [1] * 6
    assert len(data["texts"]) == len(set(data["texts"]))


def test_a_closing_turn_stands_below_the_answer() -> None:
    """With whether it says what was read of it, by which responses can be filtered; without one there is neither."""
    closed = {text: ClosingAnswer(kind="choice", text=text) for text in ("B", "C", "Z")}
    given = [response("c1", "Final answer: B", request_id=text, closing=said) for text, said in closed.items()]
    data = data_of(page([*given, response("c1", "B", request_id="plain")]))

    (sample,) = data["samples"]
    told = {data["texts"][one.get("closing", 0)]: one.get("tags") for one in sample["responses"]}
    tags = {"B": "agrees", "C": "differs", "Z": "unread"}
    assert told == {text: {"closing turn": tag} for text, tag in tags.items()} | {"": None}


def test_random_weights_are_said_at_the_top() -> None:
    """Before any number."""
    made = page([response("c1", "Final answer: B", model="demo-qwen3-vl")])

    assert made.index("its weights are random") < made.index("<table")


def test_a_model_trained_for_another_benchmark_is_said_at_the_top() -> None:
    """Before any number, with what it was trained for."""
    made = page([response("c1", "Final answer: B", model="demo-sight")])

    assert made.index("it was trained for acuity alone") < made.index("<table")


def test_a_sample_has_its_steps_with_their_truth(html: str) -> None:
    """Of S2's reply: the step's question, truth, what was read, and its operation."""
    data = data_of(html)
    texts = data["texts"]
    (response,) = [one for sample in data["samples"] for one in sample["responses"] if one.get("parts")]

    step, _, right, _, read, *_ = next(part for part in response["parts"] if data["steps"][part[0]][0] == "S3")
    name, question, truth, tags, _ = data["steps"][step]
    assert (name, texts[question], texts[truth]) == ("S3", "How many standing adults are there?", "2")
    assert ["operation", "QUA"] in tags
    assert (right, texts[read]) == (0, "7")


def test_tables_without_rows_and_figures_without_numbers_are_left_out() -> None:
    """A job of S0 under V2 has Table 1 alone."""
    given = [response("c1", "Final answer: B")]
    made = render_html(build_report(DATASET, given, CATALOGUE))

    assert 'id="table1"' in made
    assert 'id="table2"' not in made
    assert 'id="figures"' not in made
    assert 'id="samples"' not in made


def test_numbers_stand_with_interval_and_count() -> None:
    """As text, for fingers and paper; and a mean over models says that it counts models."""
    report = report_of(several_models())
    shown_number = page_number(*first_number(report, summary=False))
    mean_number = page_number(*first_number(report, summary=True))
    text = " ".join(parsed(page(several_models())).text.split())

    assert re.fullmatch(r"n \d+", shown_number.basis)
    assert f"{shown_number.text}{shown_number.interval} {shown_number.basis}" in text
    assert mean_number.basis == "4 models"
    assert f"{mean_number.text}4 models" in text


@pytest.mark.parametrize(
    ("unit", "value", "shade"),
    [("rate", 0.5, 0.5), ("loss", 0.5, -0.5), ("difference", -0.1, -0.2), ("difference", 0.9, 1.0), ("number", 7.0, 0)],
)
def test_a_cell_is_shaded_by_what_is_good(unit: Unit, value: float, shade: float) -> None:
    """A loss darkens as a rate does, in the colour of what is bad; a difference is full at 50 points."""
    column = Column(key="a", title="A", unit=unit)
    shown = page_number(Estimate(value=value, count=1), column, Row(title="r", values=()))
    assert shown.shade == pytest.approx(shade)


def test_headings_are_explained_below_their_table(html: str) -> None:
    """Table 1's macro is marked, and the mark is told."""
    text = " ".join(parsed(html).text.split())

    assert "macroa" in text
    assert "a macro mean over domains (equation 2)" in text


@pytest.mark.parametrize(("columns", "rows", "form"), [(5, 3, "upright"), (20, 4, "turned"), (20, 1, "blocks")])
def test_a_table_is_turned_where_that_is_narrower(columns: int, rows: int, form: str) -> None:
    """Of many columns and few rows the rows become the columns, or one row its groups side by side."""
    names = [Column(key=str(at), title=str(at), unit="count") for at in range(columns)]
    table = Table(name="t", title="t", groups=(ColumnGroup(title="", columns=tuple(names)),),
                  rows=tuple(Row(title=str(at), values=tuple(range(columns))) for at in range(rows)))  # fmt: skip

    assert layout_table(table).form == form
    assert [line.numbers[0].text for line in layout_table(table).lines] == [str(at) for at in range(columns)]


def test_provenance_tells_jobs_seed_options_versions_and_thumbnail() -> None:
    """Everything that somebody needs who wants to ask the same again."""
    spec = JobSpec(dataset="tiny", models=("m",), plan="table1", seed=7, repeats=3, options={"thumbnail": 512})
    job = Job(id="job_1", spec=spec, status=JobStatus.COMPLETED, created_at=datetime(2026, 11, 20, tzinfo=UTC))
    small = raster().model_copy(update={"view": raster().view.model_copy(update={"sizing": "longest:512"})})
    given = [response("c1", "B", "V1", rasters=(small,), prompt_version="p/9")]
    report = report_of(given).model_copy(update={"jobs": (JobFacts.of(job),)})

    for text in (" ".join(parsed(page(given, report)).text.split()), render_markdown(report)):
        asked_for = ("plan table1", "seed 7", "3 repeats", "thumbnail 512")
        made_by = ("longest:512", "p/9", "vllm 0.32.0", "0" * 64, *report.versions.values())
        for fact in ("job_1", "completed, created 2026-11-20 00:00:00 UTC", *asked_for, *made_by):
            assert fact in text


def test_the_work_that_was_saved_is_told(html: str) -> None:
    """Tokens, those from the cache, pictures that were shown and rendered."""
    text = " ".join(parsed(html).text.split())

    for written in (text, render_markdown(report_of(responses()))):
        assert "900, of which 640 (71 %) from the prefix cache" in written
        assert "5 shown, 3 different: 2 renderings saved" in written


def test_a_page_shows_at_most_so_many_samples_and_says_so() -> None:
    """One of five here; the numbers count them all."""
    made = page(most=1)

    assert len(data_of(made)["samples"]) == 1
    assert "1 of 5 samples are shown here" in made


def test_a_page_shows_at_most_so_many_responses_and_says_so() -> None:
    """500 long answers to one sample and one to another: 400 of the first, and four megabytes at most."""
    many = [response("c1", f"{number}{'x' * 7000}B", request_id=f"r{number}", repeat=number) for number in range(500)]

    made = page([*many, response("r1", "B")])

    assert [len(sample["responses"]) for sample in data_of(made)["samples"]] == [400, 1]
    assert "with 401 of 501 responses" in made
    assert len(made) < 4_000_000


def test_prompts_beyond_the_pages_room_are_left_out_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for a thousand characters the first chat is told, and the second says why it is not."""
    monkeypatch.setattr(texts, "_CHAT_CHARACTERS", 500)
    given = [response(name, "B", rasters=(raster(),), **asked(name, "V2")) for name in ("c1", "c2")]

    data = data_of(page(given))

    first, second = (sample["responses"][0] for sample in data["samples"])
    assert first["chat"] == 1
    assert "chat" not in second
    assert "to keep this page small" in data["texts"][second["unknown"]]


def test_so_many_samples_are_chosen_as_have_room_for_their_responses() -> None:
    """100 samples with 20 responses each, 100 with 40, and ten where not even one would fit."""
    report = report_of(responses())

    def of(count: int, samples: int) -> int:
        origin = report.provenance[0].model_copy(update={"responses": count})
        return most_samples(report.model_copy(update={"provenance": (origin,), "samples": samples}))

    assert (of(2000, 100), of(40_000, 1000), of(100_000, 46), of(1, 10_000)) == (200, 100, 10, 500)


def test_long_texts_are_shortened_in_their_middle() -> None:
    """The beginning and the end, with the final answer, stay."""
    made = page([response("c1", f"START{'x' * 20_000}\nFinal answer: B")])

    (answer,) = [text for text in data_of(made)["texts"] if text.startswith("START")]
    assert answer.endswith("Final answer: B")
    assert "characters left out here" in answer
    assert len(made) < 200_000


def test_samples_to_show_are_taken_from_every_category() -> None:
    """Of three of CCTV and one of RS, two are one of each."""
    samples = [good_sample("cctv-comparison", id=f"c{number}") for number in range(3)] + [
        good_sample("rs-logic", id="r")
    ]

    assert choose_samples(dataset_of(samples), most=2) == {"c0", "r"}


def test_samples_stand_as_people_count() -> None:
    """The second before the tenth."""
    samples = [good_sample("cctv-comparison", id=f"q{number}") for number in (1, 2, 10)]
    dataset, given = dataset_of(samples), [response(sample.id, "B") for sample in reversed(samples)]
    outcomes = sample_outcomes(dataset, given, CATALOGUE, PromptRebuilder(dataset))

    assert list(collect_outcomes(outcomes, most=10)) == ["q1", "q2", "q10"]


def test_a_raster_without_a_preview_is_named_all_the_same() -> None:
    """Its sizes are told, and no picture is shown."""
    made = page([response("c1", "Final answer: B", rasters=(raster("f" * 32),))])

    assert "shown at 640 × 352" in made
    assert "data:image/jpeg" not in made


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_ink_can_be_read_on_every_paper(theme: str) -> None:
    """A contrast of 4.5 to 1 or more (WCAG 2.2, 1.4.3) of text and marks, light and dark."""
    colours = themes()[theme]
    inks = ("ink", "soft", "accent", "good", "bad", *OUTCOMES)

    for ink in inks:
        for paper in ("paper", "card", "sunk"):
            assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    assert contrast(colours["ink"], colours["warn"]) >= 4.5


def themes() -> dict[str, dict[str, str]]:
    """The colours of the style sheet by name, of the light theme and of the dark one."""
    pairs = re.findall(r"--(\w[\w-]*): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", (PAGE / "page.css").read_text())
    return {"light": {name: light for name, light, _ in pairs}, "dark": {name: dark for name, _, dark in pairs}}


def contrast(one: str, other: str) -> float:
    """The ratio of two colours' luminances by WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def first_number(report: Report, *, summary: bool) -> tuple[Value, Column, Row]:
    """The first number of Table 1's first row, or of its mean."""
    table = table_of(report, "table1")
    row = next(row for row in table.rows if row.summary is summary)
    return row.values[0], table.columns[0], row


@pytest.mark.parametrize(("form", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_figures_are_drawn_as_files(form: str, begins: bytes) -> None:
    """Three parts, each the same bytes every time."""
    parts = list_drawings(report_of(responses()))

    assert [part.figure.name for part in parts] == ["figure2a", "figure2b", "figure2c"]
    for part in parts:
        drawn = write_drawing(part, form)  # type: ignore[arg-type]
        assert drawn.startswith(begins)
        assert drawn == write_drawing(part, form)  # type: ignore[arg-type]


def test_the_page_has_what_its_samples_need(html: str) -> None:
    """Every sample of the data set that has a response, with each of them."""
    samples = {sample["id"]: len(sample["responses"]) for sample in data_of(html)["samples"]}

    assert samples == {"a1": 1, "c1": 3, "c2": 2, "r1": 1, "w1": 1}


def test_what_a_page_shows_of_too_many_does_not_depend_on_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of samples, of responses to one sample and of all responses."""
    monkeypatch.setattr("gigavqa.reports.writers.page.samples.DETAILED_RESPONSES", 12)
    monkeypatch.setattr("gigavqa.reports.writers.page.samples._MOST_OF_A_SAMPLE", 4)
    many = [one.model_copy(update={"repeat": at, "request_id": f"{one.request_id}:{at}"})
            for one in responses() for at in range(9)]  # fmt: skip
    made = {page(random.Random(seed).sample(many, len(many)), report_of(many), most=4) for seed in range(4)}
    assert len(made) == 1
    assert len(data_of(made.pop())["samples"]) == 4
