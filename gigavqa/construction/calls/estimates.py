"""What calls will take, before any is asked: tokens, hours and money, and what each may cost at most."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.construction.calls.call_log import Spending
from gigavqa.construction.calls.model_call import CallPicture, ModelCall
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.views import View, plan_view

EntryOf = Callable[[str], CatalogueEntry]
"""Returns the catalogue's entry of a model."""

_BYTES_OF_TOKEN = 4
"""English text has about so many bytes a token; no tokenizer of a model elsewhere is at hand."""
_TOKENS_OF_MESSAGE = 32
"""What a chat template writes around a message, generously."""


class CallSize(NamedTuple):
    """Tokens of one call: about as many of text, at most as many, of pictures, and of its answer at most."""

    text: int
    text_at_most: int
    visual: int
    completion_at_most: int

    def dollars_at_most(self, entry: CatalogueEntry) -> float:
        """Return what it may cost: no text has more tokens than bytes. 0 where the entry states no prices."""
        prices = entry.remote.prices
        return prices.of(self.text_at_most + self.visual, 0, self.completion_at_most) if prices else 0.0


@dataclass
class Workload:
    """The work of some calls. `completion_tokens` are as many as answers had so far on average, else at most.

    `hours` and `dollars` are None where nothing was measured, or no prices are stated.
    """

    calls: int = 0
    text_tokens: int = 0
    visual_tokens: int = 0
    completion_tokens: int = 0
    hours: float | None = None
    dollars: float | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class StageForecast:
    """The calls of a stage to one model: all of them, and those that are not answered yet.

    `after` names the stage whose answers say what is asked; its calls are then unknown, and both are None.
    """

    stage: str
    model: str
    whole: Workload | None
    left: Workload | None
    after: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def size_of(call: ModelCall, entry: CatalogueEntry) -> CallSize:
    """Count the tokens of a call. Raises TilingError for a picture that cannot be read, or that no model is shown."""
    texts = [call.system, call.text, *(part for reply in call.faulty for part in reply)]
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts if text]
    around = _TOKENS_OF_MESSAGE * (len(sizes) + len(call.pictures))
    return CallSize(
        text=sum(-(-size // _BYTES_OF_TOKEN) for size in sizes) + around,
        text_at_most=sum(sizes) + around,
        visual=sum(_visual_tokens(picture, entry, len(call.pictures)) for picture in call.pictures),
        completion_at_most=call.sampling.max_tokens,
    )


def forecast(
    calls: Iterable[ModelCall],
    entry_of: EntryOf,
    *,
    is_answered: Callable[[ModelCall], bool],
    spent: Mapping[str, Spending],
) -> list[StageForecast]:
    """Return what calls will take, by stage and model in the order in which they come; `spent` is what was measured.

    Asks nothing. Raises TilingError.
    """
    sums: dict[tuple[str, str], tuple[Workload, Workload]] = {}
    seen: set[str] = set()
    for call in calls:
        if call.id in seen:
            continue
        seen.add(call.id)
        whole, left = sums.setdefault((call.stage, call.model), (Workload(), Workload()))
        size = size_of(call, entry_of(call.model))
        written = _mean_completion(spent.get(call.model), size)
        for load in (whole,) if is_answered(call) else (whole, left):
            load.calls += 1
            load.text_tokens += size.text
            load.visual_tokens += size.visual
            load.completion_tokens += written
    for (_, model), both in sums.items():
        for load in both:
            _price(load, entry_of(model), spent.get(model))
    return [StageForecast(stage, model, *both) for (stage, model), both in sums.items()]


def _price(load: Workload, entry: CatalogueEntry, spent: Spending | None) -> None:
    if prices := entry.remote.prices:
        load.dollars = prices.of(load.text_tokens + load.visual_tokens, 0, load.completion_tokens)
    if spent and spent.timed_seconds and spent.timed_calls:
        load.hours = load.calls * spent.timed_seconds / spent.timed_calls / 3600


def _mean_completion(spent: Spending | None, size: CallSize) -> int:
    if not spent or not spent.answered:
        return size.completion_at_most
    return min(size.completion_at_most, -(-spent.completion_tokens // spent.answered))


def _visual_tokens(picture: CallPicture, entry: CatalogueEntry, number: int) -> int:
    view = View(image=picture.path.name, region=picture.region, sizing=picture.sizing)
    size = _picture_size(picture.path, picture.content, picture.show)
    return plan_view(size, view, entry.visual_budget, number).plan.visual_tokens


@lru_cache(maxsize=4096)
def _picture_size(path: Path, content: str, show: str) -> Size:
    """Read a picture's size; one of another content is another."""
    return read_header(path, show).size
