"""Ids of annotations that exports to tools carry, so that what is edited there is read as the same objects again."""

NAME = "gigavqa"
"""What names of ours in a tool's file begin with; readers take them for nothing that people said."""
_MARK = f"{NAME}:"


def written_id(annotation: str) -> str:
    """Return an annotation's id as a tool's file holds it."""
    return f"{_MARK}{annotation}"


def kept_id(text: object) -> str:
    """Return the annotation's id that a text of a tool's file holds; '' for any other text."""
    return text.removeprefix(_MARK) if isinstance(text, str) and text.startswith(_MARK) else ""
