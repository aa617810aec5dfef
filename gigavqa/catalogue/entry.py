"""One servable model, as its TOML file describes it."""

import re
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from gigavqa.catalogue.families.family import BoxConvention, Family
from gigavqa.catalogue.families.registry import FAMILIES, AnyBudget
from gigavqa.catalogue.families.texts import TextBudget
from gigavqa.catalogue.gpus import GpuRequirement

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
"""A name on Hugging Face: owner and repository."""

BUILT_IN_PREFIX = "built-in:"
_REMOTE_PREFIX = "remote:"
PUBLISHED_SUFFIX = "-published"
"""Of the id of a model at its published budget, which stands in the file of the entry without it."""

_UNPLANNED = frozenset({"device"})
"""Arguments of image processors that say where they work, and nothing of what they make."""

MIN_ANSWER_TOKENS = 1024
"""Tokens that a prompt must leave of the context for an answer, or `max_tokens` where that is less."""

MAX_PROMPT_IMAGES = 64
"""Pictures of a prompt at most: what engines are started with, and jobs are checked against."""


class Decoding(BaseModel):
    """Sampling parameters of a model's answers. The defaults are those that papers on such images use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=0.7, ge=0, le=2)
    top_p: float = Field(default=0.95, gt=0, le=1)
    top_k: int = Field(default=20, ge=-1, le=1_000_000, description="-1 or 0 considers all tokens")
    repetition_penalty: float = Field(default=1.0, gt=0, le=2)
    presence_penalty: float = Field(default=0.0, ge=-2, le=2, exclude_if=lambda penalty: penalty == 0)
    max_tokens: PositiveInt = Field(
        default=32768, description="output tokens per turn; where the prompt leaves less of the context, that"
    )


class Prices(BaseModel):
    """US dollars for a million tokens, as somebody is billed; of cached ones as of others where nothing is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: NonNegativeFloat
    cached: NonNegativeFloat | None = None
    completion: NonNegativeFloat

    def of(self, prompt: int, cached: int, completion: int) -> float:
        """Return what so many tokens cost; those that were `cached` are part of the prompt's."""
        cheap = self.prompt if self.cached is None else self.cached
        return ((prompt - cached) * self.prompt + cached * cheap + completion * self.completion) / 1e6


