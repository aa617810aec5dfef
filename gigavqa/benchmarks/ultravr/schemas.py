"""The fixed step schemas of appendix F: step ids and answer formats by domain and category."""

from gigavqa.benchmarks.ultravr.samples import AnswerFormat
from gigavqa.benchmarks.ultravr.taxonomy import Category, Domain

StepSchema = dict[str, AnswerFormat]


def _numbered(formats: str) -> StepSchema:
    return {f"S{number}": _SHORT[short] for number, short in enumerate(formats.split(), start=1)}


_SHORT: dict[str, AnswerFormat] = {
    "bool": "boolean",
    "int": "integer",
    "choice": "multiple_choice",
    "box": "bbox_coordinates",
    "unit-box": "bbox_coordinates_normalized",
    "boxes": "bbox_coordinates_list",
}

WSI_FORMATS: StepSchema = {
    "Q1": "multi_select",
    "Q2": "single_choice",
    "Q2.1": "roi_list",
    "Q3": "single_choice",
    "Q4": "multi_select",
    "Q5": "single_choice",
    "Q5.1": "multi_select",
    "Q5.2": "multi_select",
    "Q6.1": "multi_select",
    "Q6.2": "single_choice",
    "Q6.3": "short_text",
}

SCHEMAS: dict[tuple[Domain, Category], StepSchema] = {
    ("cctv", "comparison"): _numbered("bool boxes int bool boxes int int int choice choice choice"),
    ("cctv", "logical_verification"): _numbered("boxes int boxes int boxes int boxes int int choice bool bool choice"),
    ("cctv", "relational_inference"): _numbered("unit-box unit-box choice choice choice choice choice"),
    ("rs", "comparison"): _numbered("box bool boxes int box bool boxes int int"),
    ("rs", "logical_verification"): _numbered("boxes int boxes int bool"),
    ("rs", "relational_inference"): _numbered("bool box bool box bool"),
    ("wsi", "comparison"): WSI_FORMATS,
    ("wsi", "logical_verification"): WSI_FORMATS,
    ("wsi", "relational_inference"): WSI_FORMATS,
}
"""AD has no fixed formats: its steps run from S1 to the product's last step, see `operations.py`."""

_CONDITIONAL = frozenset({"Q2.1", "Q3", "Q4", "Q5.1", "Q5.2"})

NULLABLE: dict[tuple[Domain, Category], frozenset[str]] = {
    ("rs", "relational_inference"): frozenset({"S2", "S4", "S5"}),
    ("wsi", "comparison"): _CONDITIONAL,
    ("wsi", "logical_verification"): _CONDITIONAL,
    ("wsi", "relational_inference"): _CONDITIONAL,
}
"""Steps that may not apply, as the answers before them have it; their ground truth is then null."""
