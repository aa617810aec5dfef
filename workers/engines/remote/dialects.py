"""Dialects of OpenAI-compatible servers: the parameters that each takes beyond OpenAI's, and the marks by which it is
recognized.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.requests import Sampling

DialectName = Literal["vllm", "sglang", "dynamo", "openai", "azure", "anthropic", "google"]

_OPENAI_PARAMETERS = frozenset(
    {"temperature", "top_p", "presence_penalty", "seed", "max_tokens", "max_completion_tokens"}
)
_HOSTS: Mapping[str, DialectName] = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
}
_AZURE_SUFFIXES = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_OWNERS: Mapping[str, DialectName] = {"vllm": "vllm", "sglang": "sglang", "nvidia": "dynamo"}


@dataclass(frozen=True)
class Dialect:
    """One kind of server.

    `extras` are the sampling parameters that it takes beside OpenAI's, `fixed` what every request says. A picture is
    named by `identity`, and where the server `keeps` it, it need not be sent again. `ends_turns` says whether it takes
    what ends a turn, `templates` whether it takes arguments of the chat template, `fills` whether an answer without a
    limit may go on to the end of the context, `schemas` whether an answer can be held to one, `weighs` whether it takes
    what asks for the likelihood of a given one. The key goes into `key_header`, too, or, where the server takes
    `no_bearer`, there alone.
    """

    name: DialectName
    extras: frozenset[str] = frozenset()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    identity: Literal["uuid", "content_hash"] | None = None
    keeps: bool = False
    ends_turns: bool = False
    templates: bool = False
    fills: bool = False
    schemas: bool = True
    weighs: bool = False
    key_header: str | None = None
    no_bearer: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def parameters(self, sampling: Sampling, entry: CatalogueEntry, room: int) -> dict[str, Any]:
        """Return what of `sampling` is sent. Servers refuse a limit beyond the `room` in tokens that a prompt leaves.

        So it is left to them, where they bound an answer by the context as an engine of this process does.
        """
        given, limit = self._given(sampling, entry), entry.remote.limit
        if given[limit] > room and self.fills:
            del given[limit]
        elif given[limit] > room:
            given[limit] = room
        template = {"chat_template_kwargs": entry.chat_template} if self.templates and entry.chat_template else {}
        sent = {name: value for name, value in given.items() if name not in self._refused(given, entry)}
        return {**self.fixed, **template, **sent, **entry.remote.extra}

    def not_sent(self, entry: CatalogueEntry) -> tuple[str, ...]:
        """Names of the parameters of any request that the server would refuse, or does not know."""
        names = {*Sampling.model_fields, entry.remote.limit} - {"steering", "max_tokens"}
        return tuple(sorted(self._refused(names, entry)))

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the headers that show the key."""
        own = {self.key_header: key} if self.key_header else {}
        return own if self.no_bearer else {"authorization": f"Bearer {key}", **own}

    def _given(self, sampling: Sampling, entry: CatalogueEntry) -> dict[str, Any]:
        given = sampling.model_dump(exclude_none=True, exclude={"steering"})
        return given | {entry.remote.limit: given.pop("max_tokens")}

    def _refused(self, given: Collection[str], entry: CatalogueEntry) -> set[str]:
        return {name for name in given if name in entry.remote.not_sent or name not in _OPENAI_PARAMETERS | self.extras}


_ENGINE_PARAMETERS = frozenset({"top_k", "repetition_penalty", "min_p", "min_tokens", "ignore_eos", "stop_token_ids"})
DIALECTS: Mapping[DialectName, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "vllm",
            extras=_ENGINE_PARAMETERS | {"bad_words", "structured_outputs"},
            # Marks are text; and a checkpoint's own defaults are not to join what was asked for.
            fixed={"skip_special_tokens": False, "spaces_between_special_tokens": False, "min_p": 0.0},
            identity="uuid",
            keeps=True,
            ends_turns=True,
            templates=True,
            fills=True,
            weighs=True,
        ),
        Dialect(
            "sglang",
            extras=_ENGINE_PARAMETERS,
            fixed={"skip_special_tokens": False},
            identity="content_hash",
            ends_turns=True,
            templates=True,
            fills=True,
        ),
        Dialect(
            "dynamo", extras=_ENGINE_PARAMETERS, fixed={"skip_special_tokens": False}, identity="uuid", templates=True
        ),
        Dialect("openai"),
        Dialect(
            "anthropic",
            schemas=False,  # its OpenAI-compatible endpoint ignores response_format
            key_header="x-api-key",
            headers={"anthropic-version": "2023-06-01"},  # for its list alone
        ),
        Dialect("azure", key_header="api-key", no_bearer=True),
        Dialect("google"),
    )
}


def vendor_dialect(host: str) -> Dialect | None:
    """Return the dialect of a vendor's own endpoint."""
    if host.endswith(_AZURE_SUFFIXES):
        return DIALECTS["azure"]
    return DIALECTS[_HOSTS[host]] if host in _HOSTS else None


def recognise_dialect(owners: Collection[str], *, has_version: bool) -> Dialect:
    """Return the kind of a server, by the owners that it names of its models, and by whether it tells vLLM's version.

    A stranger is asked as OpenAI is, and gets no name of a picture.
    """
    known = [_OWNERS[owner] for owner in owners if owner in _OWNERS]
    return DIALECTS[known[0] if known else "vllm" if has_version else "openai"]