class RemoteTerms(BaseModel):
    """The terms on which a remote endpoint is asked for the model. `endpoint` is its vendor's: shown to people, and
    asked only where somebody has named it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str | None = None
    key: str | None = Field(default=None, description="variable that the vendor's clients read the key from")
    detail: Literal["auto", "low", "high", "original"] | None = Field(
        default=None, description="sent with each picture, where the server's own choice would not be the budget's"
    )
    limit: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="name of the parameter that bounds an answer"
    )
    not_sent: frozenset[str] = Field(default=frozenset(), description="parameters that the server refuses or ignores")
    extra: dict[str, Any] = Field(default={}, description="sent with every request as it stands")
    prices: Prices | None = None


class CatalogueEntry(BaseModel):
    """Weights, family, visual budget and arguments of one model.

    `weights` is a Hugging Face id, a folder, `built-in:NAME` for a small checkpoint that comes with this project or
    beside a plugin's entry, or `remote:NAME` for a model that only servers of somebody else's have, under that name;
    `remote` says how those are asked, also for the other models. `engine` holds arguments of vLLM's AsyncEngineArgs;
    `chat_template` those of the chat template. Code that comes with weights from Hugging Face runs only where
    `trust_remote_code` allows it and `revision` pins the commit.
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
    visual_budget: AnyBudget = Field(
        default_factory=TextBudget, description="how it is shown pictures; one without takes texts alone"
    )
    published_budget: AnyBudget | None = Field(
        default=None,
        description="what the checkpoint's files, or the vendor, say where `visual_budget` differs",
    )
    max_model_len: PositiveInt = Field(description="context, in tokens, prompt and answer together")
    box_convention: BoxConvention = Field(
        default="unit", description="how the family writes boxes: 0-1, 0-1000, or absolute pixels of the raster"
    )
    decoding: Decoding = Decoding()
    engine: dict[str, Any] = {}
    remote: RemoteTerms = RemoteTerms()
    chat_template: dict[str, Any] = {}
    trust_remote_code: bool = False
    base_model: str | None = Field(default=None, description="language model that it is built on")
    access: Literal["private", "open", "open thinking"] | None = Field(
        default=None, description="group in tables of papers: closed, with open weights, or those that think by default"
    )
    billions: PositiveFloat | None = Field(default=None, description="parameters of all its parts, in billions")
    random_weights: bool = Field(default=False, description="answers mean nothing; reports say so")
    trained_for: str = Field(
        default="", description="the one benchmark that its training was for; reports on others say so"
    )
    gpus: GpuRequirement | None = None
    tested: str = Field(default="not tested", description="how it is known that this entry can be served")
    notes: tuple[str, ...] = Field(default=(), description="what an operator should know")

    @property
    def known_family(self) -> Family | None:
        """The family that the entry names; None for one that only its operator knows."""
        return FAMILIES.get(self.family)

    def at_published_budget(self) -> "CatalogueEntry | None":
        """Return the same model as its checkpoint's own files have it shown pictures; None where nothing differs.

        An engine has one budget, so that it is an entry of its own, with a worker of its own.
        """
        if self.published_budget is None:
            return None
        changes = {
            "id": f"{self.id}{PUBLISHED_SUFFIX}",
            "title": f"{self.title}, published budget",
            "aliases": (),
            "visual_budget": self.published_budget,
            "published_budget": None,
            "notes": (f"The budget of the checkpoint's own files; {self.id} has the largest one that papers gave it.",),
        }
        return self.model_copy(update=changes)

    @property
    def is_closed(self) -> bool:
        """Whether no weights can be had, or vLLM has no such model, so that only a server elsewhere has it."""
        return self.weights.startswith(_REMOTE_PREFIX)

    @property
    def tensor_parallel_size(self) -> int:
        """GPUs over which one engine of it is spread."""
        return int(self.engine.get("tensor_parallel_size") or 1)

    @property
    def takes_pictures(self) -> bool:
        """Whether it may be shown any."""
        return not isinstance(self.visual_budget, TextBudget)

    @property
    def remote_names(self) -> tuple[str, ...]:
        """Names that a server may have for the model, unless its operator chose one of his own."""
        return (self.weights.removeprefix(_REMOTE_PREFIX),) if self.is_closed else (self.id, self.weights)

    def in_history(self, text: str) -> str:
        """Return what later turns of a chat with this model repeat of its own raw `text`.

        See `Marks.without_thought`.
        """
        family = self.known_family
        if family is None:
            return text
        return family.marks.without_thought(text, thinks=bool(self.chat_template.get("enable_thinking")))

    @property
    def unthinking(self) -> dict[str, bool]:
        """Arguments of the chat template by which it opens no thought; none where it does not by itself.

        What comes before the answer is the same with them, so that it keeps its place in caches.
        """
        family = self.known_family
        opens = family is not None and family.marks.is_opened_by_prompt and self.chat_template.get("enable_thinking")
        return {"enable_thinking": False} if opens else {}

    @model_validator(mode="after")
    def _boxes_are_written_somehow(self) -> Self:
        if self.takes_pictures and "box_convention" not in self.model_fields_set:
            raise ValueError("box_convention is missing: say unit, thousand or pixels")
        return self

    @model_validator(mode="after")
    def _a_picture_has_tokens(self) -> Self:
        if self.takes_pictures and self.visual_budget.max_visual_tokens < 1:
            raise ValueError(
                "visual_budget allows less than one token of a picture (a checkpoint declares it in "
                "preprocessor_config.json: size, max_pixels): take it as it was published"
            )
        return self

    @model_validator(mode="after")
    def _processor_is_the_budgets(self) -> Self:
        """Rasters and their tokens are planned by the budget; another word to the processor would part them."""
        own, planned = self.engine.get("mm_processor_kwargs", {}), self.visual_budget.processor_kwargs()
        if not isinstance(own, dict):
            raise ValueError("engine.mm_processor_kwargs is to be a table")
        said = [name for name, value in own.items() if name not in _UNPLANNED and planned.get(name) != value]
        if said:
            raise ValueError(
                f"engine.mm_processor_kwargs says {', '.join(sorted(said))}, by which pictures would not be those that "
                f"visual_budget plans: change visual_budget; only {', '.join(sorted(_UNPLANNED))} may be said beside it"
            )
        return self

    @model_validator(mode="after")
    def _pinned_code(self) -> Self:
        if self.trust_remote_code and self.revision is None and HUB_ID.fullmatch(self.weights):
            raise ValueError("trust_remote_code of weights from Hugging Face needs a pinned revision")
        return self
