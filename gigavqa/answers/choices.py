"""Reads answers that are texts: one of an answer space, several of it, region numbers, or a short text.

Texts are compared lower-cased, trimmed, without trailing punctuation, hyphens and underscores as spaces (appendix D.2).
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from gigavqa.answers.abstention import abstains, commits, find_abstention
from gigavqa.answers.asked import Asked
from gigavqa.answers.choices_asked import stated_choices
from gigavqa.answers.doubts import is_struck, is_unsafe
from gigavqa.answers.final import parse_answer
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.listed import verdict_of
from gigavqa.answers.negation import Mention, joined, said_values, settled
from gigavqa.answers.normalization import is_blank, passages
from gigavqa.answers.option_numbers import are_listable, without_list_numbers
from gigavqa.answers.ordinal_options import with_pairs
from gigavqa.answers.readings import AMBIGUOUS, BLANK, UNPARSABLE, Reading, parsed
from gigavqa.answers.sentence_forms import DENIES
from gigavqa.answers.spellings import either_spelling, one_spelling
from gigavqa.answers.text import last_sentence, lines_backwards, plain, sentences, sentences_of
from gigavqa.answers.value_lists import LISTING, concluded_values, listed_values
from gigavqa.answers.withdrawals import behind_retraction, is_first_thought, is_hypothesis

_JOINTS = re.compile(r"[\s_\-‐‑–—/]+")
_RATIO = re.compile(r"(?<![\d.])(\d{1,6})\s*(?::|：|∶|/|\bto\b)\s*(\d{1,6})(?!\d|\.\d)", re.IGNORECASE)
_SPLIT = re.compile(r"[,;，；、\n]|(?:^|\s)[-*•]\s+|\band\b")
_LETTERS = re.compile(r"\b([A-Z])\b")


def key_of(text: str) -> str:
    """Return the form in which texts are compared."""
    return one_spelling(_JOINTS.sub(" ", plain(text)).strip(" .,:;!?()[]"))


class AnswerSpace:
    """The texts that a step may be answered with, each with its variants. Empty: any text.

    `canonical` maps the compared form of a text to the choice it stands for.
    """

    def __init__(self, choices: Sequence[str], variants: Mapping[str, Iterable[str]]) -> None:
        self.choices = tuple(choices)
        self.canonical = {key_of(choice): choice for choice in choices}
        for text, others in variants.items():
            self.canonical |= dict.fromkeys(map(key_of, others), self.canonical_of(text))
        self._is_listable = are_listable(self.canonical)
        self._named = _named(sorted(filter(None, self.canonical), key=len, reverse=True))

    def canonical_of(self, text: str) -> str:
        """Return the choice that a text stands for; for any other text, the form in which it is compared."""
        key = key_of(text)
        return self.canonical.get(key, key)

    def without_list_numbers(self, text: str) -> str:
        """Return a text without the numbers of its lists' lines, where one could be taken for a choice."""
        return without_list_numbers(text) if self._is_listable else text

    def mentions(self, text: str) -> list[Mention]:
        """Return where a text names choices as whole words, in order, no part of one counted as another."""
        if self._named is None:
            return []
        found = self._named.finditer(text)
        return [Mention(*match.span(), self.canonical[_key_named(match[0], self.canonical)]) for match in found]

    def named_in(self, text: str) -> list[str]:
        """Return the choices that a text names and does not deny, in order."""
        named = (value for sentence in sentences_of(text) for value in said_values(sentence, self.mentions(sentence)))
        return list(dict.fromkeys(map(str, named)))

    def listed_in(self, text: str) -> list[str]:
        """Return the choices that one sentence of a text lists; none where several do, or none does."""
        return [str(value) for value in listed_values(text, self.mentions)]

    def settled_in(self, sentence: str) -> frozenset[str]:
        """Return the choices that a sentence settles on."""
        return frozenset(map(str, settled(sentence, self.mentions(sentence), alone=True)))


_JOINT = r"[\s_\-‐‑–—/\\'’]+"
_ARTICLE = re.compile(r"^(?:an|the|a(?! is\b)) ")


def _named(keys: Sequence[str]) -> re.Pattern[str] | None:
    if not keys:
        return None
    words = "|".join(_JOINT.join(map(either_spelling, _ARTICLE.sub("", key).split(" "))) for key in keys)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:(?:an?|the)\s+)?(?:{words})(?![A-Za-z0-9_])", re.IGNORECASE)


