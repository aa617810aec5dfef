"""The least that any engine has to do for given requests: a trie over the tokens of their prompts.

    ideal(requests, tokens_of, answers=None, block_tokens=1) -> Ideal

`tokens_of(part, num_images)` tells the tokens of a text, a role's mark or a view as runs: (what, how many). A text has
a run of one token for each of its tokens; a view is one run, named by the key of its raster, for a picture's tokens are
shared all or not at all. `EntryTokens` reckons them for an entry of the catalogue, from the images' headers alone.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.models import InferenceRequest
from gigavqa.tiling.recipes import identify, plan_raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.engines.simulation.prompts import ROLES, split_tokens

Run = tuple[Hashable, int]
"""What, and how many tokens of it. A run is shared by prompts that begin alike up to it and have it whole."""

TokensOf = Callable[[str | View, int], Iterable[Run]]
"""Runs of a part of a prompt which shows so many pictures in all."""


@dataclass(frozen=True)
class IdealWork:
    """Work of requests: what is sent, and what is left of it when nothing is done twice."""

    requests: int
    prompts: int
    """One for each turn."""
    sent_tokens: int
    prefilled_tokens: int
    """Tokens that no earlier prompt has in the same place after the same beginning; one at least for each prompt."""
    prefilled_in_blocks: int
    """The same where only whole blocks of so many tokens are found again."""
    shown: int
    """Pictures in prompts."""
    rasters: int
    """Different ones: as many renders, and as many runs of the vision encoder."""
    encoded_tokens: int
    """Their visual tokens."""


class Trie:
    """Prompts by their beginnings."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, Hashable], int] = {}

    def add(self, runs: Iterable[Run]) -> int:
        """Add a prompt; returns how many of its tokens no prompt before had."""
        node = new = 0
        for what, tokens in runs:
            child = self._nodes.get((node, what))
            if child is None:
                child = self._nodes[node, what] = len(self._nodes) + 1
                new += tokens
            node = child
        return new


def ideal(
    requests: Iterable[InferenceRequest],
    tokens_of: TokensOf,
    answers: Mapping[str, Sequence[str]] | None = None,
    block_tokens: int = 1,
) -> IdealWork:
    """Reckon the ideal of these requests, in whatever order they are asked.

    `answers` has what the model answered to each turn of a request, by its id; without them, answers are a few tokens
    that differ from request to request. What a model said in earlier turns counts as to be prefilled, once.
    `block_tokens` are those of an engine's blocks.
    """
    trie, rasters = Trie(), dict[Hashable, int]()
    asked = prompts = sent = prefilled = in_blocks = shown = 0
    for request in requests:
        asked += 1
        for parts in _prompts(request, (answers or {}).get(request.id)):
            views = sum(isinstance(part, View) for part in parts)
            runs: list[Run] = []
            for part in parts:
                found = list(tokens_of(part, views))
                runs += found
                if isinstance(part, View):
                    rasters.update(found)
            prompts, shown = prompts + 1, shown + views
            tokens = sum(tokens for _, tokens in runs)
            sent += tokens
            found_again = min(tokens - trie.add(runs), tokens - 1)
            prefilled += tokens - found_again
            in_blocks += tokens - found_again // block_tokens * block_tokens
    return IdealWork(asked, prompts, sent, prefilled, in_blocks, shown, len(rasters), sum(rasters.values()))


def _prompts(request: InferenceRequest, answers: Sequence[str] | None) -> Iterator[list[str | View]]:
    """Yield the prompt of each turn: all that was asked and answered before it."""
    history: list[str | View] = [] if request.system is None else [ROLES["system"], request.system]
    for number, turn in enumerate(request.turns):
        history += [ROLES["user"], *turn.parts, ROLES["assistant"]]
        yield list(history)
        own = answers[number] if answers else f"The answer of {request.id} to {number}."
        history.append(own if turn.given is None else turn.given)


class EntryTokens:
    """Tokens as the simulated engine counts them: of views by the entry's visual budget, of text by its letters."""

    def __init__(self, entry: CatalogueEntry, root: ImageRoot) -> None:
        self._root = root
        self._budget = entry.visual_budget
        self._look = lru_cache(maxsize=None)(self._of_view)

    def __call__(self, part: str | View, num_images: int) -> Iterable[Run]:
        if isinstance(part, str):
            return [(token, 1) for token in split_tokens(part)]
        return [self._look(part, num_images if self._budget.counts_images else 1)]

    def _of_view(self, view: View, num_images: int) -> Run:
        recipe = plan_raster(identify(self._root.locate(view.image)), view, self._budget, num_images)
        return recipe.key, recipe.plan.visual_tokens
