"""docs/security.md bounds every size that a client controls: each name and each number there is that of the code."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from gigavqa.contract.jobs import MAX_JUDGED_JOBS
from gigavqa.runtime.settings import SettingField
from gigavqa.service.errors import MAX_FINDINGS
from gigavqa.service.http.auth import OPEN_PATHS, RECHECK_SECONDS
from gigavqa.service.http.parameters import MOST_JOBS, MOST_JUDGES
from gigavqa.service.openai.batch_input import MOST_LINES
from gigavqa.service.openai.chat_request import ChatCompletionRequest
from gigavqa.service.server import MAX_HEAD_BYTES
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission.specification import SubmittedSpec
from gigavqa.store.api_keys import Limits
from gigavqa.store.job_registry import IDEMPOTENCY_SECONDS
from gigavqa.tiling import limits as pixels
from gigavqa.viewer.settings import ViewerSettings
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.tools.summarizing import SummarizerSettings
from gigavqa.workers.tools.web import SourceSettings

PAGE = (Path(__file__).parents[2] / "docs/security.md").read_text(encoding="utf-8")
PLACES = {
    place.variable: place for kind in (GatewaySettings, WorkerSettings, ViewerSettings) for place in kind.places()
}
QUOTAS = {f"--{name.replace('_', '-')}": field.default for name, field in Limits.model_fields.items()}
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its first two lines."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


SIZES = rows("Every size that a client controls")


def number(cell: str) -> float:
    """The first number of a cell, in bytes where it has a unit of them."""
    found = re.match(r"([\d,.]+) ?(\w*)", cell)
    assert found, cell
    return float(found.group(1).replace(",", "")) * _UNITS.get(found.group(2), 1)


def test_every_name_on_the_page_is_a_setting() -> None:
    """A variable of the gateway or of workers, a limit of keys, or a limit of pictures; names are not made up."""
    pictures = {f"GIGAVQA_MAX_PIXELS_{layout.upper()}" for layout in get_args(pixels.PixelLayout)}
    of_clients = {"GIGAVQA_API_KEY"}
    named = set(re.findall(r"\bGIGAVQA_[A-Z_]+[A-Z]\b", PAGE))
    assert named - set(PLACES) - pictures == of_clients
    arguments = {"--name", "--owner", "--role", "--expires"}
    assert set(re.findall(r"--[a-z]+[a-z-]*", PAGE)) - arguments == set(QUOTAS)


SEARCHES = {"of the source": SourceSettings, "of the summarizer": SummarizerSettings}
OF_SEARCHES = [(row, kind) for row in SIZES for end, kind in SEARCHES.items() if row[2].endswith(end)]


@pytest.mark.parametrize(
    "row", [row for row in SIZES if row[2] and not row[2].endswith((*SEARCHES,))], ids=lambda row: row[0]
)
def test_each_size_that_can_be_set_has_its_default(row: list[str]) -> None:
    """As the setting has it."""
    name = row[2].split("`")[1]
    if name in QUOTAS:
        assert number(row[1]) == QUOTAS[name]
    elif not name.startswith("GIGAVQA_MAX_PIXELS_"):
        place: SettingField = PLACES[name]
        default = place.field.get_default()
        assert row[1] == "for ever" if default is None else number(row[1]) == float(default)


@pytest.mark.parametrize(("row", "kind"), OF_SEARCHES, ids=[row[0] for row, _ in OF_SEARCHES])
def test_each_size_of_a_search_source_has_its_default(row: list[str], kind: type[BaseModel]) -> None:
    """Several of them in a row, in one order."""
    told = {name: number(cell) for name, cell in zip(re.findall(r"`(\w+)`", row[2]), row[1].split("; "), strict=True)}
    assert told == {name: kind.model_fields[name].default for name in told}


def test_every_limit_of_keys_is_in_both_tables() -> None:
    """With the same default."""
    quotas = {row[0].strip("`"): number(row[1]) for row in rows("Quotas")}
    assert quotas == QUOTAS
    assert {row[2].strip("`") for row in SIZES} >= set(QUOTAS)


def test_the_sizes_that_cannot_be_set_are_those_of_the_code() -> None:
    """Read from where they are enforced."""
    told = {row[0]: row[1] for row in SIZES}
    schema, chat = (kind.model_json_schema()["properties"] for kind in (SubmittedSpec, ChatCompletionRequest))
    assert number(told["a request's line and headers"]) == MAX_HEAD_BYTES
    assert number(told["findings of one problem document"]) == MAX_FINDINGS
    assert number(told["jobs of a page of a list; of one report; that one job judges"]) == MOST_JOBS == MAX_JUDGED_JOBS
    assert number(told["jobs that judge for one report"]) == MOST_JUDGES
    assert number(told["how long an `Idempotency-Key` is kept"]) * 3600 == IDEMPOTENCY_SECONDS
    assert number(told["sample ids of a specification"]) == schema["samples"]["maxItems"]
    assert number(told["repeats; `top_k`"]) == schema["repeats"]["maximum"]
    assert number(told["messages of a chat; parts of a message"]) == chat["messages"]["maxItems"]
    assert number(told["answers of a chat; tokens of each"]) == chat["n"]["anyOf"][0]["maximum"]
    assert number(told["lines of a batch"]) == MOST_LINES
    for name in ("models", "cells"):
        assert number(told["fields of a specification; models; cells"]) == schema[name]["maxItems"]
    for name in ("sampling", "options", "metadata"):
        assert number(told["settings of `sampling`; options; pairs of `metadata`"]) == schema[name]["maxProperties"]


def test_what_is_open_is_named() -> None:
    """Each path that needs no key, and how soon a stream ends."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith("- Without a key are answered")]
    pages = {
        "/",
        "/jobs",
        "/ask",
        "/datasets",
        "/import",
        "/models",
        "/reports",
        "/workers",
        "/watch",
        "/watch/runbook",
        "/docs",
    }
    assert set(re.findall(r"`(/[a-z.]*)`", line)) == OPEN_PATHS - pages - {"/favicon.ico"}
    assert f"every {RECHECK_SECONDS:g} seconds" in PAGE
