"""Answers calls: with a cut-out of a picture that the chat was shown, a known result, or what a search finds."""

from collections.abc import Mapping
from dataclasses import dataclass

from gigavqa.contract.tool_loops import FixedTool, MessagePart, SearchTool, ToolErrors, ZoomTool
from gigavqa.tiling.budgets.base import VisualBudget
from gigavqa.tiling.errors import BudgetError, RegionError
from gigavqa.tiling.geometry import Size, region_of_box
from gigavqa.tiling.views import View, plan_view
from gigavqa.workers.tools.calls import Call, fill_template, with_bad_box
from gigavqa.workers.tools.searches import SearchExecutor


@dataclass(frozen=True)
class ToolResult:
    """The result of a call: the parts of the message that answers it, and what is behind them."""

    parts: tuple[MessagePart, ...]
    documents: tuple[str, ...] = ()
    source: str = ""
    cached: bool = False


@dataclass(frozen=True)
class ToolContext:
    """The context of a chat's calls: its job, its views, and the level-0 sizes of their images."""

    job_id: str
    views: tuple[View, ...]
    sizes: Mapping[str, Size]


class Toolbox:
    """The tools of one model's chats; `budget` is the model's."""

    def __init__(self, budget: VisualBudget, searching: SearchExecutor) -> None:
        self.budget = budget
        self._searching = searching

    def check(self, call: Call, scene: ToolContext, errors: ToolErrors) -> Call:
        """Return the call, with an error where its box shows nothing that the model could see."""
        if isinstance(call.tool, ZoomTool) and call.status == "ok":
            try:
                view = _zoom_view(call, call.tool, scene)
                plan_view(scene.sizes[view.image], view, self.budget)
            except (RegionError, BudgetError):
                return with_bad_box(call, errors)
        return call

    async def answer(self, call: Call, scene: ToolContext) -> ToolResult:
        """Carry out a call that was checked. Raises RetrievalError."""
        if call.status != "ok":
            return ToolResult((call.error,))
        match call.tool:
            case ZoomTool(before=before, after=after):
                return ToolResult((before, _zoom_view(call, call.tool, scene), after))
            case FixedTool(parts=parts):
                return ToolResult(parts)
            case SearchTool():
                return await self._search(call, call.tool, scene.job_id)
        raise AssertionError("a call without an error has a tool")

    async def _search(self, call: Call, tool: SearchTool, job_id: str) -> ToolResult:
        found, cached, source = await self._searching.search(job_id, tool, call.query)
        template = tool.found if found.text else tool.unsummed if found.documents else tool.nothing
        text = fill_template(template, query=call.query, result=found.text)
        return ToolResult((text,), found.documents, source, cached)


def _zoom_view(call: Call, tool: ZoomTool, scene: ToolContext) -> View:
    seen = scene.views[tool.image]
    region = region_of_box(call.box or (), scene.sizes[seen.image], tool.unit)
    return View(image=seen.image, region=str(region), sizing=tool.sizing, show=seen.show, pin=seen.pin)