def _key_named(text: str, known: Mapping[str, str]) -> str:
    key = key_of(text.replace("\\", " "))
    if key in known:
        return key
    bare = _ARTICLE.sub("", key)
    return bare if bare in known else next(whole for whole in known if _ARTICLE.sub("", whole) == bare)


def read_choice(value: Any, space: AnswerSpace, asked: Asked | None = None) -> Reading:
    """Read one text of a space: the whole answer, the one announced, or the last sentence's; else an option letter.

    Of several that a text states, the one that it states of what was `asked`.
    """
    if isinstance(value, dict):
        chosen = {
            key for inner in value.values() if isinstance(inner, str) and (key := key_of(inner)) in space.canonical
        }
        return parsed(space.canonical[chosen.pop()]) if len(chosen) == 1 else UNPARSABLE
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) and {"yes", "no"} <= space.canonical.keys():
        return parsed(space.canonical["yes" if value else "no"])
    text = _as_text(value)
    if text is None:
        return UNPARSABLE
    if not space.choices:
        return _read_free(text, space)
    if (key := key_of(text)) in space.canonical:
        return parsed(space.canonical[key])
    return _read_prose(with_pairs(space.without_list_numbers(text), space.mentions, str), space, asked)


def _read_prose(whole: str, space: AnswerSpace, asked: Asked | None) -> Reading:
    text = behind_retraction(whole, lambda rest: bool(space.named_in(rest)))
    if (judged := _judged(text, space)) is not None:
        return judged
    reading = (
        _announced(text, space)
        or _lettered(text, space)
        or _emphasized(text, space)
        or _stated_as_asked(text, space, asked)
        or _stated(text, space)
        or _last_named(text, space)
    )
    if reading.status == "parsed" and is_unsafe(whole, reading.value, space.mentions):
        return AMBIGUOUS
    return reading


def _judged(text: str, space: AnswerSpace) -> Reading | None:
    """Read the one choice that a list of verdicts affirms, "- horse: no ...", "- donkey: yes ..."."""
    rows = ((found["label"], found["said"]) for line in text.splitlines() if (found := _ROW.fullmatch(line)))
    said = {
        space.canonical[key]: verdict_of(told, label)
        for label, told in rows
        if (key := key_of(label)) in space.canonical
    }
    affirmed = [choice for choice, verdict in said.items() if verdict]
    is_list = len(affirmed) == 1 and list(said.values()).count(False) == len(said) - 1 > 0
    return parsed(affirmed[0]) if is_list else None


_ROW = re.compile(
    r"[\s>*•|_+-]*+(?:\d{1,2}[.)]\s+)?[\s*_`\"'“]*+(?P<label>[^:：|\n–—]{1,60}?)[\s*_`\"'”]*+(?:[:：|–—]|\s-\s)(?P<said>.*)"
)


def _emphasized(text: str, space: AnswerSpace) -> Reading | None:
    """Read the one choice that stands in bold, alone or behind what it is of: "**Material: glass**"."""
    keys = {key_of(re.split("[:：]", bold)[-1]) for bold in _BOLD.findall(text)}
    chosen = {space.canonical[key] for key in keys if key in space.canonical}
    return parsed(*chosen) if len(chosen) == 1 and not abstains(last_sentence(text)) else None


def _stated_as_asked(text: str, space: AnswerSpace, asked: Asked | None) -> Reading | None:
    stated = stated_choices(asked, text, space.mentions) if asked else []
    return parsed(*stated) if len(stated) == 1 else None


def _stated(text: str, space: AnswerSpace) -> Reading | None:
    """Read the one choice that a sentence states, "the nearest object is the case.", before others are described."""
    if (first := _first_in_order(text, space)) is not None:
        return parsed(first)
    *before, last = sentences_of(text) or [""]
    if len(set(said_values(last, space.mentions(last)))) < 2 or _SETTLES.search(last.lower()):
        return None
    stated = {
        mentions[0].value
        for sentence in before
        if len(mentions := space.mentions(sentence)) == 1
        and _IS.search(sentence[: mentions[0].start].lower())
        and not sentence[mentions[0].end :].strip(" .*_`\"'”!")
        and space.settled_in(sentence)
    }
    return parsed(*stated) if len(stated) == 1 else None


