"""Questions of VistaHop, chats about them as a worker records them, and the report of both."""

from collections.abc import Iterable, Sequence
from typing import Any

from gigavqa.benchmarks.vistahop.asking import DIRECT, SEARCH_CROP
from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import RasterRecord, Response, TurnResponse, Usage
from gigavqa.contract.tool_loops import ToolCall
from gigavqa.evaluation.datasets import Dataset
from gigavqa.reports.report import Report, build_report
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.evaluation.responses import MODEL, response

PICTURE = Size(60_000, 40_000)


def sample(name: str = "quay", hops: int | None = 7, **changes: Any) -> VistaHopSample:
    """A question of a single chain, whose answer is 1911."""
    fields = {
        "id": name,
        "images": (f"images/{name}.tif",),
        "question": "In which year was the firm founded whose mark is on the left crane?",
        "answers": ("1911",),
        "hops": hops,
        "form": "single",
    }
    return VistaHopSample.model_validate({**fields, **changes})


def call(status: str = "ok", name: str = "text_search_tool", arguments: str = "{}", **changes: Any) -> ToolCall:
    """The record of a call."""
    return ToolCall.model_validate({"name": name, "arguments": arguments, "status": status, **changes})


def turns(calls: Sequence[ToolCall], last: str | None) -> tuple[TurnResponse, ...]:
    """Rounds with these calls, and behind them the answer where there is one."""
    asked = [
        TurnResponse(
            text=f"<thinking>Step {number}.</thinking><tool_call>...</tool_call>",
            finish_reason="stop",
            call=one,
            usage=Usage(prompt_tokens=100 * (number + 1), cached_tokens=100 * number),
        )
        for number, one in enumerate(calls)
    ]
    usage = Usage(prompt_tokens=100 * (len(calls) + 1), cached_tokens=100 * len(calls))
    ended = [] if last is None else [TurnResponse(text=last, finish_reason="stop", usage=usage)]
    return (*asked, *ended)


def said(answer: str) -> str:
    """An answer in the form that the prompts ask for."""
    return f"<thinking>Now I know.</thinking>\n<answer>{answer}</answer>"


def chat(
    of: VistaHopSample,
    answer: str | None,
    calls: Sequence[ToolCall] = (),
    limit: int = 10,
    stop: str | None = None,
    **changes: Any,
) -> Response:
    """A chat in a loop: its calls, then the answer; without one it ended by `stop`."""
    protocol, repeat = changes.setdefault("protocol", SEARCH_CROP), changes.get("repeat", 0)
    model = changes.get("model", MODEL)
    changes.setdefault("request_id", f"{of.id}:{protocol}-V2-n{limit}:{model}:{repeat}")
    return response(
        of.id,
        "",
        turns=turns(calls, None if answer is None else said(answer)),
        stop=stop or ("rounds" if answer is None else "answered"),
        max_rounds=limit,
        **changes,
    )


def direct(of: VistaHopSample, answer: str | None, condition: str = "V2", **changes: Any) -> Response:
    """A chat without tools; None is a failure."""
    model, repeat = changes.get("model", MODEL), changes.get("repeat", 0)
    identity = f"{of.id}:{DIRECT}-{condition}:{model}:{repeat}"
    text = None if answer is None else said(answer)
    return response(of.id, text, condition, protocol=DIRECT, request_id=identity, **changes)


def crop(region: str, raster: Size, turn: int = 1) -> RasterRecord:
    """The record of a zoom into the picture."""
    return RasterRecord(
        view=View(image="harbours/images/quay.tif", region=region),
        turn=turn,
        source_size=PICTURE,
        source_format="tiff",
        region=region,
        level=0,
        downsample=1.0,
        raster_size=raster,
        visual_tokens=10,
        digest="0" * 64,
        key="key",
    )


def dataset_of(samples: Iterable[VistaHopSample], benchmark: VistaHop | None = None) -> Dataset:
    """A data set that lies in no file."""
    return Dataset("harbours", benchmark or VistaHop(), "Harbours", "", tuple(samples), "0" * 64)


def reported(samples: Iterable[VistaHopSample], chats: Iterable[Response], benchmark: VistaHop | None = None) -> Report:
    """The report of chats."""
    return build_report(dataset_of(samples, benchmark), chats, load_catalogue())
