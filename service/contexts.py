"""Refuses what no engine could answer: a request whose pictures and text leave no room for its answer."""

from collections.abc import Callable, Mapping

from catalogue.entry import CatalogueEntry
from jobs.models import InferenceRequest
from service.errors import Finding
from tiling.errors import TilingError
from tiling.geometry import Size
from tiling.recipes import plan_view
from tiling.views import View


class Contexts:
    """Counts the visual tokens of requests against their models' contexts.

    The count is a lower bound, exact for pictures, so that nothing is refused wrongly. It is taken where a chat is
    longest, at its last turn: visual tokens of all views, one token for each word of all texts (tokenizers split words
    and hardly ever join them), one for each earlier answer of the model's own, and `max_tokens` of that turn. Earlier
    answers may have had as many tokens, but need not: a chat that really outgrows its context fails at that turn, and
    keeps the answers before it.
    """

    def __init__(self, catalogue: Mapping[str, CatalogueEntry], size_of: Callable[[str], Size]) -> None:
        self._catalogue = catalogue
        self._size_of = size_of
        self._tokens: dict[tuple[str, View, int], int] = {}

    def check(self, request: InferenceRequest) -> Finding | None:
        """Say what is wrong: a picture that the family refuses, or more tokens than the context has."""
        try:
            visual = sum(self._visual_tokens(request.model, view, len(request.views)) for view in request.views)
        except TilingError as error:
            return _finding(request, str(error))
        context, answer = self._catalogue[request.model].max_model_len, request.sampling.max_tokens
        text = _least_text_tokens(request)
        if visual + text + answer <= context:
            return None
        return _finding(
            request,
            f"{visual} visual tokens of {len(request.views)} pictures, {text} tokens of text at least, and max_tokens "
            f"{answer} exceed the context of {context} tokens",
        )

    def _visual_tokens(self, model: str, view: View, num_images: int) -> int:
        budget = self._catalogue[model].visual_budget
        key = (model, view, num_images if budget.counts_images else 1)
        if key not in self._tokens:
            self._tokens[key] = plan_view(self._size_of(view.image), view, budget, num_images).plan.visual_tokens
        return self._tokens[key]


def _least_text_tokens(request: InferenceRequest) -> int:
    *earlier, last = request.turns
    texts = [request.system or "", last.text]
    for turn in earlier:
        texts += [turn.text, turn.given or "answer"]
    return sum(len(text.split()) for text in texts)


def _finding(request: InferenceRequest, detail: str) -> Finding:
    return Finding(
        detail=f"{request.model}, {request.protocol}-{request.condition}: {detail}", sample=request.sample_id
    )
