"""Requests to vLLM, and the answers that it publishes while it generates."""

from collections.abc import Mapping, Sequence
from typing import Any

from gigavqa.contract.requests import GenerationConstraints, Sampling
from gigavqa.contract.responses import FINISH_REASONS, OnTokens, TokenLogprob
from gigavqa.workers.engines.engine import GenerationFailedError
from gigavqa.workers.engines.vllm.detokenization import Decode, IncrementalDetokenizer

_PASSED_PARAMETERS = ("min_tokens", "ignore_eos", "min_p", "presence_penalty", "frequency_penalty", "logprobs")


def sampling_params(sampling: Sampling, end_ids: Sequence[int], *, pieces: bool) -> Any:
    """Make vLLM's parameters; `end_ids` end a turn of the model's family. Raises ValueError for what vLLM refuses."""
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    steering = sampling.steering
    ends = list(end_ids) if steering is None else _stop_token_ids(steering, end_ids)
    asked = sampling.model_dump(exclude={"steering"})
    steered = _constraint_parameters(steering) if steering else {}
    penalty = steered.get("presence_penalty") or sampling.presence_penalty
    return SamplingParams(
        **{**asked, **steered, "presence_penalty": penalty},
        output_kind=RequestOutputKind.DELTA if pieces else RequestOutputKind.FINAL_ONLY,
        stop_token_ids=ends,
        # vLLM would leave out marks, or else decode every prompt with all its visual tokens anew.
        detokenize=False,
    )


class VllmAnswer:
    """One answer, as far as it is generated: `output` is the last that vLLM told, `tokens` are all of them.

    `growing` is None where nobody follows the text; `most_logprobs` tokens are told beside each of its tokens.
    """

    def __init__(self, growing: IncrementalDetokenizer | None, most_logprobs: int = 0) -> None:
        self.output: Any = None
        self.tokens: list[int] = []
        self._growing = growing
        self._most = most_logprobs
        self._logprobs: list[TokenLogprob] | None = None
        self._told_logprobs = 0

    @property
    def is_stopped(self) -> bool:
        """Whether its text came to a stop before its tokens did."""
        return self._growing is not None and self._growing.stopped_by is not None

    @property
    def finish_reason(self) -> str:
        """The reason for which it ended."""
        return "stop" if self.is_stopped else self.output.outputs[0].finish_reason or "unknown"

    @property
    def logprobs(self) -> tuple[TokenLogprob, ...] | None:
        """Of its tokens, where they were asked for."""
        return None if self._logprobs is None else tuple(self._logprobs)

    def text(self, decode: Decode) -> str:
        """Return what the model wrote: its marks belong to it, the token that ended its turn does not."""
        return decode(self._written) if self._growing is None else self._growing.text

    def take(self, output: Any, decode: Decode, grow: OnTokens | None) -> None:
        """Take what vLLM tells: tokens that came since it told last, or all at once at the end."""
        self.output = output
        new = output.outputs[0]
        self.tokens += new.token_ids
        if new.logprobs is not None:
            self._logprobs = (self._logprobs or []) + read_logprobs(new.token_ids, new.logprobs, self._most, decode)
        if self._growing is None:
            return
        before = len(self._growing.text)
        # The last token may be the one that ended the turn, and the whole says better what the end is.
        said = self._growing.finish(decode(self._written)) if output.finished else self._growing.add(new.token_ids)
        untold = output.finished and self._told_logprobs < len(self._logprobs or ())
        if grow and (said or untold):
            grow(before, said, self._untold_logprobs())

    def require_whole(self) -> None:
        """Raise GenerationFailedError where vLLM ended it as no answer, or made a token of it from no numbers.

        An answer has a token at least, that of its end.
        """
        reason, number = self.finish_reason, len(self.tokens)
        if reason not in FINISH_REASONS or not number:
            raise GenerationFailedError(f"vLLM ended an answer with '{reason}' at {number} tokens")
        if self.output.metrics.is_corrupted:
            raise GenerationFailedError(
                "the model's logits were no numbers (NaN), so its tokens say nothing: look at its weights, their dtype "
                "and quantization"
            )

    @property
    def _written(self) -> list[int]:
        return self.tokens[:-1] if self.output.outputs[0].finish_reason == "stop" else self.tokens

    def _untold_logprobs(self) -> tuple[TokenLogprob, ...] | None:
        if self._logprobs is None:
            return None
        told, self._told_logprobs = self._told_logprobs, len(self._logprobs)
        return tuple(self._logprobs[told:])


def read_logprobs(
    tokens: Sequence[int], positions: Sequence[Mapping[int, Any]], most: int, decode: Decode
) -> list[TokenLogprob]:
    """Name the tokens that vLLM tells by number; of the `most` likeliest beside each, the first first."""
    read: list[TokenLogprob] = []
    for token, others in zip(tokens, positions, strict=True):
        ranked = sorted(others.items(), key=lambda item: item[1].rank)
        named = {other: token_logprob(decode([other]), found.logprob) for other, found in ranked}
        # vLLM adds the token itself where it is not among the likeliest.
        top = tuple(named[other] for other, found in ranked[:most] if found.rank <= most)
        read.append(named[token].model_copy(update={"top_logprobs": top}))
    return read


def token_logprob(token: str, logprob: float) -> TokenLogprob:
    """Tell how likely a token was, by its text."""
    # JSON has no infinity; OpenAI's own servers say -9999.
    return TokenLogprob(token=token, logprob=max(logprob, -9999.0), bytes=tuple(token.encode()))


def _stop_token_ids(steering: GenerationConstraints, end_ids: Sequence[int]) -> list[int]:
    return list(dict.fromkeys([*(() if steering.ignore_eos else end_ids), *steering.stop_token_ids]))


def _constraint_parameters(steering: GenerationConstraints) -> dict[str, Any]:
    from vllm.sampling_params import StructuredOutputsParams

    asked: dict[str, Any] = {name: getattr(steering, name) for name in _PASSED_PARAMETERS}
    asked["logit_bias"] = dict(steering.logit_bias) or None
    asked["bad_words"] = list(steering.bad_words) or None
    if steering.structure:
        said = {name: value for name, value in dict(steering.structure).items() if value is not None}
        said.pop("in_object", None)
        schema = said.pop("json_schema", None)
        said |= {"json": schema} if schema is not None else {}
        said |= {"choice": list(said["choice"])} if "choice" in said else {}
        asked["structured_outputs"] = StructuredOutputsParams(**said)
    return asked
