"""Refuses what no engine could answer: a request whose pictures and text leave no room for its answer."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gigavqa.catalogue.entry import MAX_PROMPT_IMAGES, MIN_ANSWER_TOKENS, CatalogueEntry
from gigavqa.contract.requests import InferenceRequest
from gigavqa.service.errors import ProblemFinding
from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View, plan_view

_MOST_KEPT = 10_000  # counts of views; alike ones are neighbours


@dataclass(frozen=True)
class _PromptLength:
    """The length of a request's prompt at its last turn, in tokens."""

    request: InferenceRequest
    visual: int
    text: int

    @property
    def prompt(self) -> int:
        return self.visual + self.text

    @property
    def total(self) -> int:
        """With the least answer that it must leave room for."""
        return self.prompt + min(self.request.sampling.max_tokens, MIN_ANSWER_TOKENS)


class ContextCheck:
    """Counts the visual tokens of requests against their models' contexts.

    The count is a lower bound, exact for pictures, so that nothing is refused wrongly. It is taken where a chat is
    longest, at its last turn: visual tokens of all views, one token for each word of all texts (tokenizers split words
    and hardly ever join them), one for each earlier answer of the model's own, and LEAST_ANSWER of that turn, or its
    `max_tokens` where they are fewer: engines bound an answer by what the prompt leaves of the context, and `remarks`
    tell where that is less than `max_tokens`. Earlier answers may have had many tokens, but need not: a chat that
    really outgrows its context fails at that turn, and keeps the answers before it. One cause makes one finding,
    however many requests it concerns. Each request that is looked at stands for `repeats` of its kind.
    """

    def __init__(
        self, catalogue: Mapping[str, CatalogueEntry], size_of: Callable[[str], Size], repeats: int = 1
    ) -> None:
        self._catalogue = catalogue
        self._size_of = size_of
        self._repeats = repeats
        self._tokens: dict[tuple[str, View, int], int] = {}
        self._refused: dict[str, ProblemFinding] = {}
        self._longest: dict[str, _PromptLength] = {}
        self._tightest: dict[str, _PromptLength] = {}
        self._bound: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()

    def admits(self, request: InferenceRequest) -> bool:
        """Return whether the request can be answered; `findings` say why others cannot."""
        if len(request.views) > MAX_PROMPT_IMAGES:
            self._refuse(request, _describe_image_count(request))
            return False
        if request.views and not self._catalogue[request.model].takes_pictures:
            shown = f"{request.condition} shows pictures; ask it under V0, or ask a model with a visual budget"
            self._refuse(request, f"{request.model} takes texts alone, and {shown}")
            return False
        try:
            visual = sum(self._visual_tokens(request.model, view, len(request.views)) for view in request.views)
        except TilingError as error:
            self._refuse(request, f"{request.model}: {error}")
            return False
        length = _PromptLength(request, visual, _least_text_tokens(request))
        context = self._catalogue[request.model].max_model_len
        if length.total <= context:
            if length.prompt + request.sampling.max_tokens > context:
                self._bound[request.model] += self._repeats
                _update_longest(self._tightest, length)
            return True
        _update_longest(self._longest, length)
        self._wrong[request.model] += self._repeats
        return False

    def _refuse(self, request: InferenceRequest, detail: str) -> None:
        self._refused.setdefault(detail, ProblemFinding(detail=detail, sample=request.sample_id))
        self._wrong[detail] += self._repeats

    def findings(self) -> Iterator[ProblemFinding]:
        """Yield what is wrong, each cause once.

        Too many pictures, those that a family refuses, and too small contexts.
        """
        for detail, finding in self._refused.items():
            yield finding.model_copy(update={"requests": self._wrong[detail]})
        for model, length in self._longest.items():
            yield self._too_long(length, self._wrong[model])

    def remarks(self) -> Iterator[str]:
        """Say for each model how many of the admitted requests leave an answer less than `max_tokens`."""
        for model, number in self._bound.items():
            length = self._tightest[model]
            asked = length.request.sampling.max_tokens
            room = self._catalogue[model].max_model_len - length.prompt
            yield (
                f"{model}: {number} prompts leave less of the context than max_tokens {asked}, and bound their answers "
                f"by it: the longest, of '{length.request.sample_id}', by {room} tokens at most"
            )

    def _too_long(self, length: _PromptLength, requests: int) -> ProblemFinding:
        request, context = length.request, self._catalogue[length.request.model].max_model_len
        room = context - length.prompt
        others = f"; it is the longest of {requests} requests that do" if requests > 1 else ""
        remedy = f"max_tokens {room} or less fits" if room > 0 else _describe_no_room(request)
        answer = min(request.sampling.max_tokens, MIN_ANSWER_TOKENS)
        detail = (
            f"{request.model}, {request.protocol}-{request.condition}: {length.visual} visual tokens of "
            f"{len(request.views)} pictures, {length.text} tokens of text at least, and {answer} of the answer "
            f"exceed the context of {context} tokens{others}; {remedy}"
        )
        return ProblemFinding(detail=detail, sample=request.sample_id, requests=requests)

    def _visual_tokens(self, model: str, view: View, num_images: int) -> int:
        budget = self._catalogue[model].visual_budget
        key = (model, view, num_images if budget.counts_images else 1)
        if key not in self._tokens:
            if len(self._tokens) >= _MOST_KEPT:
                self._tokens.clear()
            self._tokens[key] = plan_view(self._size_of(view.image), view, budget, num_images).plan.visual_tokens
        return self._tokens[key]


def _update_longest(kept: dict[str, _PromptLength], length: _PromptLength) -> None:
    model = length.request.model
    if model not in kept or length.prompt > kept[model].prompt:
        kept[model] = length


def _describe_image_count(request: InferenceRequest) -> str:
    """Say what is shown, by its first picture: all samples about one document have the same cause."""
    return (
        f"{request.condition} shows {len(request.views)} pictures, from '{request.views[0].image}' on; a prompt takes "
        f"{MAX_PROMPT_IMAGES} at most"
    )


def _describe_no_room(request: InferenceRequest) -> str:
    """Say so, and the way out of pictures that are shown natively."""
    smaller = "; ask V1, which shows them smaller" if request.condition in ("V2", "V4") else ""
    return f"there is no room for an answer of any length{smaller}"


def _least_text_tokens(request: InferenceRequest) -> int:
    *earlier, last = request.turns
    texts = [request.system or "", last.text]
    for turn in earlier:
        texts += [turn.text, turn.given or "answer"]
    return sum(len(text.split()) for text in texts)
