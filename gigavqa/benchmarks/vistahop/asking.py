"""Ask a question: directly, or in a loop of rounds with text and image search, with zooms or without."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from gigavqa.benchmarks.vistahop.prompts import read_texts
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.benchmarks.vistahop.sidecars import Sidecars
from gigavqa.benchmarks.vistahop.tools import ToolDeclaration, ToolKind, select_tools
from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Turn
from gigavqa.contract.tool_loops import (
    CALL_GRAMMARS,
    CallGrammar,
    FixedTool,
    MessagePart,
    SearchTool,
    ToolErrors,
    ToolLoop,
    ZoomTool,
)
from gigavqa.evaluation.benchmark import Chat, Scene
from gigavqa.evaluation.errors import EvidenceMissingError, ProtocolUnavailableError
from gigavqa.retrieval.sources import MAX_HITS
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.views import View

DIRECT, SEARCH, SEARCH_CROP = "direct", "search", "search_crop"
PROTOCOLS = {
    DIRECT: "without tools (No-Tool)",
    SEARCH: "with text and image search (Search)",
    SEARCH_CROP: "with text and image search and zooms (Search+Crop)",
}
LOOPS = (SEARCH, SEARCH_CROP)
"""Protocols that are played in rounds."""
_TOOLS: dict[str, tuple[ToolKind, ...]] = {
    SEARCH: ("search", "image search"),
    SEARCH_CROP: ("zoom", "search", "image search"),
}
_FIT_SIZING = "fit:32:65536:8294400"
"""The size of every picture that the authors' runner sends; its crops have sides of at least 28 pixels before."""
ROUNDS = (6, 8, 10, 12, 14)
PAPERS_ROUNDS = 10


class VistaHopOptions(BaseModel):
    """The options that a job may set: how many pages a search is made of, where it looks, and how large pictures
    are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    top_k: PositiveInt = Field(default=3, le=MAX_HITS, description="pages that a text search is made of")
    source: str | None = Field(
        default=None, description="name of a source of the worker's operator; else the data set's corpus is searched"
    )
    source_version: str = Field(default="", description="what the operator calls the source's state")
    pictures: Literal["fit", "native"] = Field(
        default="fit", description="sizes of the authors' runner, or the model family's own"
    )
    grammar: CallGrammar = Field(
        default="qwen3",
        description="how calls are written: the authors' way, or that of another family's chat template",
    )

    def sizing(self, crop: bool = False) -> str:
        """Return the sizing rule of a picture."""
        return "native" if self.pictures == "native" else f"{_FIT_SIZING}:28" if crop else _FIT_SIZING


def ask(sample: VistaHopSample, cell: Cell, scene: Scene, beside: Sidecars) -> Chat:
    """Ask a sample in a cell: its picture, then the question alone, under a system message that says how."""
    options = scene.shared or VistaHopOptions()
    views = (View(image=scene.images[0], sizing=options.sizing()),) if cell.condition != "V0" else ()
    if cell.protocol == DIRECT:
        return _direct_chat(sample, views, beside)
    marks = {name: read_texts("results")[name] for name in ("opening", "closing")}
    loop = ToolLoop(
        **{**marks, **CALL_GRAMMARS[options.grammar]},
        tools=tuple(_tool_from(tool, sample, scene, options, beside) for tool in _select_tools(cell, beside)),
        errors=ToolErrors(**{name: _system_message(text) for name, text in read_texts("results")["errors"].items()}),
        max_rounds=cell.rounds or PAPERS_ROUNDS,
    )
    task, version = _agent_prompt(beside)
    for name, mark in marks.items():
        task = task if beside.system_prompt else task.replace(mark, getattr(loop, name))
    versions = (version, _version_of(beside.tools), read_texts("results")["version"])
    return Chat(
        views,
        (Turn(parts=(sample.question,)),),
        "+".join((*versions, *([] if options.grammar == "qwen3" else [f"calls:{options.grammar}"]))),
        system="\n\n".join(filter(None, (task, write_tools_section(_select_tools(cell, beside), options.grammar)))),
        loop=loop,
    )


def _direct_chat(sample: VistaHopSample, views: tuple[View, ...], beside: Sidecars) -> Chat:
    texts = read_texts("direct")
    task, version = texts["task" if views else "text_only"].strip(), texts["version"]
    instruction, between = texts["format_instruction"], "\n\n"
    if beside.system_prompt is not None or beside.format_instruction is not None:
        # As the authors' program joins them; nothing of an instruction that is empty.
        task = task if beside.system_prompt is None else beside.system_prompt
        instruction = instruction if beside.format_instruction is None else beside.format_instruction
        between, version = "\n", f"own:{_digest(f'{task}{chr(10)}{instruction}')}"
    text = between.join(filter(None, (sample.question, instruction)))
    return Chat(views, (Turn(parts=(text,)),), version, system=task or None)


def _agent_prompt(beside: Sidecars) -> tuple[str, str]:
    """Return what an agent is told of its turns, and its version: that of ours, or the digest of the data set's own."""
    if beside.system_prompt is None:
        return read_texts("agent")["task"].strip(), read_texts("agent")["version"]
    own = f"{beside.system_prompt}\0{beside.format_instruction or ''}"
    return beside.system_prompt, f"own:{_digest(own)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _version_of(tools: tuple[ToolDeclaration, ...]) -> str:
    return f"tools:{_digest(chr(10).join(tool.line for tool in tools))}"


