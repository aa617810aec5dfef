"""Answers of servers: text with its thoughts, counts of tokens, and what they cost."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from catalogue.entry import CatalogueEntry
from catalogue.families.family import THINK
from jobs.models import Timings, TokenLogprob, TurnResponse, Usage
from workers.engines.remote.refusals import AgainLaterError, Said, read_error, refusal, shown


def read_answer(
    found: Any, entry: CatalogueEntry, num_rasters: int, *, content: bytes, key: str | None
) -> TurnResponse:
    """Read a chat completion, `found` in `content`. Raises AgainLaterError and EngineError where it is none."""
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _no_answer(read_error(content, key), entry)
    choice = choices[0]
    reason = str(choice.get("finish_reason") or "unknown")
    if reason == "abort":
        raise AgainLaterError("the server aborted the request", is_away=False, may_be_ours=True)
    message = choice.get("message")
    return TurnResponse(
        text=_text(message if isinstance(message, dict) else {}, entry),
        finish_reason=shown(reason, key),
        usage=_usage(found.get("usage") or {}, entry, num_rasters),
        timings=Timings(),
        logprobs=read_logprobs(choice.get("logprobs")),
        served_as=_served_as(found),
    )


def _no_answer(said: Said, entry: CatalogueEntry) -> Exception:
    """Some gateways put an error into an answer of status 200; its code tells which one it would have been."""
    codes = [int(kind) for kind in said.kinds if kind.isdecimal() and len(kind) == 3]
    status = codes[0] if codes and codes[0] >= HTTPStatus.BAD_REQUEST else HTTPStatus.INTERNAL_SERVER_ERROR
    return refusal(status, {}, said, entry.max_model_len)


def _text(message: Mapping[str, Any], entry: CatalogueEntry) -> str:
    """All that the model wrote; where the server took the thought apart, within the family's marks again."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    text = str(content or message.get("refusal") or "")
    thought = message.get("reasoning") or message.get("reasoning_content")
    if not thought:
        return text
    opening, closing = thought_marks(entry)
    return f"{opening}{thought}{closing}{text}"


def thought_marks(entry: CatalogueEntry) -> tuple[str, str]:
    """What stands before a thought and behind it, in the family's own texts."""
    family = entry.known_family
    return (family.marks.thought if family else None) or THINK


def _usage(told: Mapping[str, Any], entry: CatalogueEntry, num_rasters: int) -> Usage:
    prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    details = _mapping(told.get("prompt_tokens_details"))
    cached = min(prompt, _count(details.get("cached_tokens")))
    # vLLM's; one number for all pictures of the prompt.
    visual = _count(_mapping(details.get("multimodal_tokens")).get("image"))
    prices = entry.remote.prices
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        visual_tokens=(visual,) if visual and num_rasters == 1 else (),
        reasoning_tokens=_count(_mapping(told.get("completion_tokens_details")).get("reasoning_tokens")),
        dollars=prices.of(prompt, cached, completion) if prices and told else None,
    )


def read_logprobs(told: Any) -> tuple[TokenLogprob, ...] | None:
    """How likely each token was, where the server was asked and tells."""
    tokens = _mapping(told).get("content")
    return tuple(map(_logprob, tokens)) if isinstance(tokens, list) else None


def _logprob(told: Mapping[str, Any]) -> TokenLogprob:
    others = told.get("top_logprobs")
    return TokenLogprob(
        token=str(told.get("token", "")),
        logprob=float(told.get("logprob") or 0.0),
        bytes=tuple(told["bytes"]) if told.get("bytes") is not None else None,
        top_logprobs=None if others is None else tuple(map(_logprob, others)),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _served_as(found: Mapping[str, Any]) -> str | None:
    """The model's name in the answer, which for vendors is that of a dated snapshot, and the server's fingerprint."""
    names = [str(found[name])[:200] for name in ("model", "system_fingerprint") if found.get(name)]
    return " ".join(names) or None
