"""Chats are declared: what is told, what may be called, and what every call is answered by."""

import json
import re
from pathlib import Path

import pytest

from gigavqa.benchmarks.vistahop.asking import write_tools_section
from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.tools import default_tools
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.tool_loops import CALL_GRAMMARS, CallGrammar, FixedTool, SearchTool, ToolLoop, ZoomTool
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import EvidenceMissingError, ProtocolUnavailableError
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.views import View
from gigavqa.workers.engines.remote.dialects import DIALECTS
from tests.benchmarks.vistahop.examples import PICTURE
from tests.benchmarks.vistahop.files import OURS, QUESTION, write
from tests.evaluation.responses import MODEL
from tests.workers.tools.test_templates import TEMPLATES, each_family, rendered

FIT = "fit:32:65536:8294400"


def asked(dataset: Dataset, **job: object) -> dict[str, InferenceRequest]:
    """The requests of a job, by protocol and rounds."""
    spec = JobSpec.model_validate({"dataset": dataset.name, "models": (MODEL,), **job})
    requests = [request for _, request in expand(dataset, spec, load_catalogue(), lambda _: PICTURE)]
    return {request.request_id.split(":")[1]: request for request in requests}


def loop_of(request: InferenceRequest) -> ToolLoop:
    """The loop of a request."""
    assert request.loop is not None
    return request.loop


@pytest.fixture
def harbours(tmp_path: Path) -> Dataset:
    """One sample, and a corpus of one page."""
    return load_dataset(write(tmp_path / "harbours", [OURS]))


def test_plans_ask_each_setting_once(harbours: Dataset) -> None:
    """Table 4's three with ten rounds, Table 5's five numbers of rounds, and both together without a copy."""
    table4 = ["direct-V2", "search-V2-n10", "search_crop-V2-n10"]
    table5 = [f"search_crop-V2-n{rounds}" for rounds in (6, 8, 10, 12, 14)]
    assert sorted(asked(harbours)) == sorted(table4)
    assert sorted(asked(harbours, plan="table5")) == sorted(table5)
    assert sorted(asked(harbours, plan="vistahop")) == sorted({*table4, *table5})


def test_a_zoom_shows_original_pixels_and_a_search_looks_in_the_corpus(harbours: Dataset) -> None:
    """The question stands alone behind the picture; all texts of results come with the request."""
    request = asked(harbours)["search_crop-V2-n10"]
    view = View(image="harbours/images/harbour.tif", sizing=FIT)
    assert request.turns[0].parts == (view, QUESTION)
    loop = loop_of(request)
    zoom, search, given = loop.tools
    assert isinstance(zoom, ZoomTool) and (zoom.name, zoom.sizing, zoom.image) == ("image_zoom_in_tool", f"{FIT}:28", 0)
    assert (zoom.before, zoom.after) == ("<tool_response>\nHere is the zoomed image:", "\n</tool_response>")
    assert isinstance(search, SearchTool) and (search.source, search.top_k) == ("harbours/corpus", 3)
    assert re.fullmatch("[0-9a-f]{64}", search.source_version)
    assert search.found == ("<tool_response>\nFinal summary generated for query: {query}\n{result}\n</tool_response>")
    assert isinstance(given, FixedTool)
    assert given.parts == (
        "<tool_response>\nReverse Image Search Results:\n\nTitle 1: Quay 4, Port of Ansel\nThumbnail 1: ",
        View(image="harbours/thumbs/quay4.jpg", sizing=FIT),
        "\n</tool_response>",
    )
    assert loop.errors.unknown == "<tool_response>\nError: Unknown tool '{name}'.\n</tool_response>"
    assert loop.max_rounds == 10


def test_tools_are_declared_one_a_line_and_the_search_has_no_zoom(harbours: Dataset) -> None:
    """In the system message, which says nothing of the number of rounds, so that it is the same for all of them."""
    requests = asked(harbours, plan="vistahop")
    crop, search = (requests[name].system or "" for name in ("search_crop-V2-n10", "search-V2-n10"))
    names = [json.loads(line)["function"]["name"] for line in crop.splitlines() if line.startswith('{"type"')]
    assert names == ["image_zoom_in_tool", "text_search_tool", "image_search_tool"]
    assert "image_zoom_in_tool" not in search and "text_search_tool" in search
    assert crop == requests["search_crop-V2-n14"].system
    assert len(loop_of(requests["search-V2-n10"]).tools) == 2


def test_no_tool_is_asked_for_the_form_of_the_answer(harbours: Dataset) -> None:
    """Behind the question; without the picture where the condition shows none."""
    direct = asked(harbours)["direct-V2"]
    assert direct.loop is None and "tool" not in (direct.system or "")
    assert direct.turns[0].text.startswith(f"{QUESTION}\n\nWrite only the answer")
    (blind,) = asked(harbours, plan="text-only").values()
    assert not blind.views and "not shown" in (blind.system or "")


def test_a_record_without_hits_says_that_none_were_found(tmp_path: Path) -> None:
    """Also where it has titles without any picture."""
    for hits in ([], [{"title": "Quay 4"}]):
        dataset = load_dataset(write(tmp_path / f"h{len(hits)}", [{**OURS, "image_search": hits}]))
        given = loop_of(asked(dataset)["search-V2-n10"]).tools[1]
        assert isinstance(given, FixedTool)
        assert given.parts == ("<tool_response>\nNo matching images were found.\n</tool_response>",)


