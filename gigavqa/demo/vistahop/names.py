"""Invents names, so that no model knows any of them, and look-alikes that differ in one letter."""

from collections.abc import Iterator

import numpy as np

from gigavqa.demo.errors import LayoutError

_ONSETS = ("B", "Br", "D", "Dr", "F", "G", "H", "K", "Kv", "L", "M", "N", "P", "Pr", "R", "Sk", "T", "Tr", "V", "Z")
_VOWELS = ("a", "e", "i", "o", "u")
_MIDDLES = ("ld", "lm", "nd", "rn", "rv", "sk", "sp", "st", "th", "vr", "zd")
_SECOND = ("b", "d", "f", "g", "k", "l", "m", "p", "r", "t", "v")
_ENDS = ("ck", "dor", "l", "mar", "n", "rix", "sk", "th", "vik", "x")
_ALIKE = {
    "A": "E", "B": "D", "C": "G", "D": "O", "E": "F", "F": "E", "G": "C", "I": "L", "K": "R", "L": "I", "M": "N",
    "N": "M", "O": "U", "P": "R", "R": "P", "S": "Z", "T": "F", "U": "O", "V": "Y", "X": "K", "Z": "S",
}  # fmt: skip
_ATTEMPTS = 10_000


class Names:
    """Names that nothing else is called by; no two of them differ in less than three places."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._taken: list[str] = []

    def word(self) -> str:
        """Return a name of one word."""
        for _ in range(_ATTEMPTS):
            word = "".join(self._pick(parts) for parts in (_ONSETS, _VOWELS, _MIDDLES, _VOWELS, _SECOND, _VOWELS))
            word += self._pick(_ENDS)
            if all(_far(word, other) for other in self._taken):
                self._taken.append(word)
                return word
        raise LayoutError(f"no name is left beside {len(self._taken)} others")

    def alike(self, sign: str) -> Iterator[str]:
        """Signs that differ from a sign in one letter, each in another place."""
        for at in self._rng.permutation(len(sign)):
            if letter := _ALIKE.get(sign[at]):
                yield sign[:at] + letter + sign[at + 1 :]

    def _pick(self, parts: tuple[str, ...]) -> str:
        return parts[int(self._rng.integers(len(parts)))]


def _far(one: str, other: str) -> bool:
    """Return whether two words differ in three places at least."""
    differing = sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))
    return differing >= 3
