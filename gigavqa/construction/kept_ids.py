"""Ids by which an annotation is known again in the next version of its file, wherever it stands there then.

They are the ids that a file gives its annotations, and those that exports of ours to tools carry.
"""

NAME = "gigavqa"
"""What names of ours in a tool's file begin with; readers take them for nothing that people said."""
_MARK = f"{NAME}:"


def written_id(annotation: str) -> str:
    """Return an annotation's id as a tool's file holds it."""
    return f"{_MARK}{annotation}"


def kept_id(text: object) -> str:
    """Return the annotation's id that a text of a tool's file holds; '' for any other text."""
    return text.removeprefix(_MARK) if isinstance(text, str) and text.startswith(_MARK) else ""


def own_id(file: str, id: object) -> str:
    """Return the annotation's id of one that its file has an id for; '' where it has none."""
    return f"{file}#id{id}" if isinstance(id, int | str) and not isinstance(id, bool) and id != "" else ""


def is_own_id(file: str, text: str) -> bool:
    """Return whether an annotation's id is one that its file gave it."""
    return text.startswith(f"{file}#id")
