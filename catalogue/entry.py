"""One servable model, as its TOML file describes it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from tiling.budgets.registry import AnyBudget


class Decoding(BaseModel):
    """Sampling parameters of a model's answers. Defaults: UltraVR, appendix D.1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=0.7, ge=0, le=2)
    top_p: float = Field(default=0.95, gt=0, le=1)
    top_k: int = Field(default=20, ge=-1, description="-1 or 0 considers all tokens")
    repetition_penalty: float = Field(default=1.0, gt=0, le=2)
    max_tokens: PositiveInt = Field(default=32768, description="output tokens per turn")


class CatalogueEntry(BaseModel):
    """Weights, family, visual budget and arguments of one model.

    `weights` is a Hugging Face id, a folder, or `built-in:NAME` for a checkpoint that this project builds from code.
    `engine` holds arguments of vLLM's AsyncEngineArgs; `chat_template` those of the chat template.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    title: str
    weights: str
    revision: str | None = None
    family: str
    licence: str
    visual_budget: AnyBudget
    max_model_len: PositiveInt = Field(description="context, in tokens, prompt and answer together")
    box_convention: Literal["unit", "thousand", "pixels"] = Field(
        description="how the family writes boxes: 0-1, 0-1000, or absolute pixels of the raster"
    )
    decoding: Decoding = Decoding()
    engine: dict[str, Any] = {}
    chat_template: dict[str, Any] = {}
    trust_remote_code: bool = False
    random_weights: bool = Field(default=False, description="answers mean nothing; reports say so")
