"""Candidates in words as UltraVR's records, of whatever domain."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from gigavqa.construction.candidates import Candidate, QuestionText
from gigavqa.construction.recipes.recipe import RecipeQuota

CATEGORY_QUOTA = RecipeQuota(per_image=3, per_build=40)
"""The paper has about 40 questions of a category of a domain."""


def ultravr_record(
    candidate: Candidate,
    text: QuestionText,
    kind: Mapping[str, str],
    steps: Sequence[Mapping[str, Any]],
    evidence: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the record of a question; `kind` has domain, category and subcategory.

    Without options the answer is that of the text. Evidence in pixels and ids of annotations stand beside the fields
    that UltraVR has, where no prompt shows them.
    """
    options = dict(zip(ascii_uppercase, text.options, strict=False))
    answer = next((letter for letter, option in options.items() if option == text.answer), str(text.answer))
    return {
        "id": candidate.id,
        **kind,
        "image": candidate.image,
        "question": text.question,
        **({"options": options} if options else {}),
        "answer": answer,
        "reasoning_supervision": {"step_type": "multi_step_qa", "steps": list(steps)},
        "evidence": dict(evidence),
        "boxes": [list(box) for box in candidate.boxes],
        "objects": list(candidate.objects),
    }
