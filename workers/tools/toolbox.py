"""Answers calls: with a cut-out of a picture that the chat was shown, a known result, or what a search finds."""

from collections.abc import Mapping
from dataclasses import dataclass

from jobs.loops import Given, Part, Search, ToolErrors, Zoom
from tiling.budgets.base import VisualBudget
from tiling.errors import BudgetError, RegionError
from tiling.geometry import Size, region_of_box
from tiling.views import View, plan_view
from workers.tools.calls import Call, fill, with_bad_box
from workers.tools.searching import Searching


@dataclass(frozen=True)
class Result:
    """What a call came to: the parts of the message that answers it, and what is behind them."""

    parts: tuple[Part, ...]
    documents: tuple[str, ...] = ()
    source: str = ""
    cached: bool = False


@dataclass(frozen=True)
class Scene:
    """What a chat's calls are about: its job, its views, and the level-0 sizes of their images."""

    job_id: str
    views: tuple[View, ...]
    sizes: Mapping[str, Size]


class Toolbox:
    """The tools of one model's chats; `budget` is the model's."""

    def __init__(self, budget: VisualBudget, searching: Searching) -> None:
        self.budget = budget
        self._searching = searching

    def check(self, call: Call, scene: Scene, errors: ToolErrors) -> Call:
        """The call, with an error where its box shows nothing that the model could see."""
        if isinstance(call.tool, Zoom) and call.status == "ok":
            try:
                view = _zoomed(call, call.tool, scene)
                plan_view(scene.sizes[view.image], view, self.budget)
            except (RegionError, BudgetError):
                return with_bad_box(call, errors)
        return call

    async def answer(self, call: Call, scene: Scene) -> Result:
        """Carry out a call that was checked. Raises RetrievalError."""
        if call.status != "ok":
            return Result((call.error,))
        match call.tool:
            case Zoom(before=before, after=after):
                return Result((before, _zoomed(call, call.tool, scene), after))
            case Given(parts=parts):
                return Result(parts)
            case Search():
                return await self._search(call, call.tool, scene.job_id)
        raise AssertionError("a call without an error has a tool")

    async def _search(self, call: Call, tool: Search, job_id: str) -> Result:
        found, cached, source = await self._searching.search(job_id, tool, call.query)
        template = tool.found if found.text else tool.unsummed if found.documents else tool.nothing
        text = fill(template, query=call.query, result=found.text)
        return Result((text,), found.documents, source, cached)


def _zoomed(call: Call, tool: Zoom, scene: Scene) -> View:
    image = scene.views[tool.image].image
    region = region_of_box(call.box or (), scene.sizes[image], tool.unit)
    return View(image=image, region=str(region), sizing=tool.sizing)
