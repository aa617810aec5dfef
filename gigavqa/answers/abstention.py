"""Whether a text says that it gives no answer (appendix D.2, V0). Its words stand in `lexicon.toml`."""

import re

from gigavqa.answers.lexicon import Words, words

_FORMS = (
    Words("ignorance"),
    Words("inability", pattern=rf"{{}}\s+(?:\w+\s+){{0,3}}?{words('knowing')}"),
    Words("absence", pattern=rf"{{}}\s*(?:{words('enough')}\s+){{0,2}}?{words('information')}"),
    Words("too_little", pattern=rf"{{}}\s+{words('evidence')}"),
    Words("none_of", pattern=rf"{{}}[^.;!?]{{0,24}}?\s(?:can|could|may)\s+be\s+{words('knowing')}"),
)
_ANY = Words("ignorance", "inability", "absence", "too_little", "none_of")
_UNSURE = Words("unsure")
_NOT_APPLICABLE = re.compile(r"\W{0,8}n/?a\W{0,8}")
_COMMITMENT = Words("commitment")


def abstains(text: str) -> bool:
    """Return whether the text says that the answer cannot be given."""
    lowered = text.lower()
    return _find(lowered) is not None or bool(_NOT_APPLICABLE.fullmatch(lowered))


def find_abstention(text: str) -> re.Match[str] | None:
    """Find where a text says that the answer cannot be given; that it is not sure of one says none of that."""
    return _find(_UNSURE.sub(lambda hedge: " " * len(hedge[0]), text.lower()))


def _find(lowered: str) -> re.Match[str] | None:
    forms = _FORMS if _ANY.may_be_in(lowered) else ()
    return next((found for form in forms if (found := form.search(lowered))), None)


def commits(text: str) -> bool:
    """Return whether a text that says so goes on to name its best guess."""
    return bool(_COMMITMENT.search(text.lower()))