def _select_tools(cell: Cell, beside: Sidecars) -> tuple[ToolDeclaration, ...]:
    return select_tools(beside.tools, _TOOLS[cell.protocol])


def require_tools(cells: Iterable[Cell], beside: Sidecars) -> None:
    """Refuse loops without any tool, and without the picture. Raises ProtocolUnavailableError."""
    for cell in cells:
        if cell.protocol in LOOPS and cell.condition == "V0":
            raise ProtocolUnavailableError(f"{SEARCH} and {SEARCH_CROP} show the picture: ask them at V2")
        if cell.protocol in LOOPS and not _select_tools(cell, beside):
            told = " or ".join(_TOOLS[cell.protocol])
            raise ProtocolUnavailableError(f"{cell.protocol} needs a tool for {told}, and the data set declares none")


def write_tools_section(tools: tuple[ToolDeclaration, ...], grammar: CallGrammar) -> str:
    """Return what a model is told of tools and of how to call them."""
    text: str = read_texts("agent")["tools"][grammar].strip()
    return text.replace("{declarations}", "\n".join(tool.line for tool in tools))


def _system_message(text: str) -> str:
    wrapped: str = read_texts("results")["message"].replace("{text}", text)
    return wrapped


def _tool_from(
    tool: ToolDeclaration, sample: VistaHopSample, scene: Scene, options: VistaHopOptions, beside: Sidecars
) -> ZoomTool | FixedTool | SearchTool:
    texts = read_texts("results")
    if tool.kind == "zoom":
        before, after = _system_message(f"{texts['zoomed']}\0").split("\0")
        return ZoomTool(name=tool.name, sizing=options.sizing(crop=True), before=before, after=after)
    if tool.kind == "image search":
        return FixedTool(name=tool.name, parts=tuple(_image_hits(sample, scene, options)))
    source, version = search_source(scene.images[0], options, beside)
    return SearchTool(
        name=tool.name,
        source=source,
        source_version=version,
        top_k=options.top_k,
        found=_system_message(texts["found"]),
        nothing=_system_message(texts["nothing"]),
        unsummed=_system_message(texts["unsummed"]),
    )


def search_source(image: str, options: VistaHopOptions, beside: Sidecars) -> tuple[str, str]:
    """Return where a text search looks, and its version. Raises EvidenceMissingError where there is nowhere to look."""
    if options.source:
        return options.source, options.source_version
    if beside.corpus is None:
        raise EvidenceMissingError(
            "nothing can be searched: the data set has no folder corpus/ with pages, and the job names no `source`"
        )
    if is_remote_name(image):
        raise EvidenceMissingError(
            f"the corpus beside the records is not found by an image elsewhere, '{image}': the job must name a `source`"
        )
    dataset = image.partition("/")[0]
    return f"{dataset}/{beside.corpus.folder}", beside.corpus.digest


def _image_hits(sample: VistaHopSample, scene: Scene, options: VistaHopOptions) -> Iterator[MessagePart]:
    """Yield the result of the image search: titles, each with its picture, in one message."""
    texts = read_texts("results")
    shown = [(hit.title, hit.thumbnail) for hit in sample.hits if hit.thumbnail is not None]
    if not shown:
        yield _system_message(texts["no_hits"])
        return
    before, after = _system_message(f"{texts['hits']}\0").split("\0")
    text = before
    for number, (title, thumbnail) in enumerate(shown, start=1):
        yield text + texts["hit"].replace("{number}", str(number)).replace("{title}", title)
        yield View(image=scene.images[thumbnail], sizing=options.sizing())
        text = ""
    yield after
