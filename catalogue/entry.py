"""One servable model, as its TOML file describes it."""

import re
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from catalogue.families.family import BoxConvention, Family
from catalogue.families.registry import FAMILIES, AnyBudget

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
"""A name on Hugging Face: owner and repository."""


class Decoding(BaseModel):
    """Sampling parameters of a model's answers. The defaults are those that papers on such images use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=0.7, ge=0, le=2)
    top_p: float = Field(default=0.95, gt=0, le=1)
    top_k: int = Field(default=20, ge=-1, le=1_000_000, description="-1 or 0 considers all tokens")
    repetition_penalty: float = Field(default=1.0, gt=0, le=2)
    max_tokens: PositiveInt = Field(default=32768, description="output tokens per turn")


class Gpus(BaseModel):
    """GPUs that hold a model with a useful context: estimated from the size of its weights, not measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: PositiveInt = 1
    memory_gib: PositiveInt = Field(description="memory of each")


class CatalogueEntry(BaseModel):
    """Weights, family, visual budget and arguments of one model.

    `weights` is a Hugging Face id, a folder, or `built-in:NAME` for a checkpoint that this project builds from code.
    `engine` holds arguments of vLLM's AsyncEngineArgs; `chat_template` those of the chat template. Code that comes with
    weights from Hugging Face runs only where `trust_remote_code` allows it and `revision` pins the commit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    title: str
    aliases: tuple[str, ...] = Field(
        default=(), description="other names that chats may ask for it by, whatever their case"
    )
    weights: str
    revision: str | None = None
    family: str
    licence: str
    visual_budget: AnyBudget
    published_budget: AnyBudget | None = Field(
        default=None, description="what the checkpoint's own files say, where `visual_budget` differs from it"
    )
    max_model_len: PositiveInt = Field(description="context, in tokens, prompt and answer together")
    box_convention: BoxConvention = Field(
        description="how the family writes boxes: 0-1, 0-1000, or absolute pixels of the raster"
    )
    decoding: Decoding = Decoding()
    engine: dict[str, Any] = {}
    chat_template: dict[str, Any] = {}
    trust_remote_code: bool = False
    random_weights: bool = Field(default=False, description="answers mean nothing; reports say so")
    gpus: Gpus | None = None
    tested: str = Field(default="not tested", description="how it is known that this entry can be served")
    notes: tuple[str, ...] = Field(default=(), description="what an operator should know")

    @property
    def known_family(self) -> Family | None:
        """What is known of the family that the entry names; None for one that only its operator knows."""
        return FAMILIES.get(self.family)

    def in_history(self, text: str) -> str:
        """What later turns of a chat with this model repeat of its own raw `text`; see `Marks.without_thought`."""
        family = self.known_family
        if family is None:
            return text
        return family.marks.without_thought(text, thinks=bool(self.chat_template.get("enable_thinking")))

    @model_validator(mode="after")
    def _pinned_code(self) -> Self:
        if self.trust_remote_code and self.revision is None and HUB_ID.fullmatch(self.weights):
            raise ValueError("trust_remote_code of weights from Hugging Face needs a pinned revision")
        return self
