"""Tell how likely an answer is that the model did not write: by the tokens that it would have had to write.

vLLM 0.32 tells logprobs of a prompt's tokens (`prompt_logprobs`), and reads nothing from the prefix cache then, so that
it has the logits of all. Both are too much: only the answer's rows are wanted, and a picture's tokens are the same for
all answers about it. So the answer's first token is asked for as the next one of the prompt, which leaves the prompt in
the cache; the others as the end of a longer prompt that may read the cache. Its rows that came from there are not
computed, and what vLLM tells in their place is never looked at: what is missing of the answer, because the same answer
was asked before, is asked for token by token. Decision 0008 has the counts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.families.family import THINK_MARKS
from gigavqa.contract.responses import Usage
from gigavqa.workers.engines.engine import AnswerUnweighableError, ContextExceededError
from gigavqa.workers.engines.vllm.detokenization import Decode

_TAIL = 16
"""Tokens of the prompt's end that are looked at where the answer joins it."""
_ANCHOR = "\n"

SendPrompt = Callable[[Callable[[Any], None], Any], Awaitable[Any]]
"""Sends the chat's prompt, once it was changed, with parameters; returns vLLM's last output."""


class AnswerTokens:
    """The tokens of an answer, as a model writes them behind a prompt."""

    def __init__(self, tokenizer: Any, decode: Decode, entry: CatalogueEntry, text: str) -> None:
        self._tokenizer = tokenizer
        self._decode = decode
        self._entry = entry
        self._text = text
        if not text:
            raise AnswerUnweighableError("answer: is empty; the likelihood of nothing is no number")
        self._require_plain_text()

    def behind(self, prompt: Sequence[int]) -> list[int]:
        """Return those that read, behind the prompt's own, as the answer's text and nothing else.

        A tokenizer that takes what it is given for the beginning of a text may put a blank before it; then the answer
        is cut as it stands behind a line break. Raises AnswerUnweighableError where neither reads as the text.
        """
        tail = list(prompt[-_TAIL:])
        before = self._decode(tail)
        self._require_no_thought(self._decode(prompt))
        for tokens in self._cuts():
            if tokens and self._decode([*tail, *tokens]) == before + self._text:
                return tokens
        raise AnswerUnweighableError(
            f"answer: no tokens of '{self._entry.id}' read as this text behind its chat template, which ends with "
            f"{before[-20:]!r}; leave out characters that its tokenizer does not know"
        )

    def _cuts(self) -> Sequence[list[int]]:
        anchor, anchored = self._encode(_ANCHOR), self._encode(_ANCHOR + self._text)
        behind_anchor = anchored[len(anchor) :] if anchored[: len(anchor)] == anchor else []
        return self._encode(self._text), behind_anchor

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _require_plain_text(self) -> None:
        """Refuse marks: they would be one token each, which no answer's text has."""
        known = getattr(self._tokenizer, "added_tokens_decoder", {})
        special = {int(number) for number, token in known.items() if getattr(token, "special", False)}
        special |= set(getattr(self._tokenizer, "all_special_ids", ()))
        if found := [token for token in self._encode(self._text) if token in special]:
            raise AnswerUnweighableError(
                f"answer: holds {self._decode(found[:1])!r}, a special token of '{self._entry.id}'; leave it out"
            )

    def _require_no_thought(self, prompt: str) -> None:
        family = self._entry.known_family
        opening, closing = (family.marks.thought if family else None) or THINK_MARKS
        if prompt.rfind(opening) > prompt.rfind(closing):
            raise AnswerUnweighableError(
                f"the chat template of '{self._entry.id}' leaves a thought open ({opening}), so that the answer would "
                'count as thought: say chat_template_kwargs {"enable_thinking": false}'
            )


@dataclass
class _Work:
    """Tokens of prompts that were prefilled for an answer, and the seconds until the first token behind each."""

    prefilled: int = 0
    seconds: float = 0.0

    def add(self, output: Any) -> None:
        """Count one prompt."""
        self.prefilled += len(output.prompt_token_ids) - (output.num_cached_tokens or 0)
        self.seconds += output.metrics.first_token_ts - output.metrics.scheduled_ts


