"""Which option letters a piece of text names, and which capital letters in it are something else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_JOIN = (
    r"(?:,|/|&|\+|\band/or\b|\bor\b|\band\b|\bund\b|\boder\b|\bou\b|\bet\b|\by\b|\bo\b|\be\b|\bили\b|\bи\b"
    r"|或|和|と|または|또는)"
)

_LABELLED = frozenset((
    "person", "claim", "group", "region", "target", "object", "component", "condition", "step", "figure", "image",
    "view", "picture", "quadrant", "row", "column", "cell", "vehicle", "man", "woman", "adult", "child", "landmark",
    "building", "area", "zone", "point", "box", "bundle", "statement", "hypothesis", "interpretation", "grade",
    "type", "stage", "class", "category", "plan", "part", "section", "panel", "roi", "team", "lane", "camera",
    "avenue", "street", "gate", "platform", "terminal", "block", "tower", "wing", "vitamin", "hepatitis", "plane",
    "ship", "personne", "persona", "groupe", "grupo", "gruppe", "persons", "claims",
    "groups", "regions", "targets", "objects", "components", "conditions", "steps", "views", "images", "statements",
    "boxes", "cells", "points", "vehicles",
))  # fmt: skip
"""Nouns that questions letter themselves ("Person A", "Claim B"); a letter behind one is no option."""
_LABELLED_ENDINGS = ("人物", "组", "断言")

_REJECTED = (
    r"(?:is|are|was|seems|looks|would\s+be|can\s+be|could\s+be|must\s+be)\s+(?:\w+ly\s+)?"
    r"(?:wrong|incorrect|not|ruled\s+out|eliminated|excluded|out|invalid|contradicted|unsupported|inconsistent|too)\b"
    r"|(?:isn't|aren't|doesn't|does\s+not|cannot|can't|contradicts|fails|overstates|understates)\b"
)
_CROSSED = r"[\s:：|*~–—-]*(?:[❌✗✘✖]|(?i:incorrect|wrong|false|no|not)\b)"
_REJECTING = (
    r"not|rule\s+out|ruling\s+out|eliminate|eliminating|eliminates|exclude|excluding|excludes|rather\s+than|instead\s+of"
    r"|unlike|reject|rejecting|over|against|排除|不是|nicht|pas|no\s+es"
)
_OPTION = r"(?:(?:option|choice|answer|letter|statement|选项|選項|opción|opção|opzione)s?\s*)?"

# "A" is the article before a lower-case word, unless that word is one that an option can be the subject of.
_VERBS = (
    r"(?:is|was|seems|looks|appears|matches|fits|would|must|should|because|since|as|and|or|states|says|describes|has|best"
    r"|correctly|for|with|which|due|given|based|holds|follows|by|from|in|on|at|over|under|est|ist|es)\b"
)
_ARTICLE = rf"(?!\s+(?!{_VERBS})[a-zà-ÿ])"

_BEFORE = frozenset((
    "is", "be", "are", "was", "option", "options", "choice", "choices", "answer", "answers", "letter", "letters",
    "select", "selected", "choose", "chose", "choosing", "pick", "picked", "therefore", "thus", "so", "hence", "say",
    "with", "as", "or", "and", "to", "than", "either", "neither", "both", "between", "but", "leaves", "leaving",
    "probably", "definitely", "likely", "clearly", "est", "ist", "es", "é", "è", "lettre", "opción", "opção",
    "guess", "guessed", "except", "la", "letra", "lettera", "memilih",
    "antwort", "response", "output", "final", "supports", "support", "favors", "favours", "s", "towards", "toward",
))  # fmt: skip
"""Words behind which a bare capital is an option's letter."""

_FOLLOWING = re.compile(rf"[\s*_`\"')\]}}]*{_JOIN}\s*(?:option\s+)?[\s*_`\"'(\[]*", re.IGNORECASE)
_JOINED = re.compile(rf"[)\]*\s]*{_JOIN}[(\[*\s]*", re.IGNORECASE)
_REJECTION_WORDS = (
    "not ", "rule", "ruling", "eliminat", "exclud", "rather", "instead", "unlike", "reject", "over ", "against", "排除",
    "不是", "nicht", "pas ", "no es",
)  # fmt: skip
"""One of these stands wherever a letter is rejected before it is named."""

_WORD = r"A-Za-z0-9_°À-ɏЀ-ӿ"
_CONTRAST = re.compile(r"\b(?:but|however|though|although|yet|instead)\b", re.IGNORECASE)
_ARROW = re.compile(r"→|⇒|=>|->")
_INITIAL_BEFORE, _NAME_BEHIND = re.compile(r"\b[A-Z]\.\s?$"), re.compile(r"\.\s[A-Z][a-z]")
_BETWEEN = " \t\n*_`\"'“‘:(["

