"""Whether a text says that it gives no answer (appendix D.2, V0)."""

import re

_PHRASES = (
    r"\bnot\s+sure\b|\bunsure\b|\buncertain\b|\babstain|\bi\s+(?:do\s+not|don't|don’t)\s+know\b|\brather\s+not\s+(?:guess|say|answer)\b|\bno\s+(?:definitive\s+)?answer\b"
    r"|\b(?:can\s*not|can't|can’t|could\s+not|couldn't|impossible\s+to|unable\s+to|not\s+possible\s+to|no\s+way\s+to|not\s+able\s+to)\s+"
    r"(?:\w+\s+){0,3}?(?:determine|determined|answer|answered|tell|say|know|known|judge|identify|identified|verify|verified|decide"
    r"|decided|see|view|provide|assess|inferred|infer|conclude|establish|established|be\s+sure)"
    r"|\b(?:do\s+not|don't|don’t)\s+have\s+(?:the\s+ability|access)|\b(?:can't|can’t|cannot|unable\s+to)\s+(?:help|assist)\b"
    r"|\bneed\s+(?:to\s+see\s+)?(?:the|an)\s+image|\b(?:share|upload|attach)\s+(?:the|an)\s+image"
    r"|\b(?:was|is|were|has|have)\s+not\s+(?:been\s+)?(?:provided|attached|included|supplied)\b"
    r"|\b(?:information|evidence)\s+is\s+(?:insufficient|not\s+sufficient|inadequate)"
    r"|\b(?:insufficient|not\s+enough|inadequate)\s+(?:visual\s+)?(?:information|evidence|context|data|detail)"
    r"|\b(?:no|without\s+(?:an?|the|any|seeing\s+the))\s+image\b|\bimage\s+(?:is|was)\s+(?:not|n't)\s+(?:provided|available|visible|shown)"
    r"|\bindeterminable\b|\bunanswerable\b|\bundetermined\b|\bunknown\b|\bnone\s+of\s+the\s+above\b|^\W*n/?a\W*$"
    r"|无法|不能确定|不确定|不知道|没有(?:提供)?图|無法|不確定|判断できません|わかりません|分かりません|特定できません"
    r"|알 수 없|확인할 수 없|확실하지|판단할 수 없"
    r"|ne\s+(?:sais|peux|peut)\s+pas|impossible\s+(?:de|à)\b|pas\s+sûr|je\s+ne\s+suis\s+pas"
    r"|no\s+(?:se\s+)?(?:puede|puedo)\b|no\s+(?:lo\s+)?sé\b|no\s+estoy\s+segur|não\s+(?:é\s+possível|posso|sei|tenho\s+certeza)|non\s+(?:è\s+possibile|posso|so\b)"
    r"|nicht\s+(?:sicher|bestimm|feststell|beantwort|möglich)|weiß\s+(?:ich\s+)?nicht|kann\s+(?:\w+\s+){0,4}nicht"
    r"|не\s+(?:могу|уверен|знаю|определ)|невозможно|недостаточно|нельзя|لا\s+يمكن|لا\s+أستطيع"
)
_ABSTENTION = re.compile(_PHRASES, re.IGNORECASE)
_COMMITS = re.compile(
    r"\b(?:but|however|though|although|guess|likely|if\s+i\s+had\s+to|still|nonetheless|yet|best)\b|但|mais|pero|aber|но\b",
    re.IGNORECASE,
)


_STEMS = (
    "not", "n't", "no ", "unsure", "uncertain", "abstain", "impossible", "unable", "insufficient", "inadequate",
    "without", "unknown", "undeterm", "indeterm", "unanswer", "none of", "n/a", "pas", "nicht", "puede", "puedo",
    "posso", "non", "can't", "need", "share", "upload", "attach",
)  # fmt: skip
_OTHER_STEMS = (
    "無", "无", "不", "没有", "判断", "わかり", "分かり", "特定", "알 수", "확인", "확실", "판단", "sais", "peux",
    "peut", "suis", "sé", "estoy", "não", "weiß", "kann", "can’t", "don’t", "не", "нельзя", "لا",
)  # fmt: skip
"""One of these, or, in an ASCII text, of the former, stands in every text that the pattern finds; looking for them is
far cheaper."""


def abstains(text: str) -> bool:
    """Whether the text says that the answer cannot be given."""
    lowered = text.lower()
    stems = _STEMS if text.isascii() else _STEMS + _OTHER_STEMS
    if not any(stem in lowered for stem in stems):
        return False
    return bool(_ABSTENTION.search(text))


def commits(text: str) -> bool:
    """Whether a text that says so goes on to name its best guess."""
    return bool(_COMMITS.search(text))
