"""What recipes reject, counted by recipe and reason, with a few examples of each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from gigavqa.construction.candidates import Candidate, Rejection

_EXAMPLES = 5


class RejectionCounts:
    """Counts of candidates and rejections of a build; a build holds millions of rejections, and keeps few."""

    def __init__(self) -> None:
        self._found: Counter[str] = Counter()
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._examples: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def leaving_out(self, proposed: Iterable[Candidate | Rejection]) -> Iterator[Candidate]:
        """Yield the candidates, and count what is rejected."""
        for each in proposed:
            if isinstance(each, Candidate):
                self._found[each.recipe] += 1
                yield each
                continue
            self._counts[each.recipe][each.reason] += 1
            examples = self._examples[each.recipe][each.reason]
            if len(examples) < _EXAMPLES:
                examples.append(f"{each.image}: {each.about}")

    def document(self) -> dict[str, Any]:
        """Return it as JSON: per recipe how many candidates there are, and how many rejections of each reason."""
        recipes = sorted({*self._found, *self._counts})
        return {
            recipe: {
                "candidates": self._found[recipe],
                "rejected": dict(self._counts[recipe]),
                "examples": self._examples[recipe],
            }
            for recipe in recipes
        }