class AnswerScorer:
    """Asks for the logprobs of one answer behind one prompt. `send` sends the prompt with so many tokens of the answer
    behind it; `context` counts the tokens that the model's holds.
    """

    def __init__(self, send: SendPrompt, answer: AnswerTokens, context: int) -> None:
        self._send = send
        self._answer = answer
        self._context = context
        self._tokens: list[int] = []
        self._prompt_tokens = 0
        self._work = _Work()

    async def logprobs(self) -> list[float]:
        """Return those of the answer's tokens. Raises what sending raises, AnswerUnweighableError and
        ContextExceededError.
        """
        first = await self._next(0)
        others = await self._others() if len(self._tokens) > 1 else []
        return [first, *others]

    @property
    def tokens(self) -> list[int]:
        """The answer's tokens, once they were asked for."""
        return self._tokens

    @property
    def usage(self) -> Usage:
        """Tokens of prompt and answer; what was not prefilled of the prompt's counts as cached."""
        cached = max(0, self._prompt_tokens - self._work.prefilled)
        return Usage(prompt_tokens=self._prompt_tokens + len(self._tokens), cached_tokens=cached)

    @property
    def seconds(self) -> float:
        """Seconds of prefilling."""
        return self._work.seconds

    async def _next(self, number: int) -> float:
        """Ask for one token as the next one of the prompt and of those before it: only it is allowed."""
        params = _params(logprobs=0, allowed_token_ids=[0])

        def extend(prompt: Any) -> None:
            self._join(prompt, number)
            params.allowed_token_ids = [self._tokens[number]]

        output = await self._send(extend, params)
        self._work.add(output)
        return float(output.outputs[0].logprobs[0][self._tokens[number]].logprob)

    async def _others(self) -> list[float]:
        """Ask for all tokens behind the first: the rows of a prompt that ends with the answer."""
        params = _params(prompt_logprobs=0, skip_reading_prefix_cache=False)
        output = await self._send(lambda prompt: self._join(prompt, len(self._tokens)), params)
        self._work.add(output)
        # The row of a token tells the next one; rows that were read from the cache are not there.
        lacking = max(0, (output.num_cached_tokens or 0) - self._prompt_tokens)
        asked = range(1, min(1 + lacking, len(self._tokens)))
        found = await asyncio.gather(*(self._next(number) for number in asked))
        told, size = output.prompt_logprobs, len(output.prompt_logprobs)
        end = len(self._tokens)
        rows = (told[size - end + number][self._tokens[number]] for number in range(1 + len(asked), end))
        return [*found, *(float(row.logprob) for row in rows)]

    def _join(self, prompt: Any, number: int) -> None:
        """Put the answer's first tokens behind a prompt. Raises ContextExceededError where there is no room for all."""
        tokens = prompt["prompt_token_ids"]
        if not self._tokens:
            self._tokens = self._answer.behind(tokens)
            self._prompt_tokens = len(tokens)
            excess = len(tokens) + len(self._tokens) - self._context + 1
            if excess > 0:
                raise ContextExceededError(
                    f"the prompt has {len(tokens)} tokens and the answer {len(self._tokens)}; the context holds "
                    f"{self._context}, with one more behind them",
                    excess=excess,
                )
        prompt["prompt_token_ids"] = [*tokens, *self._tokens[:number]]


def require_raw_logprobs(mode: str) -> None:
    """Raise AnswerUnweighableError where the engine is started to tell others than the model's own."""
    if mode != "raw_logprobs":
        raise AnswerUnweighableError(
            f"the engine was started with logprobs_mode={mode}, which does not tell how likely the model holds an "
            "answer; leave that argument out"
        )


def _params(**asked: Any) -> Any:
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    kind = RequestOutputKind.FINAL_ONLY
    return SamplingParams(temperature=0.0, max_tokens=1, detokenize=False, output_kind=kind, **asked)
