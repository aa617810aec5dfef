"""The eight kinds of relations, and which property is of which."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from gigavqa.construction.vistahop.knowledge.errors import KnowledgeError

RelationKind = Literal[
    "part_whole", "member_collection", "causal", "temporal", "spatial", "comparative", "attributive", "associative"
]
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
_TABLE = Path(__file__).parent / "properties.toml"


class PropertyTable:
    """Finds the kind of a property by its id, its label, or a kind's own name, whatever their case."""

    def __init__(self, kinds: Mapping[str, RelationKind], labels: Mapping[str, str]) -> None:
        self._kinds = dict(kinds)
        self._ids = {label.casefold(): name for name, label in labels.items()}
        self._labels = dict(labels)

    def kind(self, written: str) -> RelationKind | None:
        """Return the kind of a property; None for one that is in no table."""
        return self._kinds.get(self.id_of(written))

    def id_of(self, written: str) -> str:
        """Return the id of a property that is written by its id or label; what is unknown as it is."""
        word = written.strip()
        if word.upper() in self._kinds:
            return word.upper()
        folded = word.casefold()
        return self._ids.get(folded, folded.replace("-", "_") if folded.replace("-", "_") in RELATION_KINDS else word)

    def label(self, name: str) -> str:
        """Return what people call a property; its id where nobody says."""
        return self._labels.get(name, name)

    def order(self) -> Iterator[tuple[str, RelationKind]]:
        """Yield properties in the order of the table, then the kinds by their own names."""
        yield from self._kinds.items()

    def changed(self, path: Path) -> "PropertyTable":
        """Return the table with a file's entries in place of its own. Raises KnowledgeError."""
        kinds, labels = _read(path)
        return PropertyTable({**self._kinds, **kinds}, {**self._labels, **labels})


@cache
def property_table() -> PropertyTable:
    """Return the shipped table."""
    kinds, labels = _read(_TABLE)
    return PropertyTable({**kinds, **{kind: kind for kind in RELATION_KINDS}}, labels)


def _read(path: Path) -> tuple[dict[str, RelationKind], dict[str, str]]:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            f'{path}: {error}; it has sections such as [causal], with lines such as P50 = "author"'
        ) from error
    kinds: dict[str, RelationKind] = {}
    labels: dict[str, str] = {}
    for section, entries in read.items():
        kind = next((known for known in RELATION_KINDS if known == section), None)
        if kind is None or not isinstance(entries, dict):
            raise KnowledgeError(f"{path}: [{section}] is no kind of relation: {', '.join(RELATION_KINDS)}")
        for name, label in entries.items():
            if name in kinds or not isinstance(label, str):
                told = f"stands in [{kinds[name]}], too" if name in kinds else "has no label"
                raise KnowledgeError(f"{path}: {name} of [{section}] {told}; each property is of one kind")
            kinds[name], labels[name] = kind, label
    return kinds, labels
