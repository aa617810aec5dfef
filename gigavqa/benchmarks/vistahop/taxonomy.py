"""Groups of questions: levels of hops, categories, forms of reasoning, types of answers, kinds of anchors."""

from collections.abc import Mapping
from typing import Final

LEVELS: Final = ("L1", "L2", "L3")
_FIRST_OF_L2, _FIRST_OF_L3 = 5, 10

CATEGORIES: Final = ("Life", "Science", "Society", "Technology", "Culture")
FORMS: Mapping[str, str] = {
    "single": "single evidence chain",
    "arithmetic": "arithmetic fusion",
    "temporal": "temporal comparison",
    "conditional": "conditional selection",
    "cross_anchor": "cross-anchor entity fusion",
}
FUSED = frozenset(FORMS) - {"single"}
"""Forms that join several chains."""
ANSWER_TYPES: Mapping[str, str] = {
    "entity": "entity or name",
    "date": "date or year",
    "count": "count or number",
    "location": "location",
    "comparative": "comparative or selection",
}
ANCHOR_KINDS: Mapping[str, str] = {
    "logo": "organization or logo",
    "text": "text or sign",
    "product": "product or object",
    "landmark": "landmark or place",
    "person": "person, event or symbol",
}
_OTHER_WORDS: Mapping[str, str] = {
    "name": "entity", "year": "date", "number": "count", "comparison": "comparative", "selection": "comparative",
    "organization": "logo", "sign": "text", "object": "product", "place": "landmark", "event": "person",
    "symbol": "person",
}  # fmt: skip
"""The second words of the paper's own names of types and kinds."""


def level_of(hops: int | None) -> str:
    """Return the level of a question with so many hops, over all its chains; empty where they are not known."""
    if hops is None:
        return ""
    return "L3" if hops >= _FIRST_OF_L3 else "L2" if hops >= _FIRST_OF_L2 else "L1"


def plain_label(label: object, known: Mapping[str, str]) -> object:
    """Return a label as the house writes it; what is none stays as it is, so that a message can name it."""
    if not isinstance(label, str):
        return label
    word = label.strip().lower().replace("-", "_").replace(" ", "_").partition("/")[0]
    word = word if word in known else _OTHER_WORDS.get(word, word)
    return word if word in known else label
