"""Names that people mistype."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

_MOST_SUGGESTED = 2
_MOST_COMPARED = 5000  # a tenth of a second


def did_you_mean(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return "; did you mean 'a' or 'b'?" with the names that are close to `name`, or nothing where none is.

    `likeness` is the least, from 0 to 1, that counts as close. Of very many names only the first are compared.
    """
    spelt = {other.lower(): other for other in islice(known, _MOST_COMPARED)}
    swapped = [other for other in spelt if sorted(other) == sorted(name.lower())]  # short names are unlike at once
    close = swapped[:_MOST_SUGGESTED] or get_close_matches(name.lower(), list(spelt), _MOST_SUGGESTED, likeness)
    return f"; did you mean {' or '.join(repr(spelt[other]) for other in close)}?" if close else ""
