"""Find the option letters that a text names, apart from capital letters that are something else."""

import re
from dataclasses import dataclass
from functools import lru_cache

from gigavqa.answers.lexicon import by_language, lazy_pattern, phrases, words
from gigavqa.answers.negation import Mention

_JOIN = (
    r"(?:,|/|&|\+|\band/or\b|\bor\b|\band\b|\bund\b|\boder\b|\bou\b|\bet\b|\by\b|\bo\b|\be\b|\bили\b|\bи\b"
    r"|或|和|と|または|또는)"
)

_LABELLED = frozenset(phrases("lettered_noun"))
"""Nouns that questions letter themselves ("Person A", "Claim B"); a letter behind one is no option."""
_STATEMENTS = phrases("statement_noun")
"""Such nouns that are the options themselves where no option's text letters any."""
_LABELLED_ENDINGS = tuple(noun for noun in _LABELLED if not noun.isascii())

# "A" is the article before a lower-case word, unless that word is one that an option can be the subject of.
_ADJECTIVES = [
    phrase
    for language, ones in by_language("affirmation").items()
    if language != "en"
    for phrase in ones
    if phrase.isascii()
]
_SUBJECT_OF = ("copula", "seeming", "holding", "holding_at_end", "denial_behind")
_JOINTS = ("reason", "alternative", "addition", "contrast", "denial_before")
_VERBS = (
    rf"(?:(?:qui|que|la\s+que|the|an|must|should|states|says|describes|has|correctly|over|under|can|isn|does|sein)\b"
    rf"|{words(*_SUBJECT_OF)}|{words(*_JOINTS)}|(?:{'|'.join(_ADJECTIVES)})\b)"
)
_ARTICLE = rf"(?!\s+(?!{_VERBS})[a-zà-ÿ])"

_LABEL = lazy_pattern(rf"\b(?i:{'|'.join(map(re.escape, _LABELLED))})\s*[A-H]\b")
_JUDGED = re.compile(
    r"[\s|:*]*(?:(?:is|are|es|是|为)\s*)?(?:true|false|correct|incorrect|verdader|fals|真|假|正确|错误|成立|不成立)",
    re.IGNORECASE,
)

_LEADING = ("before_letter", "alternative", "addition", "contrast", "preference", "denial_before")
_BEFORE = frozenset(phrase.split()[-1] for name in _LEADING for phrase in phrases(name))
_OPTION_NOUNS = frozenset(phrases("option_noun"))
"""Words behind which a bare capital is an option's letter."""

_FOLLOWING = lazy_pattern(rf"[\s*_`\"')\]}}]*{_JOIN}\s*(?:option\s+)?[\s*_`\"'(\[]*", re.IGNORECASE)
_JOINED = lazy_pattern(rf"[)\]*\s]*{_JOIN}[(\[*\s]*", re.IGNORECASE)
WORD = r"A-Za-z0-9_°À-ɏЀ-ӿ"
_INITIAL_BEFORE, _NAME_BEHIND = re.compile(r"\b[A-Z]\.\s?$"), re.compile(r"\.\s[A-Z][a-z]")
_BETWEEN = " \t\n*_`\"'“‘:(["

_HOMOGLYPHS = str.maketrans("АВСΑΒ", "ABCAB")
"""Cyrillic and Greek capitals that look like the Latin letters of the options."""

