"""Chats that may ask for more, and an engine that writes what a test wants."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gigavqa.contract.requests import InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import OnTokens, TurnResponse
from gigavqa.contract.tool_loops import FixedTool, SearchTool, ToolErrors, ToolLoop, ZoomTool
from gigavqa.retrieval.corpora import Corpora
from gigavqa.retrieval.sources import SearchHit
from gigavqa.tiling.views import View
from gigavqa.workers.chat import ChatPlayer, Generate
from gigavqa.workers.engines.engine import Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from gigavqa.workers.preparation import RasterPreparation, RequestRasters
from gigavqa.workers.script import FixedTurns
from gigavqa.workers.tool_loop import ToolLoopPlayer
from gigavqa.workers.tools.searches import SearchExecutor, SearchSources
from gigavqa.workers.tools.toolbox import Toolbox
from tests.workers.examples import ENTRY, image, make_request

SHOWN = View(image=image(0), sizing="longest:200")
THUMB = View(image=image(1), sizing="longest:64")
CLOSER = ZoomTool(name="closer", sizing="fit:32:4096:65536:28", before="<r>\nCloser:", after="\n</r>")
LOOK_UP = SearchTool(
    name="look_up",
    source="pages/corpus",
    found="<r>\n{query}: {result}\n</r>",
    nothing="<r>\nno {query}\n</r>",
    unsummed="<r>\n{query} is not summed up\n</r>",
)
ALIKE = FixedTool(name="alike", parts=("<r>\nTitle 1: Quay 4\n", THUMB, "\n</r>"))
ERRORS = ToolErrors(arguments="not so", unknown="no {name}", box="no box", query="no query")
LOOP = ToolLoop(tools=(CLOSER, LOOK_UP, ALIKE), errors=ERRORS, max_rounds=10)

PAGES = [
    {"id": "d-1", "title": "Norrland Works", "text": "Norrland Works makes cranes. It was founded in 1911 by Ansel."},
    {"id": "d-2", "title": "Ansel", "text": "Ansel Hoist was born in 1870 in Quay."},
]


def call(name: str, **arguments: Any) -> str:
    """An answer that calls a tool."""
    said = json.dumps({"name": name, "arguments": arguments})
    return f"<thinking>Hm.</thinking>\n<tool_call>\n{said}\n</tool_call>"


def zoom(*box: float) -> str:
    """An answer that asks for a closer look."""
    return call("closer", bbox_2d=box, label="mark", img_idx=0)


def looping(name: str, loop: ToolLoop = LOOP, **changes: Any) -> InferenceRequest:
    """A request with a loop about the first image."""
    turns = (Turn(parts=(SHOWN, f"Whose crane is it, {name}?")),)
    return make_request(
        name, None, **{"condition": "V2", "system": "Be brief.", "turns": turns, "loop": loop, **changes}
    )


def write_pages(root: Path) -> Path:
    """A corpus below a data root, where `LOOK_UP` looks."""
    folder = root / "pages" / "corpus"
    folder.mkdir(parents=True)
    (folder / "pages.jsonl").write_text("\n".join(map(json.dumps, PAGES)))
    return root


class CountingSource:
    """The corpus of `write_pages`, which counts what it was asked, and may be told to wait or to fail."""

    def __init__(self, root: Path, indexes: Path) -> None:
        self._source = Corpora(root, indexes).open("pages/corpus")
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.says_nothing = False
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    @property
    def version(self) -> str:
        """That of the corpus."""
        return self._source.version

    @property
    def summarizer(self) -> str:
        """That of the corpus."""
        return self._source.summarizer

    async def search(self, query: str, top_k: int) -> tuple[SearchHit, ...]:
        """Count, wait and answer."""
        self.asked.append(query)
        await self.may_answer.wait()
        if self.error:
            raise self.error
        return await self._source.search(query, top_k)

    async def write(self, query: str, pages: Sequence[SearchHit]) -> str:
        """As the corpus does, or nothing."""
        return "" if self.says_nothing else await self._source.write(query, pages)

    @property
    def sources(self) -> SearchSources:
        """Where chats find it, by the name that `LOOK_UP` has."""
        return SearchSources(named={LOOK_UP.source: self})


Writes = Callable[[Sequence[Message]], str]
"""What the engine writes in answer to a chat."""


def in_order(*texts: str) -> Writes:
    """Writes one text a round, and then the last one again."""
    return lambda chat: texts[min(sum(message.role == "assistant" for message in chat), len(texts) - 1)]


def rounds_of(
    request: InferenceRequest, prepared: RequestRasters, preparation: RasterPreparation, generate: Generate
) -> ToolLoopPlayer:
    """The rounds of a chat that searches nothing, to be played in this process on any engine."""
    assert request.loop is not None
    return ToolLoopPlayer(
        request,
        request.loop,
        ChatPlayer(request, FixedTurns(request.turns), prepared.rasters, generate),
        prepared.rasters,
        job_id="job",
        toolbox=Toolbox(ENTRY.visual_budget, SearchExecutor(SearchSources(), None)),  # type: ignore[arg-type]
        hold=preparation.rasters,
        generate=generate,
    )


def assert_prefilled_once(turns: Sequence[TurnResponse], block: int) -> None:
    """Of all prompts together no more is prefilled than the last one has, and a block a round."""
    prefilled = sum(turn.usage.prompt_tokens - turn.usage.cached_tokens for turn in turns)
    assert prefilled <= turns[-1].usage.prompt_tokens + block * len(turns)


class WritingEngine(SimulatedEngine):
    """The simulated engine with texts of a test's, which keeps the chats that it was asked, and at which priority."""

    def __init__(self, writes: Writes, entry: Any = ENTRY) -> None:
        super().__init__(entry, speed=0)
        self.writes = writes
        self.chats: dict[str, list[list[tuple[str, list[str]]]]] = {}
        self.priorities: dict[str, int] = {}

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Take as long as the simulated engine does, and write."""
        shown = [[part if isinstance(part, str) else part.key for part in message.parts] for message in chat]
        said = list(zip([message.role for message in chat], shown, strict=True))
        answer = await super().generate(chat, sampling, request_id, priority, grow)
        name = request_id.split("/")[1]
        self.chats.setdefault(name, []).append(said)
        self.priorities[request_id.partition("/")[2]] = priority
        return answer.model_copy(update={"text": self.writes(chat)})
