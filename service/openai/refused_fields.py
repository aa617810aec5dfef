"""Fields that clients send and the service does not read: one that says what is done anyway passes, any other is
refused by its name, because a field that is silently not applied would change results.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from gigavqa.runtime.suggestions import did_you_mean

LABEL_FIELDS = frozenset({"user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"})
"""Fields that say something to whoever keeps chats; nothing here depends on them."""

SERVICE_FIELDS = frozenset({"request_id", "cache_salt", "session_id", "priority"})
"""Fields by which others could meddle with caches and order; the service sets them itself."""


class RefusedField(NamedTuple):
    """Why a field is not read, and the values that say what is done anyway, besides null."""

    why: str
    passing: tuple[Any, ...] = ()


_REPLACED_FIELDS = {
    "guided_json": "structured_outputs: {json}, or response_format",
    "guided_regex": "structured_outputs: {regex}",
    "guided_choice": "structured_outputs: {choice}",
    "guided_grammar": "structured_outputs: {grammar}",
    "guided_decoding_backend": "nothing: the engine chooses",
    "guided_whitespace_pattern": "nothing: the engine chooses",
}
SHARED_FIELDS = {
    "store": RefusedField("is not taken: nothing is kept after the answer; send the whole chat each time", (False,)),
    "service_tier": RefusedField("is not taken: all chats are served alike", ("auto", "default")),
    "verbosity": RefusedField("is not spoken: say it in the text", ("medium",)),
    "modalities": RefusedField("is not spoken: answers are texts", (["text"],)),
    "audio": RefusedField("is not spoken: chats are of texts and pictures"),
    "prediction": RefusedField("is not spoken"),
    "web_search_options": RefusedField("is not spoken"),
    "mm_processor_kwargs": RefusedField(
        "is not taken: pictures are made at the very size at which the model changes nothing", ({},)
    ),
    "media_io_kwargs": RefusedField("is not taken: pictures are read by the service", ({},)),
    "include_reasoning": RefusedField("is not spoken: texts hold what the model thought", (True,)),
    "skip_special_tokens": RefusedField("is not spoken: texts hold the marks that the model wrote", (False,)),
    "spaces_between_special_tokens": RefusedField("is not spoken: nothing is put between marks", (False,)),
    "include_stop_str_in_output": RefusedField("is not spoken: texts end before what stops them", (False,)),
    "return_token_ids": RefusedField("is not spoken: answers are texts; logprobs tell their tokens", (False,)),
    "stream_interval": RefusedField("is not spoken: texts are told as they grow", (1,)),
}
CHAT_FIELDS = {
    **SHARED_FIELDS,
    "functions": RefusedField("is not read any more; say tools", ([],)),
    "function_call": RefusedField("is not read any more; say tool_choice", ("none",)),
    **{name: RefusedField(f"is not read any more by the engine; say {new}") for name, new in _REPLACED_FIELDS.items()},
    "chat_template": RefusedField("is not taken: templates are the model's own; chat_template_kwargs go to it"),
    "echo": RefusedField("is not spoken", (False,)),
    "documents": RefusedField("is not spoken", ([],)),
    "use_beam_search": RefusedField("is not spoken", (False,)),
    "length_penalty": RefusedField("is not spoken: it is one of beam search", (1.0,)),
    "allowed_token_ids": RefusedField("is not spoken; say logit_bias", ([],)),
    "truncate_prompt_tokens": RefusedField("is not spoken: a chat that is too long is refused"),
}


def field_faults(
    given: Mapping[str, Any], known: Collection[str], refused: Mapping[str, RefusedField]
) -> dict[str, str]:
    """Return what is wrong with the fields of a body that are not read, by name; few of many."""
    wrong = {
        name: f"'{name}' {refused[name].why}"
        for name in refused
        if given.get(name) is not None and not any(_is(given[name], value) for value in refused[name].passing)
    }
    read = {*known, *refused, *LABEL_FIELDS, *SERVICE_FIELDS}
    unknown = sorted(name for name in map(str, given) if name not in read)[:10]
    return wrong | {name[:100]: f"there is no '{name[:100]}'{did_you_mean(name, known)}" for name in unknown}


def _is(value: Any, passing: Any) -> bool:
    return isinstance(value, bool) == isinstance(passing, bool) and bool(value == passing)