def _first_in_order(text: str, space: AnswerSpace) -> Hashable:
    """Return the choice that a text of one sentence states before those that follow it, "the bus, then the taxi"."""
    found = space.mentions(text) if len(sentences(text)) == 1 else []
    is_first = len(found) > 1 and _IS.search(text[: found[0].start].lower()) and _NEXT.match(text, found[0].end)
    return found[0].value if is_first else None


_NEXT = lazy_pattern(rf"[*_`\"'”]*\s?,?\s(?:and\s)?{words('next_in_order')}", re.IGNORECASE)
_IS = lazy_pattern(rf"{words('copula')}\s+(?:{words('filler')}\s+)*[*_`\"'“]*$")
_SETTLES = Words("conclusion", "contrast", "retraction", "affirmation", "announcement")
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*")


def _announced(text: str, space: AnswerSpace) -> Reading | None:
    for passage in passages(text):
        first = next((line for line in passage.splitlines() if line.strip()), "")
        if passage is text:
            return None if _lists_choices(text, space) else _opening(first, space)
        told = next(iter(sentences(first)), "")
        if named := space.settled_in(told) or space.settled_in(first):
            return parsed(*named) if len(named) == 1 else _opening(first, space) or AMBIGUOUS
    return None


def _lists_choices(text: str, space: AnswerSpace) -> bool:
    """Return whether two lines or more are rows that choices open, "- red cube: 1.2 m"."""
    rows = (found["label"] for line in text.splitlines() if (found := _ROW.fullmatch(line)))
    return len({key for label in rows if (key := key_of(label)) in space.canonical}) > 1


def _opening(line: str, space: AnswerSpace) -> Reading | None:
    """Read a line that begins with a choice and then explains it."""
    opening = re.split(r"[,.;:!(—\n]|\s[–-]\s|\bbecause\b|\bsince\b", line, maxsplit=1)[0]
    key = key_of(opening)
    if key not in space.canonical or len(joined(line, space.mentions(line))) > 1:
        return None
    return None if is_first_thought(line) else parsed(space.canonical[key])


def _lettered(text: str, space: AnswerSpace) -> Reading | None:
    options = {chr(ord("A") + at): choice for at, choice in enumerate(space.choices[:26])}
    answer = parse_answer(text, options) if len(options) > 1 else None
    if answer is None or answer.value is None or (answer.status != "marker" and len(plain(text)) > 1):
        return None
    return parsed(options[answer.value])


def _last_named(text: str, space: AnswerSpace) -> Reading:
    for line in lines_backwards(text):
        for sentence in reversed(sentences(line)):
            if find_abstention(sentence) and not commits(sentence) and not space.settled_in(sentence):
                return UNPARSABLE
            if (named := space.settled_in(sentence)) and not is_first_thought(sentence):
                return parsed(*named) if len(named) == 1 else AMBIGUOUS
    return UNPARSABLE


def _read_free(text: str, space: AnswerSpace) -> Reading:
    for passage in passages(text):
        line = passage.strip().partition("\n")[0] if passage is not text else passage
        if key := space.canonical_of(line):
            return parsed(key)
    return UNPARSABLE


def read_ratio(value: Any) -> Reading:
    """Read a ratio of two whole numbers, "2:1" as it is written; the last one announced or written."""
    text = _as_text(value)
    if isinstance(value, list) and len(value) == 2:
        text = f"{value[0]}:{value[1]}"
    for passage in passages(text or ""):
        if ratios := list(_RATIO.finditer(passage)):
            return _ratio_of(passage, ratios, announced=passage is not text)
    return UNPARSABLE


def _ratio_of(passage: str, ratios: list[re.Match[str]], *, announced: bool) -> Reading:
    mentions = [Mention(*ratio.span(), f"{int(ratio[1])}:{int(ratio[2])}") for ratio in ratios]
    meant = settled(passage, mentions)
    if len(meant) == 1:
        return parsed(*meant)
    if not meant or len(joined(passage, mentions)) > 1:
        return AMBIGUOUS if meant else UNPARSABLE
    return parsed(mentions[0 if announced else -1].value)


