"""The fixed answer spaces of steps and options (appendix F)."""

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Category, Domain

CLAIM_FAMILIES = ("difference_claim", "total_claim", "ratio_claim", "ordering_claim")
ORDERINGS = ("group_a_more", "group_b_more", "same_count")
DIRECTIONS = ("forward", "backward", "left", "right")
FRONT_BACK = {"a_is_in_front_of_b": "front", "a_is_behind_b": "back"}
LEFT_RIGHT = {"a_is_left_of_b": "left", "a_is_right_of_b": "right"}
RELATIONS = ("front-left", "front-right", "back-left", "back-right")

CLAIM_PATTERNS = {
    (True, True): ("count_match_and_region_match", "Both Claim A and Claim B are true."),
    (True, False): ("count_match_and_region_mismatch", "Only Claim A is true."),
    (False, True): ("count_mismatch_and_region_match", "Only Claim B is true."),
    (False, False): ("count_mismatch_and_region_mismatch", "Neither Claim A nor Claim B is true."),
}
"""Label of step S13 and text of the option, by the truth of claims A and B."""

STEP_CHOICES: dict[tuple[Domain, Category], dict[str, tuple[str, ...]]] = {
    ("cctv", "comparison"): {"S10": ORDERINGS, "S11": CLAIM_FAMILIES},
    ("cctv", "logical_verification"): {
        "S10": (*QUADRANTS, "tie"),
        "S13": tuple(label for label, _ in CLAIM_PATTERNS.values()),
    },
    ("cctv", "relational_inference"): {
        "S3": DIRECTIONS,
        "S4": DIRECTIONS,
        "S5": tuple(FRONT_BACK),
        "S6": tuple(LEFT_RIGHT),
        "S7": RELATIONS,
    },
}
"""What multiple-choice steps may be answered with, where the paper lists it."""

_FEATURES = (
    "Nuclear atypia",
    "Nuclear pleomorphism",
    "Hyperchromasia",
    "Mitoses",
    "Atypical mitoses",
    "Cell density",
    "Gland formation",
    "Lumen formation",
    "Keratinization",
    "Necrosis",
    "Apoptosis",
    "Infiltrative boundary",
    "Tumor-stroma interface",
    "Stromal/desmoplastic reaction",
    "Mucin production",
    "Architectural irregularity",
    "Loss of polarity",
    "Cell cohesion / discohesion",
    "Vascular / lymphovascular invasion suspicion",
)
_YES_NO = ("Yes", "No")

WSI_OPTIONS: dict[str, tuple[str, ...]] = {
    "Q1": (
        "Tumor-rich region",
        "Invasive component",
        "In-situ component",
        "Tumor-stroma interface",
        "Margin / edge area",
        "Necrotic area",
        "Hemorrhagic area",
        "Stromal/desmoplastic region",
        "Hotspot region with highest atypia/cellularity",
        "Background benign/normal tissue for comparison",
    ),
    "Q2": _YES_NO,
    "Q3": ("10x", "20x", "40x"),
    "Q4": _FEATURES,
    "Q5": _YES_NO,
    "Q5.1": (
        "Nottingham grading criteria",
        "DCIS grading criteria",
        "Margin assessment standard",
        "Lymphovascular invasion criterion",
        "Tumor budding criterion",
    ),
    "Q5.2": (
        "To improve reproducibility",
        "To resolve borderline morphology",
        "To distinguish competing interpretations",
        "To support grading/scoring consistency",
    ),
    "Q6.1": _FEATURES,
    "Q6.2": (
        "Cytologic malignancy",
        "Architectural abnormality",
        "Infiltrative growth",
        "Loss of normal organization",
        "Glandular differentiation",
        "Aggressive / high-grade morphology",
        "Stromal invasion pattern",
        "Malignant morphologic pattern",
    ),
    "Q6.3": (
        "A high-grade pattern",
        "An invasive component",
        "An in-situ component",
        "A malignant gland-forming component",
        "Others (Please justify)",
    ),
}
"""Option lists of the WSI steps that have one; Q2.1 takes integers from 1 to 36."""
