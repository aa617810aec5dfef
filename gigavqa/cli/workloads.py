"""Count what a plan of a data set asks of a model: requests, pictures, tokens, and the work that is left once every
picture is encoded, and every beginning of a prompt prefilled, once.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.shapes import ModelShape
from gigavqa.cli.conditions import size_in
from gigavqa.cli.datasets import load_checked
from gigavqa.cli.errors import ArgumentError
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.budgets.base import RasterPlan
from gigavqa.tiling.errors import BudgetError, TilingError
from gigavqa.tiling.geometry import Size, resolve_region
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.engines.vllm.roofline import Work, encoder_flops

_LETTERS = 4
"""Of text in a token; assumed."""
_QUESTION_TOKENS = 128
"""Of one question, where there is no data set to count; assumed."""
_LONGEST = 65536
_SIDES = range(1, 17)
"""Of shapes of a large picture: most budgets of tiles have more tokens for another one than a square."""


@dataclass
class EvaluationLoad:
    """What is asked of one model; counts of `told` are exact but for texts, whose tokens are letters by four."""

    requests: int = 0
    turns: int = 0
    samples: int = 0
    pictures: set[str] = field(default_factory=set)
    rasters: int = 0
    sent: int = 0
    work: Work = field(default_factory=Work)
    scale: float = 1.0
    cut: int = 0
    """Answers for which the context has less room than was asked for."""
    refused: int = 0
    """Turns whose prompt fills the context, so that there is no answer."""
    is_endless: bool = False
    """Whether it is one of many alike, so that engines are always busy."""
    visual_tokens: int = 0
    """Of the picture of each, where they are many alike."""

    @property
    def context(self) -> float:
        """Tokens of the mean chat while it is answered."""
        return self.work.decode_context / self.work.generated

    def told(self) -> dict[str, int]:
        """Counts for people and scripts, at the number of samples that was asked for."""
        counts = {
            "samples": self.samples,
            "requests": self.requests,
            "turns": self.turns,
            "pictures": len(self.pictures),
            "encoded rasters": self.rasters,
            "prompt tokens": self.sent,
            "prefilled tokens": self.work.prefilled,
            "answer tokens": self.work.generated,
        }
        return {name: self.scaled(count) for name, count in counts.items()}

    def scaled(self, count: int) -> int:
        """A count at the number of samples that was asked for; of what there is, at least one."""
        return max(min(count, 1), round(count * self.scale))


class LoadCounter:
    """Counts requests to one model; answers of each turn are taken to have `answer` tokens, or what `entry` allows."""

    def __init__(self, entry: CatalogueEntry, shape: ModelShape | None, answer: int) -> None:
        self.workload = EvaluationLoad()
        self._shape, self._context = shape, entry.max_model_len
        self._answer = min(answer, entry.decoding.max_tokens)
        self._rasters: set[object] = set()
        self._prefixes: set[object] = set()

    def add(self, request: InferenceRequest, plans: Iterable[tuple[View, RasterPlan]]) -> None:
        """Count one request, whose views are shown as `plans` say."""
        load, context = self.workload, 0
        prefix: tuple[object, ...] = ()
        load.requests += 1
        for view, plan in plans:
            load.pictures.add(view.image)
            key = (view.image, view.region, view.sizing, plan.raster)
            prefix = (*prefix, key)
            if key not in self._rasters:
                self._encode(plan)
            self._rasters.add(key)
            self._prefill(plan.visual_tokens, context, is_new=prefix not in self._prefixes)
            self._prefixes.add(prefix)
            context += plan.visual_tokens
        load.rasters = len(self._rasters)
        for number, turn in enumerate(request.turns):
            letters = len(turn.text) + (len(request.system or "") if number == 0 else 0)
            context, answer = self._ask(-(-letters // _LETTERS), context)
            context += answer if turn.given is None else -(-len(turn.given) // _LETTERS)

    def add_question(self, plan: RasterPlan | None) -> None:
        """Count one question, about a picture that nobody has asked about before where there is a plan of one."""
        load, shown = self.workload, 0
        load.requests += 1
        if plan:
            load.rasters += 1
            load.pictures.add(str(load.rasters))
            load.visual_tokens = shown = plan.visual_tokens
            self._prefill(shown, 0, is_new=True)
            self._encode(plan)
        self._ask(_QUESTION_TOKENS, shown)

    def _ask(self, text: int, context: int) -> tuple[int, int]:
        """Count a turn that adds a text to a chat of so many tokens, and its answer; returns both in tokens."""
        self._prefill(text, context, is_new=True)
        prompt = context + text
        answer = max(0, min(self._answer, self._context - prompt))
        self.workload.refused += answer == 0
        self.workload.cut += 0 < answer < self._answer
        self.workload.turns += 1
        self.workload.sent += prompt
        seen = answer * prompt + answer * answer // 2
        self.workload.work += Work(generated=answer, decode_context=seen)
        return prompt, answer

    def _encode(self, plan: RasterPlan) -> None:
        if self._shape and self._shape.vision:
            self.workload.work += Work(rasters=1, encoder=encoder_flops(self._shape.vision, plan.decision))

    def _prefill(self, tokens: int, context: int, *, is_new: bool) -> None:
        if is_new:
            seen = tokens * context + tokens * tokens // 2
            self.workload.work += Work(prefilled=tokens, prefill_context=seen)


def one_picture(entry: CatalogueEntry, shape: ModelShape, answer: int) -> EvaluationLoad:
    """Return one question about one new picture that takes the most tokens; of models of texts, one question."""
    counter = LoadCounter(entry, shape, answer)
    counter.workload.samples, counter.workload.is_endless = 1, True
    counter.add_question(_largest_picture(entry) if entry.takes_pictures else None)
    return counter.workload


def _largest_picture(entry: CatalogueEntry) -> RasterPlan:
    """Plan the large picture of the shape that takes the most tokens of an entry's budget; of equals, the squarest."""
    return max(_plan_large_pictures(entry), key=lambda plan: plan.visual_tokens)