def read_choices(value: Any, space: AnswerSpace, asked: Asked | None = None) -> Reading:
    """Read several texts of a space: a JSON list, or those that a text names; for an open space, its parts.

    Where some are stated of what was `asked`, and others of something else, only the former count.
    """
    if isinstance(value, str):
        value = _listed(value)
    if isinstance(value, list | tuple):
        texts = [text for item in value if (text := _as_text(item)) is not None]
        return parsed(tuple(dict.fromkeys(_item(text, space) for text in texts))) if texts else UNPARSABLE
    return UNPARSABLE if not isinstance(value, str) else _read_several(space.without_list_numbers(value), space, asked)


def _item(text: str, space: AnswerSpace) -> str:
    key = key_of(text)
    if key in space.canonical:
        return space.canonical[key]
    if len(key) == 1 and (at := ord(key) - ord("a")) in range(len(space.choices)):
        return space.choices[at]
    named = space.named_in(text)
    return named[0] if len(named) == 1 else key


def _listed(text: str) -> Any:
    """Return the items of the last bracketed list of quoted texts; the text itself where there is none."""
    lists = [found for found in LISTING.findall(text) if '"' in found or "'" in found]
    if not lists:
        return text
    return [item.strip(" \"'") for item in re.findall(r"\"[^\"]*\"|'[^']*'", lists[-1])] or text


def _read_several(text: str, space: AnswerSpace, asked: Asked | None) -> Reading:
    for passage in map(_known_part, passages(text)):
        if is_blank(passage.strip().partition("\n")[0]):
            return BLANK
        if not space.choices:
            parts = [space.canonical_of(part) for part in _SPLIT.split(passage) if key_of(part)]
            return parsed(tuple(dict.fromkeys(parts))) if parts else UNPARSABLE
        if named := (
            _marked(passage, space)
            or _all_but(passage, space)
            or [*map(str, concluded_values(passage, space.mentions))]
            or (asked and [*map(str, stated_choices(asked, passage, space.mentions))])
            or space.listed_in(passage)
            or space.named_in(passage)
        ):
            return AMBIGUOUS if is_struck(text, named, space.mentions) else parsed(tuple(named))
        if letters := _letters_alone(passage, len(space.choices)):
            return parsed(tuple(space.choices[at] for at in letters))
    return UNPARSABLE


def _known_part(text: str) -> str:
    """Return a text, or of one that begins by saying that it cannot tell, the sentences that know something."""
    parts = sentences_of(text)
    if not parts or not abstains(parts[0]):
        return text
    return "\n".join(one for one in parts if not (abstains(one) or is_hypothesis(one) or _SOUGHT.search(one.lower())))


_SOUGHT = Words("sought")


def _marked(text: str, space: AnswerSpace) -> list[str]:
    """Return the choices that are ticked, "pen ✔ / pencil ✘", where each has a mark behind it: its last one."""
    found = space.mentions(text)
    ends = [*(mention.start for mention in found[1:]), len(text)]
    marks = [_TICKS.findall(text, mention.end, end) for mention, end in zip(found, ends, strict=True)] if found else []
    if len(found) < 2 or not all(marks):
        return []
    return [str(mention.value) for mention, mark in zip(found, marks, strict=True) if mark[-1] in "✓✔✅☑"]


def _all_but(text: str, space: AnswerSpace) -> list[str]:
    """Return the choices left where the last sentence says "everything but the lamp"; none where it denies that."""
    said = _BEFORE_LIST.split(last_sentence(text).strip(), maxsplit=1)[0]
    found = space.mentions(said)
    before = said[: found[0].start].lower() if found else ""
    if not _ALL_BUT.fullmatch(before) or DENIES.search(said.lower()):
        return []
    excepted = {mention.value for mention in found}
    return [choice for choice in space.choices if space.canonical_of(choice) not in excepted]


_BEFORE_LIST = re.compile("[:：;；—]")
_ALL_BUT = lazy_pattern(
    rf"\W*{words('whole')}[^.;:!?]{{0,40}}?{words('exception', 'left_out', 'but')}\s(?:{words('filler')}\s)*"
)
_TICKS = re.compile("[✓✔✅☑✗✘✖❌]")


def _letters_alone(text: str, count: int) -> list[int]:
    found = [ord(letter) - ord("A") for letter in _LETTERS.findall(text)]
    alone = not re.search(r"[a-z]{4,}", text)
    return list(dict.fromkeys(found)) if alone and found and max(found) < count else []


def _as_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None
