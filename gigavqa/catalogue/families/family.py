"""Families of models, and the marks that they write around parts of their text.

Marks are kept in raw text, and cut by who reads or repeats it. Sources: the families' chat templates and tokenizers,
and vLLM 0.32, parser/{qwen3,glm47_moe,gemma4,minicpmv}.py, transformers_utils/processors/deepseek_vl2.py and
transformers_utils/chat_templates.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gigavqa.catalogue.config_fields import ConfigFields
from gigavqa.tiling.budgets.base import NativeBudget

FamilyConfig = Mapping[str, Any]
BoxConvention = Literal["unit", "thousand", "pixels"]
"""How boxes are written: 0-1, 0-1000, or absolute pixels of the raster."""

THINK_MARKS = ("<think>", "</think>")
THINKING_TEMPLATE: FamilyConfig = {"enable_thinking": True}
CHATML_END_MARKS = ("<|im_end|>", "<|endoftext|>")
TOOL_CALL_MARKS = ("<tool_call>", "</tool_call>")
REFERENCE_MARKS = ("<ref>", "</ref>", "<box>", "</box>")


def fields_of(config: FamilyConfig) -> ConfigFields:
    """Return the fields of a config.json, which raise CheckpointInvalidError for what is no number."""
    return ConfigFields(config, "config.json")


def processing_fields(processing: FamilyConfig) -> ConfigFields:
    """Return the fields of what the image processor is configured with."""
    return ConfigFields(processing, "preprocessor_config.json")


def token_side(config: FamilyConfig, processing: FamilyConfig, *, patch_size: int) -> int:
    """Return the pixels along a side of what becomes one token, of which the two files must say the same."""
    processor, tower, side = processing_fields(processing), fields_of(config).part("vision_config"), 1
    for name, towers_name, default in (
        ("patch_size", "patch_size", patch_size),
        ("merge_size", "spatial_merge_size", 2),
    ):
        value = processor.number(name, default=default)
        if (other := tower.number(towers_name, default=value)) != value:
            raise tower.wrong(towers_name, f"is {other}, and {name} of preprocessor_config.json {value}")
        side *= value
    return side


@dataclass(frozen=True)
class TextMarks:
    """`thought` and `answer` open and close what is only thought, and what is the answer.

    `places` stand around names and boxes, `calls` around tool calls; `others` are text of no further meaning. `ends`
    end a turn and are no part of its text. Where `is_opened_by_prompt`, the chat template writes the opening mark of
    the thought once thinking is enabled: raw text then has the closing one alone, or none when the thought was cut off.
    """

    thought: tuple[str, str] | None = None
    answer: tuple[str, str] | None = None
    places: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    is_opened_by_prompt: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """Every mark that raw text may hold."""
        return (*(self.thought or ()), *(self.answer or ()), *self.places, *self.calls, *self.others)

    def without_thought(self, text: str, *, thinks: bool) -> str:
        """Return what a later turn of a chat repeats of `text`: what follows the thought; nothing where it never ended.

        Every family asks for that, and not every chat template sees to it. `thinks` says whether thinking is enabled.
        """
        if self.thought is None:
            return text
        opening, closing = self.thought
        if closing not in text and opening not in text:
            return "" if thinks and self.is_opened_by_prompt else text
        after = text.rpartition(closing)[2].lstrip("\n") if closing in text else text
        return after.partition(opening)[0]


@dataclass(frozen=True)
class Family:
    """One family of models that can be served from a bare checkpoint.

    `model_types` are what its configurations call it, or the architectures where checkpoints disagree on that;
    `architectures` are the classes that they may name for the engine to load. `budget` reads the limits that a
    checkpoint declares, in config.json and for its image processor, where the published ones keep them; what they leave
    out is what the family's processor assumes, and a value of the wrong type is refused with its field.
    `has_processing` says whether they stand in the files of its image processor, which must exist then; `remote_code`
    whether its tokenizer is code that comes with its checkpoints, which nothing here stands in for; `latent_attention`
    whether keys and values are cached as one latent vector (MLA), `linear_attention` whether some layers keep a state,
    `sliding_attention` whether some see only what is near. `writes_json_calls` says whether its chat template
    declares tools in Qwen's words and writes calls as JSON between `TOOL_CALL_MARKS`, which vLLM reads by its parser
    `hermes`. Of a family that `is_closed` there
    are no checkpoints, or none that the engine can serve: `budget` gives what its vendor documents.
    """

    name: str
    model_types: tuple[str, ...]
    box_convention: BoxConvention
    budget: Callable[[FamilyConfig, FamilyConfig], NativeBudget]
    marks: TextMarks
    architectures: tuple[str, ...] = ()
    chat_template: Mapping[str, Any] = field(default_factory=dict)
    has_processing: bool = True
    remote_code: bool = False
    latent_attention: bool = False
    linear_attention: bool = False
    sliding_attention: bool = False
    writes_json_calls: bool = False
    is_closed: bool = False
