"""One question to a model during a build, as data; its id says all that an answer can hang on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from blake3 import blake3

from gigavqa.construction.build_folder import canonical_json, digest_file
from gigavqa.construction.calls.errors import CallInvalidError

_STAGE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ID_CHARACTERS = 32
_SEED_CHARACTERS = 13


@dataclass(frozen=True)
class CallPicture:
    """A picture, or a region of it, that a call shows. `content` is the BLAKE3 digest of the file at `path`.

    `region`, `sizing` and `show` are those of a `gigavqa:` address.
    """

    path: Path
    content: str
    region: str = "full"
    sizing: str = "native"
    show: str = ""

    @classmethod
    def of(cls, path: Path, **how: str) -> "CallPicture":
        """Return a file as it is now; `how` says region, sizing and show."""
        return cls(path, digest_file(path), **how)

    def document(self) -> dict[str, str]:
        """Return what of it an answer can hang on: not where it lies."""
        return {"content": self.content, "region": self.region, "sizing": self.sizing, "show": self.show}


@dataclass(frozen=True)
class CallSampling:
    """The sampling of a call; what is None is the model's own. `max_tokens` bounds what an answer can cost.

    Without a seed there is one that follows from the call, so that it is the same whenever it is asked.
    """

    max_tokens: int = 2048
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    thinks: bool | None = None

    def document(self) -> dict[str, Any]:
        """Return what is said, by the names of chat completions."""
        plain = {name: getattr(self, name) for name in ("max_tokens", "temperature", "top_p", "seed")}
        said = {name: value for name, value in plain.items() if value is not None}
        return said if self.thinks is None else {**said, "chat_template_kwargs": {"enable_thinking": self.thinks}}


class FaultyReply(NamedTuple):
    """A reply that could not be read, as far as it is shown again, and what was wrong with it."""

    text: str
    complaint: str


@dataclass(frozen=True)
class ModelCall:
    """A call: which prompt at which version (`relations/1`), filled in as `text`, to which model, about what.

    Pictures stand before the text, so that calls about the same ones share their prefix. `schema` is the JSON schema
    of the answer; without one it is any text. `faulty` are earlier replies to the same, each with a complaint.
    """

    stage: str
    prompt: str
    model: str
    text: str
    pictures: tuple[CallPicture, ...] = ()
    schema: Mapping[str, Any] | None = None
    sampling: CallSampling = CallSampling()
    system: str = ""
    faulty: tuple[FaultyReply, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a stage that can be no file's name, and a call that asks nothing. Raises CallInvalidError."""
        if not _STAGE.fullmatch(self.stage):
            raise CallInvalidError(f"stage '{self.stage[:80]}': write small letters, digits, - and _")
        if not self.text.strip():
            raise CallInvalidError(
                f"a call of stage {self.stage} by prompt {self.prompt} asks nothing: its text is empty"
            )

    @cached_property
    def id(self) -> str:
        """32 hexadecimal digits of all but where the model is served, and where pictures lie."""
        return blake3(canonical_json(self.document()).encode("utf-8", "surrogatepass")).hexdigest()[:_ID_CHARACTERS]

    def document(self) -> dict[str, Any]:
        """Return the call as the JSON of its line."""
        return {
            "stage": self.stage,
            "prompt": self.prompt,
            "model": self.model,
            "system": self.system,
            "pictures": [picture.document() for picture in self.pictures],
            "text": self.text,
            "schema": self.schema,
            "sampling": self.sampling.document(),
            "faulty": [reply._asdict() for reply in self.faulty],
        }

    def asked_again(self, reply: FaultyReply) -> "ModelCall":
        """Return the call that asks the same behind a reply that could not be read."""
        return replace(self, faulty=(*self.faulty, reply))

    def body(self, addresses: Sequence[str]) -> dict[str, Any]:
        """Return the body of a chat completion; `addresses` are those of the pictures, in their order."""
        shown = [{"type": "image_url", "image_url": {"url": address}} for address in addresses]
        messages: list[dict[str, Any]] = [{"role": "system", "content": self.system}] if self.system else []
        messages.append({"role": "user", "content": [*shown, {"type": "text", "text": self.text}]})
        for text, complaint in self.faulty:
            messages += [{"role": "assistant", "content": text or "(nothing)"}, {"role": "user", "content": complaint}]
        body = {"model": self.model, "messages": messages, "seed": self._seed, **self.sampling.document()}
        if self.schema is not None:
            held = {"name": re.sub(r"\W", "_", self.prompt)[:64], "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": held}
        return body

    @property
    def _seed(self) -> int:
        return int(self.id[:_SEED_CHARACTERS], 16)