def _plan_large_pictures(entry: CatalogueEntry) -> Iterator[RasterPlan]:
    """Plan a large picture of each shape that the model's processor takes, lying and standing, the square first."""
    ratios = sorted({longer / shorter for longer in _SIDES for shorter in _SIDES if longer >= shorter})
    for long, short in ((_LONGEST, round(_LONGEST / ratio)) for ratio in ratios):
        for shape in (Size(long, short), Size(short, long)):
            with suppress(BudgetError):
                yield entry.visual_budget.plan(shape)


def count_workload(
    folder: Path, plan: str | None, entry: CatalogueEntry, shape: ModelShape | None, answer: int
) -> EvaluationLoad:
    """Count a plan of the data set in `folder` for one model, by the expansion that a job has.

    Raises ArgumentError, and what an expansion raises.
    """
    folder = folder.absolute()
    dataset, root = load_checked(folder), ImageRoot(folder.parent)
    size = cache(size_in(root))
    counter = LoadCounter(entry, shape, answer)
    counter.workload.samples = len(dataset.samples)
    spec = JobSpec(dataset=folder.name, models=(entry.id,), plan=plan)
    for _, request in expand(dataset, spec, {entry.id: entry}, size):
        views = request.views
        try:
            plans = [(view, _plan(view, len(views), entry, size(view.image))) for view in views]
        except (TilingError, OSError) as error:
            raise ArgumentError(f"{request.request_id}: {error}") from error
        counter.add(request, plans)
    if not counter.workload.requests:
        raise ArgumentError(f"plan {plan} asks nothing of the data set '{folder.name}'; choose another plan")
    return counter.workload


def _plan(view: View, num_views: int, entry: CatalogueEntry, size: Size) -> RasterPlan:
    region = resolve_region(view.region, size)
    return entry.visual_budget.plan(view.downsampled(region.size, size.microns_per_pixel), num_views)
