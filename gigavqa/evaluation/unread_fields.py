"""Fields of records that no reader took: named once a file, so that nothing vanishes unsaid."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from gigavqa.evaluation.errors import Problem
from gigavqa.runtime.plurals import count_noun, list_some
from gigavqa.runtime.suggestions import did_you_mean

_MOST_NAMED = 40
_LIKENESS = 0.75  # most of what is not read was never meant to be


def report_unread_fields(counts: Mapping[str, Counter[str]], known: Collection[str]) -> Iterator[Problem]:
    """One sentence for each file of which something was not read, with the number of records that have it.

    `known` are the names that the benchmark reads, one of which may have been meant.
    """
    for file, fields in counts.items():
        named = [_name_fields(name, number, known) for name, number in sorted(fields.items())]
        if named:
            yield Problem(file, None, None, f"not read: {list_some(named, _MOST_NAMED)}")


def _name_fields(name: str, number: int, known: Collection[str]) -> str:
    often = count_noun(number, "record") if number else ""
    # A part of a field that is read, and a name that is read elsewhere, are no slips.
    is_meant = not name.isidentifier() or name in known
    close = "" if is_meant else did_you_mean(name, known, _LIKENESS)
    told = f"{often}{close}".removeprefix("; ")
    return f"{name} ({told})" if told else name
