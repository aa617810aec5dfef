"""The forms of sentences, as patterns over a writing with one sign in place of each value. Words: `lexicon.toml`.

Values are denied, excepted, affirmed, joined, concluded, set against others: a form for each, in all languages at once.
"""

import re

from gigavqa.answers.lexicon import Words, lazy_pattern, words

FIRST = 0xF0000
MOST = 4096
SIGNS = f"{chr(FIRST)}-{chr(FIRST + MOST)}"
V = f"[{SIGNS}]"
OPENING = "([{⟦"
FIRST_ONE = rf"{V}[)\]}}⟧]*+"
"""A value as patterns begin that are searched for: a run of brackets would be gone through from each of them."""
ONE = rf"[{re.escape(OPENING)}]*{FIRST_ONE}"
FILLED = rf"(?:{words('filler')}\s*+|[(\[:：「“]\s*+)*+"
AND = rf"(?:\s*+[,，،]?+\s*+(?:{words('alternative', 'addition')}|[/&+、]|이?나(?=\s))\s*+{FILLED})"
COMMA = r"\s*+[,，،]\s*+"
MOST_JOINED = 8
"""Values that a list may go on by, of either kind: one without end would be read anew from each of its values."""
MORE = rf"(?:(?:{COMMA}{ONE}){{0,{MOST_JOINED}}}{AND}{ONE}(?:{AND}{ONE}){{0,{MOST_JOINED}}})?"
ADVERBS = rf"(?:(?:\w+ly|{words('adverb')})\s++){{0,4}}"
FAULTY = rf"{words('copula', 'seeming')}\s+{ADVERBS}{words('faulty')}"
OF = rf"\s*+(?:{words('particle')}\s*+){{0,2}}"
"""What may stand between a value and what is said of it."""
CROSSED = (
    r"[\s:：|~–—-]*+(?:[❌✗✘✖]|(?:incorrect|wrong|false|no|not|untrue|error)\b|incorrect[ao]\b|fals[ao]\b|错误|不对)"
)
YET_DENIED = (
    rf"\s[^.;,，。；{SIGNS}]{{1,40}}[,，،]?\s*{words('contrast')}\s+(?:{words('pronoun')}\s+)?"
    rf"(?:{FAULTY}|{words('denial_behind', 'shortcoming')})"
)
"""A concession that takes itself back, "comes close, yet it misses the tower"."""

ENUMERATION = lazy_pattern(rf"{FIRST_ONE}(?:(?:{AND}|{COMMA}){ONE})*+")
NEXT = lazy_pattern(rf"(?:(?P<and>{AND})|{COMMA})?(?P<one>{ONE})")
DENIAL_BEHIND = lazy_pattern(
    rf"(?:{OF}(?:{FAULTY}|{words('denial_behind')})(?!(?:(?<=لا)|(?<=ليس)|(?<=ليست))\s*+{FILLED}{ONE})|{CROSSED}|{YET_DENIED})"
    rf"[^.;,，。；{SIGNS}]*"
)
DENIED_BEFORE = Words("denial_before", pattern="{}" + rf"\s*+{FILLED}(?P<series>(?>{ONE}{MORE}))")
DENIED_ASIDE = Words("denial_before", pattern=rf"{{}}\s+(?:[^\W\d_]+\s+){{1,4}}?[(（]\s*(?P<series>{ONE})\s*[)）]")
"""A denial of words that an option's letter stands behind in brackets, "he is not waving (D)"."""
DENIED_ALIKE = lazy_pattern(rf"\bso\s+(?:is|are|was|were|does|do|did)\s+{FILLED}(?P<series>(?>{ONE}{MORE}))")
"""What is denied as others were before it, "and so is D"."""
HEDGE = Words("seeming")
DENIED_ALL = Words("denial_of_all", pattern="{}(?P<behind>.*)")
GIVES_WAY = Words("first_thought", "concession", "hypothesis", pattern="{}[^.;；。,，、،।—]*")
SAID_BY_OTHERS = Words(
    "speaker",
    pattern=rf"{{}}[^.;!?。！？{SIGNS}]{{0,60}}?{words('saying')}[^.;,，。{SIGNS}]{{0,40}}{V}[^.;；。,，、،।—]*",
)
UNREAL = lazy_pattern(
    rf"(?:{V}\s*+)?{words('unreal')}\s*+{FILLED}{V}?[^.;{SIGNS}]{{0,60}}?{words('condition_behind')}[^.;；。।]*"
)
"""What would be on a condition, "C would be right if …"."""
EXCEPTED = tuple(
    Words(name, pattern=pattern)
    for name, pattern in (
        (
            "universal",
            rf"{{}}(?:\s+(?!{words('copula')})\w+){{0,3}}[,،]?\s+{words('exception', 'but')}\s*+{FILLED}({ONE}{MORE})",
        ),
        ("exception", rf"{{}}\s*+{FILLED}({ONE}{MORE})[^{SIGNS}.;。]{{0,40}}?{words('universal')}"),
    )
)
EXCEPTED_BEHIND = lazy_pattern(rf"({V})[\s)\]⟧]{{0,4}}{words('exception_behind')}")
DENIES = Words("denial_before", "denial_behind", "faulty", "nothing")
VALUE = lazy_pattern(V)

