"""UltraVR's domains, categories and fixed subcategories (section 3.1, appendix F)."""

from typing import Literal

Domain = Literal["cctv", "rs", "wsi", "ad"]
Category = Literal[
    "comparison", "logical_verification", "relational_inference", "logical_anomaly", "structural_anomaly"
]
Quadrant = Literal["upper-left", "upper-right", "lower-left", "lower-right"]

DOMAINS: tuple[Domain, ...] = ("cctv", "rs", "wsi", "ad")
QUADRANTS: tuple[Quadrant, ...] = ("upper-left", "upper-right", "lower-left", "lower-right")
LETTERS = "ABCD"

_REASONING: tuple[Category, ...] = ("comparison", "logical_verification", "relational_inference")
CATEGORIES: dict[Domain, tuple[Category, ...]] = {
    "cctv": _REASONING,
    "rs": _REASONING,
    "wsi": _REASONING,
    "ad": ("logical_anomaly", "structural_anomaly"),
}

SUBCATEGORIES: dict[tuple[Domain, Category], str] = {
    ("cctv", "comparison"): "attribute_bundle_count_difference",
    ("cctv", "logical_verification"): "joint_count_and_region_extremum_verification",
    ("cctv", "relational_inference"): "relative_position_between_red_green_targets",
    ("rs", "comparison"): "conditioned_count_comparison",
    ("rs", "logical_verification"): "orientation_verification",
    ("rs", "relational_inference"): "adjacent_region_extreme_object_relation",
}
"""The fixed subcategories of appendix F; those of WSI (T1-T4) and AD (the product) are free."""