def test_a_data_sets_own_prompts_and_tools_win(tmp_path: Path) -> None:
    """And the version names them by their digest."""
    folder = write(tmp_path / "own", [OURS], '[prompts]\nsystem_prompt = "Hunt."\nformat_instruction = "Be brief."\n')
    schema = "tool_schema:\n    function:\n      {name: look_at_crop, parameters: {type: object}}"
    (folder / "tools.yaml").write_text(f"tools:\n- class_name: x\n  {schema}\n")
    cells = [{"protocol": "direct", "condition": "V2"}, {"protocol": "search_crop", "condition": "V2", "rounds": 10}]
    requests = asked(load_dataset(folder), cells=cells)
    crop = requests["search_crop-V2-n10"]
    assert (crop.system or "").startswith("Hunt.\n\n# Tools") and "Be brief" not in crop.turns[0].text
    assert [tool.name for tool in loop_of(crop).tools] == ["look_at_crop"]
    assert requests["direct-V2"].turns[0].text == f"{OURS['question']}\nBe brief."
    assert (crop.prompt_version or "").startswith("own:")
    with pytest.raises(ProtocolUnavailableError, match="search needs a tool for search or image search"):
        asked(load_dataset(folder))


def test_a_job_may_choose_pages_source_and_sizes(harbours: Dataset) -> None:
    """Native pictures show what a larger budget gains."""
    options = {"top_k": 10, "source": "web", "source_version": "2026-11", "pictures": "native"}
    request = asked(harbours, options=options)["search_crop-V2-n10"]
    zoom, search, _ = loop_of(request).tools
    assert isinstance(search, SearchTool)
    assert (search.source, search.source_version, search.top_k) == ("web", "2026-11", 10)
    assert isinstance(zoom, ZoomTool) and zoom.sizing == request.views[0].sizing == "native"


def test_what_cannot_be_asked_is_refused(harbours: Dataset, tmp_path: Path) -> None:
    """Rounds without a loop, a loop without rounds or without the picture, and a search with nowhere to look."""
    for cell in (
        Cell(protocol="direct", condition="V2", rounds=3),
        Cell(protocol="search", condition="V2"),
        Cell(protocol="search", condition="V0", rounds=3),
    ):
        with pytest.raises(ProtocolUnavailableError):
            asked(harbours, cells=(cell,))
    folder = write(tmp_path / "bare", [OURS])
    (folder / "corpus" / "a.jsonl").unlink()
    (folder / "corpus").rmdir()
    with pytest.raises(EvidenceMissingError, match="nothing can be searched"):
        asked(load_dataset(folder))


def test_every_reading_of_an_error_is_a_whole_message(harbours: Dataset) -> None:
    """With the texts that the protocol has for it."""
    errors = loop_of(asked(harbours)["search-V2-n10"]).errors.model_dump()
    before, after = "<tool_response>\n", "\n</tool_response>"
    inner = {name: text.removeprefix(before).removesuffix(after) for name, text in errors.items()}
    assert inner == {
        "arguments": "Error: Invalid tool call format.",
        "unknown": "Error: Unknown tool '{name}'.",
        "box": "Error: Invalid bbox format.",
        "query": "Error: Search not available.",
    }
    assert VistaHop().loops == ("search", "search_crop")


def test_chats_are_decoded_as_the_authors_program_decodes(harbours: Dataset) -> None:
    """Unless the job says otherwise; a presence penalty goes to servers elsewhere, too."""
    sampling = asked(harbours)["search_crop-V2-n10"].sampling
    told = sampling.model_dump(exclude_none=True, exclude={"seed"})
    assert told == {
        "temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.0, "presence_penalty": 1.5,
        "max_tokens": 4096,
    }  # fmt: skip
    sent = DIALECTS["openai"].parameters(sampling, load_catalogue()[MODEL], 40_960)
    assert sent["presence_penalty"] == 1.5
    other = asked(harbours, sampling={"presence_penalty": 0})["search_crop-V2-n10"].sampling
    assert "presence_penalty" not in other.model_dump()


@each_family
def test_models_are_told_of_tools_as_their_template_tells_them(family: str) -> None:
    """To the letter, each declaration on a line, whichever family's way of calling a job chooses."""
    tools = default_tools()
    declared = [dict(tool.declaration) for tool in tools]
    text = rendered(family, {"role": "assistant", "content": "1911"}, tools=declared)
    assert write_tools_section(tools, TEMPLATES[family][1]) in text


@pytest.mark.parametrize("grammar", CALL_GRAMMARS)
def test_a_job_may_choose_how_calls_are_written(harbours: Dataset, grammar: CallGrammar) -> None:
    """The loop reads what the system message asks for; the version says so where it is not the authors' way."""
    request = asked(harbours, options={"grammar": grammar})["search_crop-V2-n10"]
    loop, system = loop_of(request), request.system or ""
    declared = ToolLoop.model_validate({**loop.model_dump(), **CALL_GRAMMARS[grammar]})
    assert loop == declared
    assert f"between {loop.opening} and {loop.closing}" in system.partition("# Tools")[0]
    assert loop.opening in system.partition("# Tools")[2]
    assert ((request.prompt_version or "").endswith(f"+calls:{grammar}")) is (grammar != "qwen3")
