"""Reads the results that the authors' program writes: a line a sample, its turns joined by chat marks."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gigavqa.benchmarks.vistahop.asking import DIRECT, SEARCH, SEARCH_CROP
from gigavqa.benchmarks.vistahop.judging import RECORDED, ROUNDS
from gigavqa.benchmarks.vistahop.prompts import read_texts

_STARTS = re.compile(r"<\|im_start\|>(system|user|assistant|tool)[ \t]*\n?")
_END = "<|im_end|>"
_STOPS = {"no_tool_calls": "answered", "max_turns": "rounds"}
_ERROR = "error"
_SCORES = ("llm_score", "em_score_mcq", "em_score")
"""Fields that hold a verdict of the program's: a judge's, of which nobody knows which, or a rule's."""


class _RunnerTurn(NamedTuple):
    """A round: the model's text, and the result that answered it; None is nothing."""

    text: str
    result: str | None


def read_result_line(line: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a response for one line of `results.jsonl`; None for a line of any other file.

    The protocol is that of the tools that the line names; how many rounds there could have been is not told. A sample
    whose chat ended by an error failed: what the program counts as wrong says nothing about the model. Raises
    ValueError naming the field that is wrong.
    """
    if not {"sample_id", "output", "finish_reason"} <= line.keys() or "turns" in line:
        return None
    ended = line["finish_reason"]
    if ended != _ERROR and ended not in _STOPS:
        raise ValueError(f"finish_reason: '{ended}' is none of {', '.join((*_STOPS, _ERROR))}")
    turns = [*_turns(line["output"])]
    protocol = line.get("protocol") or _protocol(line, turns)
    named = {name: line[name] for name in ("model", "repeat", "max_rounds") if line.get(name) is not None}
    fields = {
        "sample_id": str(line["sample_id"]),
        "request_id": str(line["sample_id"]),
        "protocol": protocol,
        "condition": "V2",
        "details": {RECORDED: _recorded_verdicts(line), ROUNDS: _rounds(line, turns)},
        **named,
    }
    if ended == _ERROR:
        return {**fields, "failure": {"type": "RunnerError", "message": str(line.get("error", ""))}}
    stop = {} if protocol == DIRECT else {"stop": _STOPS[ended]}
    answered = [_answer(turn) for turn in turns] or [{"text": "", "finish_reason": ""}]
    return {**fields, **stop, "turns": answered}


def _rounds(line: Mapping[str, Any], turns: Sequence[_RunnerTurn]) -> int:
    told = line.get("num_round", len(turns))
    if not isinstance(told, int) or isinstance(told, bool) or told < 0:
        raise ValueError(f"num_round: must be a whole number, not {told!r}")
    return max(1, told)


def _turns(output: Any) -> Iterator[_RunnerTurn]:
    """Yield the model's texts, each with the message behind it."""
    messages = [*_messages(output), ("", None)]
    for (role, text), (other, result) in pairwise(messages):
        if role == "assistant":
            yield _RunnerTurn(text or "", None if other in ("", "assistant") else result)


def _messages(output: Any) -> Iterator[tuple[str, str | None]]:
    if isinstance(output, list):
        for one in output:
            if not isinstance(one, dict):
                raise ValueError("output: must be a text, or a list of messages")
            content = one.get("content")
            yield str(one.get("role", "assistant")), content if isinstance(content, str) else json.dumps(content)
        return
    if not isinstance(output, str):
        raise ValueError("output: must be a text, or a list of messages")
    first, *rest = _STARTS.split(output)
    if first.strip():
        yield "assistant", _without_end(first)
    for role, text in zip(rest[::2], rest[1::2], strict=True):
        yield role, _without_end(text)


def _without_end(text: str) -> str:
    return text.rstrip().removesuffix(_END)


def _answer(turn: _RunnerTurn) -> dict[str, Any]:
    call = _call(turn)
    return {"text": turn.text, "finish_reason": "stop", **({"call": call} if call else {})}


def _call(turn: _RunnerTurn) -> dict[str, Any] | None:
    """Return the first call of a text, its status by what the program answered."""
    written = _result_text(turn.text)
    if written is None:
        return None
    try:
        call = json.loads(written)
    except (ValueError, RecursionError):
        call = None
    if not call:
        return {"name": "", "arguments": written, "status": "malformed"}
    if not isinstance(call, dict):
        return {"name": "", "arguments": written, "status": "bad_arguments"}
    status = "not_run" if turn.result is None else _status(turn.result)
    arguments = json.dumps(call.get("arguments"), ensure_ascii=False)
    return {"name": str(call.get("name", "")), "arguments": arguments, "status": status, "result": turn.result or ""}


def _result_text(text: str) -> str | None:
    opening, closing = read_texts("results")["opening"], read_texts("results")["closing"]
    start = text.find(opening)
    end = text.find(closing, start) if start >= 0 else -1
    return text[start + len(opening) : end].strip() if end >= 0 else None


def _status(result: str) -> str:
    errors = read_texts("results")["errors"]
    by_text = {errors["unknown"].partition("'")[0]: "unknown_tool", errors["box"]: "empty", errors["query"]: "empty"}
    return next((status for text, status in by_text.items() if text in result[:200]), "ok")


def _protocol(line: Mapping[str, Any], turns: Sequence[_RunnerTurn]) -> str:
    """Return the setting by the tools that were declared or called."""
    asked = json.dumps(line.get("input", ""), ensure_ascii=False)
    called = {call["name"] for turn in turns if (call := _call(turn)) and call["status"] != "unknown_tool"}
    if "image_zoom_in_tool" in asked or "image_zoom_in_tool" in called:
        return SEARCH_CROP
    return SEARCH if "text_search_tool" in asked or called else DIRECT


def _recorded_verdicts(line: Mapping[str, Any]) -> dict[str, int]:
    """Return what the program scored: right, wrong, or -1 for a score between, which is no verdict."""
    inner = line.get("scores")
    scores = {**(inner if isinstance(inner, dict) else {}), **line}
    found = {name: scores[name] for name in _SCORES if scores.get(name) is not None}
    for name, score in found.items():
        if not isinstance(score, int | float):
            raise ValueError(
                f"{name}: must be a number, or true or false, not {score!r}; leave it out where nobody judged"
            )
    return {name: {0: 0, 1: 1}.get(score, -1) for name, score in found.items()}