AFFIRMED = lazy_pattern(
    rf"((?>{FIRST_ONE}{MORE}))(?:{OF}(?:{words('copula')}\s+{ADVERBS}{words('affirmation')}|{ADVERBS}{words('holding')}"
    rf"|[^{SIGNS}.,;。，、।不没未]{{0,16}}?{words('agreement')}"
    rf"|{words('holding_at_end')}(?=\s*(?:[.,;!?。，、।]|$)))"
    rf"|\s*+[:：|–—-]\s*{words('affirmation')}|[\s:：|–—-]*+[✓✔✅☑])"
    rf"|(?:{words('right_is')}\s*+{FILLED}|{words('copula')}\s+(?={V}\s+{words('affirmation')}))({ONE}{MORE})"
)
LIKELY = lazy_pattern(
    rf"((?>{FIRST_ONE}{MORE})){OF}{words('copula', 'seeming')}\s+{ADVERBS}{words('affirmation', 'likely')}"
)
PREFERENCE, CONTRAST = Words("preference"), Words("contrast")
CONCLUSION = Words("conclusion")
_NO_SUPERLATIVE = r"(?<!ее\s)(?<!жде\s)"
"""No Russian comparative, behind which a word of totals makes a superlative, "скорее всего"."""
TOTAL_AHEAD = Words("total_ahead", pattern=rf"{_NO_SUPERLATIVE}{{}}[^{SIGNS}.;。；、]{{0,40}}({V})")
"""A total as Chinese, Japanese and Korean put it, before its number."""
_TOTAL = f"{_NO_SUPERLATIVE}{words('total')}"
TOTAL = lazy_pattern(rf"({V})[^{SIGNS},.;，。；、]{{0,30}}{_TOTAL}|{_TOTAL}[^{SIGNS}.;。；]{{0,40}}({V})")
ARROW = re.compile(r"→|⇒|=>|->")
BETWEEN = lazy_pattern(rf"(?:between|entre|zwischen|在)\s*+{FILLED}{ONE}{AND}{ONE}(?:之间)?")
ASIDE = lazy_pattern(rf"[(（](?!\s*+{words('alternative')})(?=[\s{SIGNS}]*+[^()（）\s{SIGNS}])[^()（）]*+[)）]")
GLOSS = lazy_pattern(rf"({V}[)\]⟧]?)\s?[(（]([^()（）{SIGNS}]{{1,80}})[)）](?=\s*+[^\s.!?。！？।])")
"""A value with words of it in brackets, of which the sentence goes on to speak."""
APART = lazy_pattern(rf"[(（⟦]\s*({V})\s*[)）⟧]")
ALONE = lazy_pattern(rf"({FIRST_ONE}{MORE})(?=\s*(?:$|[.,;:!?)—。，；：]))")
ALTERNATIVE = lazy_pattern(rf"{words('alternative')}\s*+{FILLED}({V})|[/]\s*+({V})")

SUBJECT = lazy_pattern(rf"{FIRST_ONE}\s*+(?!{words('reason', 'conclusion', 'contrast', 'alternative')})[^\W\d_]")
"""A value of which a sentence goes on to say something."""

PREDICATE = lazy_pattern(
    rf"{FIRST_ONE}\s++(?!{words('reason', 'conclusion', 'contrast', 'alternative', 'copula')})[a-z]"
)
"""The same, where words are written apart, and what is said is no mere "is"."""

JOINED = lazy_pattern(rf"{FIRST_ONE}(?:(?:{AND}|\s*+[,，،、;；]\s*+){ONE})*+")


class _Verdict(Words):
    """Words, or signs, that say that something holds, or holds not."""

    def may_be_in(self, lowered: str) -> bool:
        return super().may_be_in(lowered) or (not lowered.isascii() and _SIGN_OF_VERDICT.search(lowered) is not None)


_SIGN_OF_VERDICT = re.compile("[❌✗✘✖✅✓✔]")
VERDICT = _Verdict(
    "certain",
    "holds",
    "holds_not",
    pattern=rf"{words('certain')}|(?P<holds_not>{words('holds_not')}|[❌✗✘✖])|{words('holds')}|[✅✓✔]"
    r"|\bholds(?=\s*(?:[.,;!?]|$))",
)
