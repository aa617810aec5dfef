"""Three agents whose every word is scripted, over the drawn data set: what they do is known, so their numbers are.

No model takes part: the engine's info says that it is scripted. For tests alone.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gigavqa.benchmarks.vistahop.asking import DIRECT, SEARCH, SEARCH_CROP
from gigavqa.benchmarks.vistahop.samples import Anchor, Component, VistaHopSample
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, OnTokens, TurnResponse, Usage
from gigavqa.demo.vistahop.relations import RELATIONS
from gigavqa.workers.engines.engine import ContextExceededError, Message
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.workers.examples import ENTRY

WRONG = "Nobody knows"
_PICTURE = 256
"""Tokens of a picture, reckoned."""
FOREVER = 20
"""Turns of a chat that does not end by itself."""


class Asked(NamedTuple):
    """What a chat is: a question and its number in the data set, how it is asked, and which repeat it is."""

    sample: VistaHopSample
    number: int
    protocol: str
    repeat: int


Script = Callable[[Asked], Sequence[str]]
"""All turns that an agent would write in a chat; of more the last one."""


def call(name: str, **arguments: Any) -> str:
    """A turn that calls a tool."""
    return f"<thinking>Hm.</thinking><tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def answer(text: str) -> str:
    """A turn that answers."""
    return f"<thinking>Now.</thinking><answer>{text}</answer>"


LOOK_AROUND = call("image_search_tool")


def zoom(anchor: Anchor) -> str:
    """A closer look at an anchor and at as much above and below it."""
    assert anchor.box
    x1, y1, x2, y2 = (1000 * side for side in anchor.box)
    box = [round(edge, 3) for edge in (x1, y1 - (y2 - y1), x2, y2 + (y2 - y1))]
    return call("image_zoom_in_tool", bbox_2d=box, label=anchor.label, img_idx=0)


def find(hop: Any) -> str:
    """A search for one hop."""
    return call("text_search_tool", query=RELATIONS[hop.relation].query.format(a=hop.start))


def parts_of(sample: VistaHopSample) -> Sequence[VistaHopSample | Component]:
    """The chains of a question."""
    return sample.components or (sample,)


def truth_of(sample: VistaHopSample) -> str:
    """What is right to say; of a question that awaits an expert, anything."""
    return sample.answers[0] if sample.answers else WRONG


def walker(asked: Asked) -> Sequence[str]:
    """Looks at each sign, searches each hop, and answers rightly at a rate of each level.

    With zooms: L1 in all repeats, L2 in three of five; L3 in one, where it knows the way and searches but the last hop
    of each chain, and in three that walk the whole way, for which ten rounds are too few. Without zooms: L1 in all, L2
    in one. Without tools: L1 in two.
    """
    sample, repeat = asked.sample, asked.repeat
    rights = {
        DIRECT: {"L1": (0, 1)},
        SEARCH: {"L1": range(5), "L2": (0,)},
        SEARCH_CROP: {"L1": range(5), "L2": (0, 1, 2), "L3": (0, 2, 3, 4)},
    }
    said = answer(truth_of(sample) if repeat in rights[asked.protocol].get(sample.level, ()) else WRONG)
    if asked.protocol == DIRECT:
        return [said]
    knows_the_way = sample.level == "L3" and repeat < 2
    looks = [zoom(one.anchors[0]) if asked.protocol == SEARCH_CROP else LOOK_AROUND for one in parts_of(sample)]
    hops = [hop for one in parts_of(sample) for hop in (one.chain[-1:] if knows_the_way else one.chain)]
    return [*looks, *map(find, hops), said]


def blind(asked: Asked) -> Sequence[str]:
    """Never zooms: what it searches for is no sign, and it is right where letters are large from the first, in L1."""
    said = answer(truth_of(asked.sample) if asked.sample.level == "L1" else WRONG)
    return [LOOK_AROUND, call("text_search_tool", query=asked.sample.all_anchors[0].label), said]


ERRORS = (
    "<tool_call>[1]</tool_call>",
    call("fly"),
    call("text_search_tool"),
    call("image_zoom_in_tool", label="mark"),
    call("image_zoom_in_tool", bbox_2d=[500, 500, 100, 100]),
    "<tool_call>{broken</tool_call>",
)
"""A wrong form, an unknown tool, no query, no box, a box that is none; and what is no call, and so the answer."""


def erring(asked: Asked) -> Sequence[str]:
    """Errs in every way: by calls, by searching for ever, by talking until the context is full.

    The first question it answers rightly behind a box that is none.
    """
    if asked.number == 0:
        return [ERRORS[4], answer(truth_of(asked.sample))]
    endless = [find(asked.sample.all_hops[0])] * FOREVER
    return {1: endless, 3: [f"{'hm ' * 12000}{LOOK_AROUND}"]}.get(asked.number % 4, ERRORS)


class ScriptedEngine(SimulatedEngine):
    """An engine in name, whose texts are a script's."""

    def __init__(self, entry: CatalogueEntry, samples: Sequence[VistaHopSample], script: Script) -> None:
        super().__init__(entry, speed=0)
        self._samples: Mapping[str, tuple[int, VistaHopSample]] = {one.id: (at, one) for at, one in enumerate(samples)}
        self._says = script

    @property
    def info(self) -> EngineInfo:
        """What it is: scripted, in so many words."""
        return EngineInfo(name="scripted", version="1", device="none: every word is scripted", simulated=True)

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Say what the script says, at once; more than the context holds is refused as any engine does."""
        name, cell, _, repeat = request_id.split("/")[1].split(":")
        number, sample = self._samples[name]
        turns = self._says(Asked(sample, number, cell.partition("-")[0], int(repeat)))
        said = turns[min(sum(message.role == "assistant" for message in chat), len(turns) - 1)]
        parts = [part for message in chat for part in message.parts]
        tokens = sum(len(part) // 4 if isinstance(part, str) else _PICTURE for part in parts)
        if tokens >= ENTRY.max_model_len:
            raise ContextExceededError("the prompt is longer than the context", excess=tokens)
        usage = Usage(prompt_tokens=tokens, completion_tokens=len(said) // 4)
        return TurnResponse(text=said, finish_reason="stop", usage=usage)
