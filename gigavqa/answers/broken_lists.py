"""Whether a text breaks off amid a list of options, or amid a sentence that names some: more may have followed."""

import re
from collections.abc import Mapping

from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.set_sentences import SetReader, alone_in
from gigavqa.answers.text import is_ended, plain, sentences


def ends_in_list(text: str, reader: SetReader) -> bool:
    """Return whether a text ends with a word that more must follow, amid an option, or in a row that says nothing."""
    return _ends_open(text) or _ends_in_option(text, reader.options) or _ends_in_row(text, reader)


def _ends_open(text: str) -> bool:
    """Return whether a text ends with a word that more must follow, "A, C and"."""
    found = _OPEN.search(text[-_LONGEST_OPEN:])
    return found is not None and (len(found[0].strip()) > 1 or _CAPITAL.search(text) is not None)


def _ends_in_option(text: str, options: Mapping[str, str]) -> bool:
    """Return whether a text ends amid the words of an option behind its letter, "C. was" of "washers"."""
    found = _LABEL_LAST.search(text[-_LONGEST_LABEL:])
    if found is None or found["letter"] not in options:
        return False
    said, wording = plain(found["said"]), plain(options[found["letter"]])
    return said != wording and wording.startswith(said)


_LABEL_LAST, _LONGEST_LABEL = (
    re.compile(r"(?<![^\W_])(?P<letter>[A-Z])[.):]\s{0,3}(?P<said>[^\s,;.][^,;.\n]{0,80})\Z"),
    96,
)


def _ends_in_row(text: str, reader: SetReader) -> bool:
    """Return whether the last line names an option of a list, and says nothing of it as those before do.

    A numbered list that ends with its first row has broken off, too.
    """
    *before, last = [line for line in text.splitlines() if any(map(str.isalnum, line))] or [""]
    if not before or not _ITEM.match(last):
        return False
    if before[-1].rstrip(" *_").endswith((":", "：")) and _FIRST_ITEM.match(last):
        return bool(alone_in(_ITEM.sub("", last), reader))
    if not _ITEM.match(before[-1]):
        return False
    return bool(alone_in(_ITEM.sub("", last), reader)) and not alone_in(_ITEM.sub("", before[-1]), reader)


_FIRST_ITEM = re.compile(r"^\s*1[.)]\s")
_ITEM = re.compile(r"^\s*(?:[-*•‣·]|\d{1,2}[.)])\s")


def ends_in_sentence(text: str, reader: SetReader) -> bool:
    """Return whether a text of sentences ends before the stop of the last one, behind an option that it names."""
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    if not lines or is_ended(lines[-1]):
        return False
    *before, last = sentences(lines[-1]) or [lines[-1]]
    is_prose = before or _STOP_WITHIN.search(last) or (len(lines) > 1 and is_ended(lines[-2]))
    mentions = reader.lettered(last) or reader.worded(last)
    return bool(is_prose and mentions) and any(map(str.isalpha, last[mentions[-1].end :]))


_OPEN = lazy_pattern(rf"(?:{words('addition', 'alternative', 'article')}|[,、،])\s*$")
_CAPITAL = re.compile(r"(?<![^\W_])[A-Z](?![^\W_])")
_LONGEST_OPEN = 40
_STOP_WITHIN = re.compile("[;；]")
