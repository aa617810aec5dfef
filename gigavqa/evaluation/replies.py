"""Replies, the part of a response that scoring needs: the text of the final turn, or the reason that there is none."""

import json
from collections.abc import Mapping
from operator import attrgetter
from typing import Literal, NamedTuple

from pydantic import JsonValue

from gigavqa.contract.flaws import fault_of, flaw_of, flaws_of
from gigavqa.contract.requests import RequestLabels, Sampling
from gigavqa.contract.responses import ClosingAnswer, Failure, Likelihood, RasterRecord, Response, TurnResponse
from gigavqa.contract.tool_loops import StopReason
from gigavqa.evaluation.reply_costs import ReplyCost

NO_FINAL_TURN = "FinalTurnMissing"
"""Why a reply has no text although its request did not fail: no turn answers the final question."""
_NEAR = 0.99
"""Share of a model's context from which on it is taken for full: servers keep some tokens for themselves."""


ReplyRank = tuple[bool, bool, float]
"""Orders copies of a reply: whether it failed, whether it is empty, when it was created."""


class Provenance(NamedTuple):
    """The provenance of a reply; hashable, so that equal ones are counted and not kept."""

    engine: str | None = None
    version: str | None = None
    device: str | None = None
    revision: str | None = None
    simulated: bool = False
    prompt_version: str | None = None
    sampling: tuple[tuple[str, float | int | None], ...] = ()
    thumbnail: str | None = None
    not_sent: tuple[str, ...] = ()
    budget: str | None = None
    template: str | None = None
    detail: str | None = None
    sent: str | None = None


class Reply(NamedTuple):
    """One answer to one sample, under the labels of its request.

    `text` is None where nothing answers the final question: the request failed, and `failure` names the error's type;
    or the chat `overflowed`, outgrew the model's context by what the model wrote, which is no failure but the model's
    own; or the answer was `filtered`, withheld or refused by who serves the model. `steps` are the turns that answer a
    step, as (step id, text), the text None where it was filtered. `created` is in seconds since 1970. `spent` is
    what all turns took together. Of a chat with a loop, `rounds` are the answers with their calls, also those before a
    failure, `max_rounds` says how many there could have been, and `stop` why it ended: `answered` alone has a text.

    `filtered` and `empty`, ended without a token written, are said of a reply of which any turn was so. `capped` is
    not 0 where a server elsewhere ended the text before its limit of tokens: so many had prompt and answer by then.
    `closing` is what the turn behind the text was answered, `likelihood` how likely the model holds a text that it was
    given. `cut_steps` are those whose turns ended for length.
    """

    labels: RequestLabels
    job_id: str
    created: float
    text: str | None
    failure: str | None
    cut_off: bool
    provenance: Provenance
    steps: tuple[tuple[str, str | None], ...] = ()
    rasters: tuple[RasterRecord, ...] = ()
    overflowed: bool = False
    spent: ReplyCost = ReplyCost()
    rounds: tuple[TurnResponse, ...] = ()
    max_rounds: int | None = None
    stop: StopReason | None = None
    filtered: bool = False
    empty: bool = False
    capped: int = 0
    closing: ClosingAnswer | None = None
    cut_steps: frozenset[str] = frozenset()
    likelihood: Likelihood | None = None

    @property
    def is_unanswered(self) -> bool:
        """Whether the model, or who serves it, left it without an answer, which is no failure."""
        return self.overflowed or self.filtered or self.stop in ("rounds", "context")

    @property
    def ends_amid(self) -> bool:
        """Whether its text may end where nobody meant it to: at the job's limit, or where the context was full."""
        return self.cut_off or self.overflowed

    @property
    def absence(self) -> Literal["filtered", "overflowed"]:
        """The parse status of a reply that was left without an answer."""
        is_filtered = self.filtered and not self.overflowed and self.stop in (None, "answered")
        return "filtered" if is_filtered else "overflowed"

    def within(self, context: int | None) -> "Reply":
        """Return the reply of a model whose context has so many tokens.

        What ended near them ended because it was full.
        """
        if not self.capped or context is None or self.capped < _NEAR * context:
            return self
        return self._replace(cut_off=False, overflowed=True, capped=0)

    @property
    def failed(self) -> bool:
        """Whether nothing answers the final question, and that says nothing about the model."""
        return self.text is None and not self.is_unanswered

    @property
    def identity(self) -> tuple[str, str]:
        """Tells a second copy of a reply from another repeat."""
        return self.job_id, self.labels.request_id

    @property
    def rank(self) -> "ReplyRank":
        """The rank that decides which copy of a reply counts: the least; of equal ones that which stands first in the
        files.

        What a retry asks again goes behind: a failure, and an answer without a token. Then the earlier one goes first.
        What a copy says, and what became of it, decides nothing.
        """
        return self.failed, self.empty, self.created

    @property
    def sample_id(self) -> str:
        """The sample that was asked."""
        return self.labels.sample_id

    @property
    def model(self) -> str:
        """The model."""
        return self.labels.model

    @property
    def protocol(self) -> str:
        """The protocol."""
        return self.labels.protocol

    @property
    def condition(self) -> str:
        """The condition."""
        return self.labels.condition

    @property
    def repeat(self) -> int:
        """The how manieth time it was asked, from 0."""
        return self.labels.repeat


