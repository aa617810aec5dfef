"""The sentences of prompts on the pictures before them, by version: the sentence of a job that was asked earlier
stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from gigavqa.benchmarks.ultravr.prompts import read_texts
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.benchmark import TEXT_CONDITIONS

ConditionTextVersion = Literal["conditions/2", "conditions/1"]
CURRENT_VERSION: ConditionTextVersion = get_args(ConditionTextVersion)[0]

_FIXED_TEXTS, _DESCRIPTIVE_TEXTS = read_texts("conditions"), read_texts("conditions-1")


@dataclass(frozen=True)
class LocalEvidence:
    """The local evidence of a prompt: how many crops of what, and what may be said of them."""

    kind: Literal["quadrants", "rois", "sheet"]
    number: int
    slots: Mapping[str, object]


def condition_text(
    version: ConditionTextVersion, condition: Condition, num_images: int, local: LocalEvidence | None
) -> str:
    """Return what a prompt says of what a condition shows; `local` is the evidence that V3 and V4 show."""
    words = fixed_text if version == CURRENT_VERSION else descriptive_text
    return words(condition, num_images, local)


def fixed_text(condition: Condition, num_images: int, local: LocalEvidence | None) -> str:
    """Say the same under V1 to V4 (section 5.2).

    V3 of a grid adds where the sheet lies: without, no row or column of the full grid can be told from the sheet alone.
    """
    if condition in TEXT_CONDITIONS:
        return _FIXED_TEXTS["text_only"]
    place = _FIXED_TEXTS["sheet"].format(**local.slots) if local and local.kind == "sheet" and condition == "V3" else ""
    return " ".join(filter(None, (_FIXED_TEXTS["shown"], place)))


def descriptive_text(condition: Condition, num_images: int, local: LocalEvidence | None) -> str:
    """Describe what each condition shows, as jobs of version conditions/1 did."""
    texts = _DESCRIPTIVE_TEXTS
    if condition in TEXT_CONDITIONS:
        return texts["text_only"]
    if local is None:
        name = "thumbnail" if condition == "V1" else "full"
        return texts[name if num_images == 1 else f"{name}s"].format(count=num_images)
    number = "one" if local.number == 1 else "several"
    if condition == "V3":
        return _describe_evidence(local, texts[number])
    whole = texts["full_and_local" if num_images == 1 else "fulls_and_local"]
    return whole.format(count=num_images, local=_describe_evidence(local, texts[f"{number}_after_full"]))


def _describe_evidence(local: LocalEvidence, which: str) -> str:
    slots = {**local.slots, "count": local.number}
    name = local.kind if local.number > 1 or local.kind == "sheet" else local.kind.removesuffix("s")
    return _DESCRIPTIVE_TEXTS[name].format(which=which.format(**slots), **slots)