_GLUE = re.compile(
    r"(?:[\s*_`~#>\"'“”‘’«»「『【［$:：=→⇒\\(\[{|!,，.。)}\]–—-]"
    r"|\b(?:is|was|are|be|would|should|must|will|therefore|thus|indeed|most|the|this|to"
    r"|question|correct|right|best|option|choice|answer|letter|final|number|text|mathrm|mathbf|textbf|boxed|rm|bf|mbox|following|"
    r"seems|appears|i|think|believe|as|follows|est|la|le|lautet|ist|die|der|das|es|wäre|opción|opção|opzione|lettre|buchstabe|"
    r"réponse|respuesta|correcta|correcte|correta|corretta|letra|lettera|é|è|a(?=\s+(?:letra|opção|opción))|(?-i:a(?=\s+[(\[*_`\"']*[A-H]\b))|alternativa|donc|bien|also|somit|portanto|actually|in\s+fact|of\s+course|remains|stays|still|[a-z]{2,14}ly|value|json|это|вариант|буква|adalah|là|är|je|đúng)\b"
    r"|/?answer>|[是为為选選はである는은이]|选项|選項|项|選択肢|선택지|보기|옵션|विकल्प|الخيار|هي|الصحيحة|היא|คือ|है)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LetterPatterns:
    """The option letters of one sample, with the patterns that find them."""

    valid: frozenset[str]
    direct: re.Pattern[str]
    mention: re.Pattern[str]
    small: re.Pattern[str]
    """Letters in lower case, where they can be nothing else: "option b", "(b)", "So b."."""
    preceding: re.Pattern[str]
    own: bool


@lru_cache(maxsize=32)
def letters_of(options: tuple[tuple[str, str], ...]) -> LetterPatterns:
    """Compile the patterns for the letters of some options."""
    valid = tuple(letter for letter, _ in options)
    upper, lower = "".join(valid), "".join(valid).lower()
    return LetterPatterns(
        valid=frozenset(valid),
        direct=re.compile(
            rf"([{upper}АВСΑΒ])(?![{WORD}]|['’-](?!d[iı]r|t[iı]r)[A-Za-z]){_ARTICLE}"
            rf"|([{lower}])(?=\s*(?:$|[.)\]}},:;*\"'`<\n]))"
        ),
        mention=re.compile(rf"(?<![{WORD}'’-])(?<![nN]/)([{upper}])(?![{WORD}+]|['’-][A-Za-z])"),
        small=re.compile(
            rf"\b(?i:option|choice|letra|lettre|letter|opci[oó]n|op[cç][aã]o|alternativa|buchstabe)\s+\(?([{lower}])\b|\(([{lower}])\)"
            rf"|\b(?:[Ss]o|[Tt]hus|[Hh]ence|[Tt]herefore|is|be)[,:]?\s+([{lower}])(?=[.!]\s*$)"
        ),
        preceding=re.compile(
            rf"(?<![{WORD}])([{upper}])[)\]*_`\"']*\s+(?i:is|was|remains|as)\s+(?i:(?:my|the|our|therefore|thus)\s+)*$"
        ),
        own=any(_LABEL.search(text) for _, text in options),
    )


def direct_letters(text: str, position: int, letters: LetterPatterns) -> frozenset[str]:
    """Return the letter at `position`, behind glue words, with those joined to it by "or", "and" or a comma."""
    start = _glued(text, position)
    match = letters.direct.match(text, start)
    if not match:
        return frozenset()
    found = [latin(match[0])]
    while (joint := _FOLLOWING.match(text, match.end())) and (match := letters.direct.match(text, joint.end())):
        if match[0].islower() != found[0].islower() and match[0].islower():
            break  # "C, d. h. ..."
        found.append(latin(match[0]))
        if len(found) > _MOST_JOINED:
            break
    return frozenset(found)


_MOST_JOINED = 52
"""Letters that are joined at most: each of the alphabet twice."""


def preceding_letter(text: str, position: int, letters: LetterPatterns) -> frozenset[str]:
    """Return the letter that is announced after it was named, "B is my final answer"."""
    match = letters.preceding.search(text, max(0, position - 60), position)
    return frozenset({match[1]}) if match else frozenset()


def behind_glue(text: str) -> str:
    """Return what an announcement says once "is", "most likely" and the like are passed over."""
    return text[_glued(text, 0) :]


def letter_mentions(sentence: str, letters: LetterPatterns) -> list[Mention]:
    """Return where a sentence names option letters, in order; letters of a noun, "Claim B", and articles are none."""
    if not letters.mention.search(sentence) and not letters.small.search(sentence):
        return []
    text = _RANGE.sub(lambda found: ";" * len(found[0]), _without_labels(sentence, letters))
    named = (
        match
        for match in letters.mention.finditer(text)
        if _is_option(text, match, letters) and not _is_claim(text, match, letters)
    )
    found = [Mention(match.start(1), match.end(1), match[1]) for match in named]
    for match in letters.small.finditer(text):
        group = match.lastindex or 1
        found.append(Mention(match.start(group), match.end(group), match[group].upper()))
    return sorted(found)


_RANGE = re.compile(r"(?<![^\W_])[A-H][–—-][B-H](?![^\W_])")
"""All options by the first and the last, "which of A–D"."""
_LONGEST_JOINT, _LONGEST_WORD = 40, 40
_WORD_BACKWARDS = re.compile(r"[^\W\d_]*")


def _without_labels(sentence: str, letters: LetterPatterns) -> str:
    """Put semicolons in place of letters that belong to a noun, "Claim A and B"."""
    characters, behind_label = list(sentence), 0
    for match in letters.mention.finditer(sentence):
        at = match.start()
        if _stands_alone(sentence, match):
            continue
        near = behind_label and at - behind_label <= _LONGEST_JOINT
        joined = near and _JOINED.fullmatch(sentence, behind_label, at)
        if joined or is_of_noun(sentence, at, own=letters.own):
            characters[at], behind_label = ";", match.end()
    return "".join(characters)


_REACH = 400
"""Characters of glue at most: a model that runs in circles writes nothing else."""


def _glued(text: str, position: int) -> int:
    match = _GLUE.match(text, position, position + _REACH)
    return match.end() if match else position


def is_of_noun(text: str, position: int, *, own: bool) -> bool:
    """Return whether the letter at a place belongs to a noun, "Claim B"."""
    word = _last_word(text, position)
    if word not in _LABELLED and not word.endswith(_LABELLED_ENDINGS):
        return False
    return own or not word.endswith(_STATEMENTS)


def latin(letter: str) -> str:
    """Return a letter as the Latin capital that it looks like."""
    return letter.upper().translate(_HOMOGLYPHS)


_WORDS = {"A": lazy_pattern(_ARTICLE), "I": re.compile(r"(?!\s+[a-z])")}
"""Letters that are words, and what stands behind them where they are none: "A" the article, "I" who speaks."""
_OPTION_BEHIND = lazy_pattern(rf"[.):]\s+\S|\s+{_VERBS}")
_ENDS_CLAUSE = re.compile(r"[)\]*_`\"'”’]*(?:\s*$|,|\s?[;:!?]|\.[\s*_`\"'”’)\]]*$)")
_COLON_BEFORE, _NOTHING_BEHIND = re.compile(r":[\s*_`\"'(\[]*$"), re.compile(r"[\s.!)\]*_`\"']*$")
_OPTION = ("option", "choice", "answer", "opci", "alternativ", "选项")
_OPENING, _CLOSING = "([*`\"'{", ")]*`\"'}."


def _is_claim(text: str, match: re.Match[str], letters: LetterPatterns) -> bool:
    """Return whether a letter is a claim's, "A is true", where the options speak of lettered claims."""
    judged = letters.own and _JUDGED.match(text, match.end())
    return bool(judged) and not _last_word(text, match.start()).startswith(_OPTION)


def _is_option(text: str, match: re.Match[str], letters: LetterPatterns) -> bool:
    before = text[max(0, match.start() - 1) : match.start()]
    behind = text[match.end() : match.end() + 1]
    if before and before in _OPENING and behind and behind in _CLOSING:
        return True
    word = _last_word(text, match.start())
    if word in _OPTION_NOUNS or (word in _STATEMENTS and not letters.own):
        return True
    if match[1] in _WORDS and not _WORDS[match[1]].match(text, match.end()):
        return False
    if _NAME_BEHIND.match(text, match.end()) and _INITIAL_BEFORE.search(text, *_just_before(match)):
        return False
    if not word or word in _BEFORE or not word.isascii() or latin(word) in letters.valid:
        return True
    return bool(_ENDS_CLAUSE.match(text, match.end()) or _OPTION_BEHIND.match(text, match.end()))


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Return whether a letter is all that stands behind a colon, "it must be: D."."""
    return bool(_NOTHING_BEHIND.match(text, match.end()) and _COLON_BEFORE.search(text, *_just_before(match)))


def _just_before(match: re.Match[str]) -> tuple[int, int]:
    return max(0, match.start() - 12), match.start()


def _last_word(text: str, end: int) -> str:
    """Return the word, in lower case, that ends before `end` but for space and markup; empty behind punctuation."""
    near = text[max(0, end - _LONGEST_WORD) : end].rstrip(_BETWEEN)
    found = _WORD_BACKWARDS.match(near[::-1])
    return near[len(near) - found.end() :].lower() if found else ""
