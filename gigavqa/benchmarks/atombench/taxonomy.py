"""ATOM-Bench's labels: what clue questions are about, and how hard conclusion questions are (section 3.3, Table 1)."""

from collections.abc import Mapping
from typing import Literal

QuestionLevel = Literal["clue", "conclusion"]
"""A question about one visual clue, or about where the picture was taken (or which clue decides that)."""
Scope = Literal["macro", "mid", "micro"]
Certainty = Literal["high", "medium", "low"]
Difficulty = Literal["easy", "medium", "hard"]
ConclusionKind = Literal["location", "decisive_clue"]

LEVELS: tuple[QuestionLevel, ...] = ("clue", "conclusion")
SCOPES: tuple[Scope, ...] = ("macro", "mid", "micro")
CERTAINTIES: tuple[Certainty, ...] = ("high", "medium", "low")
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")
MOST_STEPS = 6
"""The longest sequence of clues that the paper draws (Figure 3b)."""

WEIGHTS: Mapping[str, int] = {"easy": 1, "medium": 2, "hard": 3}
"""How much a conclusion question weighs in RRS (equation 4)."""

DOMAINS: Mapping[str, tuple[str, ...]] = {
    "built_environment": ("architectural_style", "regional_architecture", "unique_structures"),
    "social_characteristics": ("clothing_customs", "street_characteristics", "transportation"),
    "structured_symbols": ("currency_flags", "language_signs", "license_plates"),
    "natural_characteristics": ("climate", "geographical_features", "natural_landmarks"),
}
"""The domains of each dimension, in the order of Table 3's columns."""
DIMENSION_OF: Mapping[str, str] = {domain: name for name, domains in DOMAINS.items() for domain in domains}

TITLES: Mapping[str, str] = {
    "built_environment": "Built Environment Interpretation",
    "social_characteristics": "Social Characteristic Awareness",
    "structured_symbols": "Structured Symbolic Analysis",
    "natural_characteristics": "Natural Characteristic Understanding",
    "architectural_style": "Architectural Style",
    "regional_architecture": "Regional Architecture",
    "unique_structures": "Unique Structures",
    "clothing_customs": "Clothing & Customs",
    "street_characteristics": "Street Characteristics",
    "transportation": "Transportation",
    "currency_flags": "Currency & Flags",
    "language_signs": "Language & Signs",
    "license_plates": "License Plates",
    "climate": "Climate",
    "geographical_features": "Geographical Features",
    "natural_landmarks": "Natural Landmarks",
}
"""What tables call dimensions and domains; records may, too."""
PRINTED: Mapping[str, str] = {
    "language on signs": "language_signs",
    "reg. arch.": "regional_architecture",
    "cloth. & cust.": "clothing_customs",
    "transport.": "transportation",
    "curr. & flags": "currency_flags",
    "language": "language_signs",
    "lic. plates": "license_plates",
    "geography": "geographical_features",
    "nat. land.": "natural_landmarks",
    "built environ.": "built_environment",
    "soc. chars.": "social_characteristics",
    "social chars.": "social_characteristics",
    "struct. symbol": "structured_symbols",
    "struct. symbols": "structured_symbols",
    "nat. chars.": "natural_characteristics",
    "mid-level": "mid",
}
"""How Tables 1, 3 and 4 print labels otherwise, in small letters."""