_HOMOGLYPHS = str.maketrans("АВСΑΒ", "ABCAB")
"""Cyrillic and Greek capitals that look like the Latin letters of the options."""

_GLUE = re.compile(
    r"(?:[\s*_`~#>\"'“”‘’«»「『【［$:：=→⇒\\(\[{|!,，.。)}\]–—-]"
    r"|\b(?:is|was|are|be|would|should|must|will|therefore|thus|clearly|indeed|definitely|likely|probably|most|the|this|to"
    r"|question|correct|right|best|option|choice|answer|letter|final|number|text|mathrm|mathbf|textbf|boxed|rm|bf|mbox|following|"
    r"seems|appears|i|think|believe|as|follows|est|la|le|lautet|ist|die|der|das|es|wäre|opción|opção|opzione|lettre|buchstabe|"
    r"réponse|respuesta|correcta|correcte|correta|corretta|letra|lettera|é|è|a(?=\s+(?:letra|opção|opción))|(?-i:a(?=\s+[A-H]\b))|value|json|это|вариант|буква|adalah|là|är|je|đúng)\b"
    r"|/?answer>|[是为為选選はである는은이]|选项|選項|项|選択肢|هي|الصحيحة|היא|คือ|है)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Letters:
    """The option letters of one sample, with the patterns that find them."""

    valid: frozenset[str]
    rejecting: re.Pattern[str]
    rejected: re.Pattern[str]
    direct: re.Pattern[str]
    mention: re.Pattern[str]
    small: re.Pattern[str]
    affirmed: re.Pattern[str]
    restated: re.Pattern[str]
    preceding: re.Pattern[str]
    between: re.Pattern[str]


@lru_cache(maxsize=32)
def letters_of(valid: tuple[str, ...]) -> Letters:
    """Compile the patterns for a set of letters."""
    upper, lower = "".join(valid), "".join(valid).lower()
    one = rf"[(\[*]*[{upper}][)\]*]*(?![{_WORD}])"
    series = rf"{one}(?:\s*{_JOIN}\s*{one})*"
    return Letters(
        valid=frozenset(valid),
        rejecting=re.compile(rf"(?i:(?<![{_WORD}])(?:{_REJECTING})\s*(?:the\s+)?{_OPTION}){series}"),
        rejected=re.compile(
            rf"(?<!(?i:except) )(?<!(?i:except) (?i:for) ){series}\s*(?:(?i:{_REJECTED})|{_CROSSED})[^.;,]*"
        ),
        direct=re.compile(
            rf"([{upper}АВСΑΒ])(?![{_WORD}]|['’-](?!d[iı]r|t[iı]r)[A-Za-z]){_ARTICLE}"
            rf"|([{lower}])(?=\s*(?:$|[.)\]}},:;*\"'`<\n]))"
        ),
        mention=re.compile(rf"(?<![{_WORD}'’-])(?<![nN]/)([{upper}])(?![{_WORD}]|['’-][A-Za-z])"),
        small=re.compile(rf"(?:[Oo]ption|[Cc]hoice)\s+\(?([{lower}])\b|\(([{lower}])\)"),
        affirmed=re.compile(
            rf"(?<![{_WORD}])([{upper}])(?:\)?\s+(?i:is|seems|appears|looks)\s+(?:(?i:the|to\s+be|my|most|clearly|indeed)\s+)*"
            r"(?i:correct|right|best|one|only|answer|plausible|likely|accurate|fitting|appropriate|final|choice)\b"
            r"|\s*(?:选项|選項|项)?是?正[确確])"
        ),
        restated=re.compile(rf"[\s*_>#-]*(?i:option\s+)?\(?([{upper}])\s*[.):\]*]+\s*(\S.*)"),
        preceding=re.compile(
            rf"(?<![{_WORD}])([{upper}])[)\]*_`\"']*\s+(?i:is|was|remains|as)\s+(?i:(?:my|the|our|therefore|thus)\s+)*$"
        ),
        between=re.compile(rf"(?i:\bbetween\s+{_OPTION}){one}\s*(?:and|und|et)\s*{one}"),
    )


def direct_letters(text: str, position: int, letters: Letters) -> frozenset[str]:
    """Return the letter at `position`, behind glue words, with those joined to it by "or", "and" or a comma."""
    start = _glued(text, position)
    match = letters.direct.match(text, start)
    if not match:
        return frozenset()
    found = {latin(match[0])}
    while (joint := _FOLLOWING.match(text, match.end())) and (match := letters.direct.match(text, joint.end())):
        found.add(latin(match[0]))
    return frozenset(found)


def preceding_letter(text: str, position: int, letters: Letters) -> frozenset[str]:
    """Return the letter that is announced after it was named, "B is my final answer"."""
    match = letters.preceding.search(text, max(0, position - 60), position)
    return frozenset({match[1]}) if match else frozenset()


def behind_glue(text: str) -> str:
    """Return what an announcement says once "is", "most likely" and the like are passed over."""
    return text[_glued(text, 0) :]


def mentioned_letters(sentence: str, letters: Letters) -> frozenset[str]:
    """Return the option letters that a sentence settles on: those it names without rejecting them.

    Of several, the one called correct, or named behind a "but", stands alone.
    """
    if not letters.mention.search(sentence) and not letters.small.search(sentence):
        return frozenset()
    text = letters.rejected.sub(_blank, _without_labels(sentence, letters))
    if any(word in text.lower() for word in _REJECTION_WORDS):
        text = letters.rejecting.sub(_blank, text)
    found = _named(text, letters)
    if len(found) > 1:
        for narrower in _narrowings(text, letters):
            if len(narrower) == 1:
                return narrower
    return found


def _narrowings(text: str, letters: Letters) -> Iterator[frozenset[str]]:
    yield frozenset(letters.affirmed.findall(text))
    yield _named(_CONTRAST.split(text)[-1], letters)
    yield _named(_ARROW.split(text)[-1], letters)
    yield _named(letters.between.sub(_blank, text), letters)


def _without_labels(sentence: str, letters: Letters) -> str:
    """Put semicolons in place of letters that belong to a noun, "Claim A and B"."""
    characters, behind_label = list(sentence), 0
    for match in letters.mention.finditer(sentence):
        at = match.start()
        if _stands_alone(sentence, match):
            continue
        joined = behind_label and _JOINED.fullmatch(sentence, behind_label, at)
        word = _last_word(sentence, at)
        if joined or word in _LABELLED or word.endswith(_LABELLED_ENDINGS):
            characters[at], behind_label = ";", match.end()
    return "".join(characters)


def _named(text: str, letters: Letters) -> frozenset[str]:
    found = {match[1] for match in letters.mention.finditer(text) if _is_option(text, match)}
    return frozenset(found | {(match[1] or match[2]).upper() for match in letters.small.finditer(text)})


def _glued(text: str, position: int) -> int:
    match = _GLUE.match(text, position)
    return match.end() if match else position


def latin(letter: str) -> str:
    """Return a letter as the Latin capital that it looks like."""
    return letter.upper().translate(_HOMOGLYPHS)


def _blank(match: re.Match[str]) -> str:
    return " ; "


_NOT_ARTICLE = re.compile(_ARTICLE)
_OPTION_BEHIND = re.compile(rf"[.):]\s+\S|\s+{_VERBS}")
_COLON_BEFORE, _NOTHING_BEHIND = re.compile(r":[\s*_`\"'(\[]*$"), re.compile(r"[\s.!)\]*_`\"']*$")
_OPENING, _CLOSING = "([*`\"'{", ")]*`\"'}."


def _is_option(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 1) : match.start()]
    behind = text[match.end() : match.end() + 1]
    if before and before in _OPENING and behind and behind in _CLOSING:
        return True
    if match[1] == "A" and not _NOT_ARTICLE.match(text, match.end()):
        return False
    if _stands_alone(text, match):
        return True
    if _NAME_BEHIND.match(text, match.end()) and _INITIAL_BEFORE.search(text, *_just_before(match)):
        return False
    word = _last_word(text, match.start())
    if not word or word in _BEFORE or not word.isascii():
        return True
    return bool(_OPTION_BEHIND.match(text, match.end()))


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Whether a letter is all that stands behind a colon, "it must be: D."."""
    return bool(_NOTHING_BEHIND.match(text, match.end()) and _COLON_BEFORE.search(text, *_just_before(match)))


def _just_before(match: re.Match[str]) -> tuple[int, int]:
    return max(0, match.start() - 12), match.start()


def _last_word(text: str, end: int) -> str:
    """Return the word, in lower case, that ends before `end` but for space and markup; empty behind punctuation."""
    while end and text[end - 1] in _BETWEEN:
        end -= 1
    start = end
    while start and text[start - 1].isalpha():
        start -= 1
    return text[start:end].lower()