def reply_of(response: Response) -> Reply:
    """Take from a response what scoring needs."""
    failure, flaws = fault_of(response), flaws_of(response)
    turns = response.turns if failure is None or failure.by_model else ()
    stop = None if "broken_off" in flaws else response.stop
    final = turns[-1] if turns and turns[-1].asks is None else None
    is_early = final is not None and _ends_early(final, response.sampling)
    is_elsewhere = response.engine is not None and response.engine.name == "remote"
    filled = is_early and not is_elsewhere
    return Reply(
        labels=response,
        job_id=response.job_id,
        created=response.created_at.timestamp(),
        text=_text(final) if final and stop in (None, "answered") else None,
        failure=None if final or stop else _failure_of(failure),
        cut_off=final is not None and final.finish_reason == "length" and not filled,
        provenance=_provenance(response),
        steps=tuple((turn.asks, _text(turn)) for turn in turns if turn.asks is not None),
        rasters=response.rasters,
        overflowed=filled or (failure is not None and failure.by_model) or stop == "context",
        spent=ReplyCost.of(response),
        rounds=_recorded_rounds(response),
        max_rounds=response.max_rounds,
        stop=stop,
        filtered="filtered" in flaws and bool(turns),
        empty="empty" in flaws and bool(turns),
        capped=_tokens(final) if final and is_early and is_elsewhere else 0,
        closing=response.closing,
        cut_steps=frozenset(turn.asks for turn in turns if turn.asks is not None and turn.finish_reason == "length"),
        likelihood=final.likelihood if final else None,
    )


def _text(turn: TurnResponse) -> str | None:
    return None if flaw_of(turn) == "filtered" else turn.text


def _recorded_rounds(response: Response) -> tuple[TurnResponse, ...]:
    if response.stop is None and response.max_rounds is None:
        return ()
    return tuple(turn for turn in response.turns if turn.asks is None)


def _failure_of(failure: Failure | None) -> str | None:
    if failure is None:
        return NO_FINAL_TURN
    return None if failure.by_model else failure.type


def _ends_early(final: TurnResponse, sampling: Sampling) -> bool:
    """Return whether an answer ends before its limit of tokens and for its length all the same.

    Some servers elsewhere leave the tokens of thoughts out of those of the completion.
    """
    usage = final.usage
    written = usage.completion_tokens + (usage.reasoning_tokens or 0)
    return final.finish_reason == "length" and usage.completion_tokens > 0 and written < sampling.max_tokens


def _tokens(final: TurnResponse) -> int:
    usage = final.usage
    return usage.prompt_tokens + usage.completion_tokens + (usage.reasoning_tokens or 0)


def _provenance(response: Response) -> Provenance:
    engine, sampling = response.engine, response.sampling
    sizings = (raster.view.sizing for raster in response.rasters)
    thumbnails = [sizing for sizing in sizings if sizing.startswith("longest:")]
    remote = engine.remote if engine else None
    not_sent = remote.not_sent if remote else ()
    return Provenance(
        engine=engine.name or None if engine else None,
        version=engine.version or None if engine else None,
        device=engine.device if engine else None,
        revision=engine.model_revision if engine else None,
        simulated=engine.simulated if engine else False,
        prompt_version=response.prompt_version,
        sampling=tuple(
            (name, value)
            for name, value in zip(_SAMPLING_FIELDS, _sampling_values(sampling), strict=True)
            if name not in not_sent and value is not None
        ),
        thumbnail=thumbnails[0] if thumbnails else None,
        not_sent=not_sent,
        budget=engine.budget if engine else None,
        template=_pairs(engine.chat_template if engine else None),
        detail=remote.detail if remote else None,
        sent=_pairs(remote.extra if remote else None),
    )


def _pairs(told: Mapping[str, JsonValue] | None) -> str | None:
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in sorted(told.items())) if told else None


_SAMPLING_FIELDS = tuple(sorted(set(Sampling.model_fields) - {"seed"}))
_sampling_values = attrgetter(*_SAMPLING_FIELDS)
