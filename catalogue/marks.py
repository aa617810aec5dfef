"""The marks that a model family writes around parts of its text: kept in raw text, cut by who reads or repeats it.

Sources: the families' chat templates and tokenizers, and vLLM 0.32, parser/{qwen3,glm47_moe,gemma4,minicpmv}.py,
transformers_utils/processors/deepseek_vl2.py and transformers_utils/chat_templates.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Marks:
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
        """What a later turn of a chat repeats of `text`: what follows the thought; nothing where it never ended.

        Every family asks for that, and not every chat template sees to it. `thinks` says whether thinking is enabled.
        """
        if self.thought is None:
            return text
        opening, closing = self.thought
        if closing not in text and opening not in text:
            return "" if thinks and self.is_opened_by_prompt else text
        after = text.rpartition(closing)[2].lstrip("\n") if closing in text else text
        return after.partition(opening)[0]


_CHATML_ENDS = ("<|im_end|>", "<|endoftext|>")
THINK = ("<think>", "</think>")
BOX = ("<|begin_of_box|>", "<|end_of_box|>")
_QWEN_PLACES = ("<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>")
_QWEN_CALLS = ("<tool_call>", "</tool_call>")
_REF_PLACES = ("<ref>", "</ref>", "<box>", "</box>")

QWEN25_VL = Marks(places=_QWEN_PLACES, calls=_QWEN_CALLS, ends=_CHATML_ENDS)
QWEN3_VL = Marks(thought=THINK, places=_QWEN_PLACES, calls=_QWEN_CALLS, ends=_CHATML_ENDS)
QWEN35 = Marks(thought=THINK, places=_QWEN_PLACES, calls=_QWEN_CALLS, ends=_CHATML_ENDS, is_opened_by_prompt=True)
GLM4V = Marks(
    thought=THINK,
    answer=BOX,
    calls=("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ends=("<|endoftext|>", "<|user|>", "<|observation|>"),
)
GEMMA4 = Marks(
    thought=("<|channel>", "<channel|>"),
    calls=("<|tool_call>", "<tool_call|>", '<|"|>'),
    ends=("<turn|>", "<eos>"),
)
INTERNVL = Marks(thought=THINK, places=_REF_PLACES, calls=_QWEN_CALLS, ends=_CHATML_ENDS)
DEEPSEEK_VL2 = Marks(
    places=("<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>"),
    others=("<｜▁pad▁｜>",),
    ends=("<｜end▁of▁sentence｜>",),
)
MINICPM_V = Marks(thought=THINK, places=_REF_PLACES, calls=_QWEN_CALLS, ends=_CHATML_ENDS, is_opened_by_prompt=True)
PHI4_VISION = Marks(thought=THINK, others=("<nothink>",), ends=_CHATML_ENDS)
KIMI_VL = Marks(thought=("◁think▷", "◁/think▷"), ends=("<|im_end|>", "[EOS]"))
