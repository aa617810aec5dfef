"""Writes words that English spells in two ways in one of them, so that "grey" and "gray" are compared as one."""

import re

PAIRS = (
    ("aeroplane", "airplane"), ("aluminium", "aluminum"), ("anaem", "anem"), ("armour", "armor"),
    ("catalogue", "catalog"), ("centred", "centered"), ("centre", "center"), ("colour", "color"), ("fibre", "fiber"),
    ("foetal", "fetal"), ("foetus", "fetus"), ("grey", "gray"), ("haem", "hem"), ("harbour", "harbor"),
    ("jewellery", "jewelry"), ("kerb", "curb"), ("labour", "labor"), ("leukaem", "leukem"), ("litre", "liter"),
    ("metre", "meter"), ("mould", "mold"), ("neighbour", "neighbor"), ("odour", "odor"), ("oedema", "edema"),
    ("oesoph", "esoph"), ("paediatr", "pediatr"), ("plough", "plow"), ("sulph", "sulf"), ("theatre", "theater"),
    ("tumour", "tumor"), ("tyre", "tire"), ("vapour", "vapor"),
)  # fmt: skip
"""How words begin that are spelled in two ways: as in Britain, and as in America."""
_AMERICAN = dict(PAIRS)
_MEASURE = r"(?:kilo|centi|milli|micro|nano)?"
_BRITISH = re.compile(rf"(?<![^\W_])(?P<measure>{_MEASURE})(?P<word>{'|'.join(british for british, _ in PAIRS)})")
_WORD = re.compile(rf"(?P<measure>{_MEASURE})(?P<word>{'|'.join(american for _, american in PAIRS)})(?P<rest>\w*)")
_EITHER = {american: f"(?:{american}|{british})" for british, american in PAIRS}


def one_spelling(text: str) -> str:
    """Return a text that is in lower case with the American form of each word that has two."""
    return _BRITISH.sub(lambda found: found["measure"] + _AMERICAN[found["word"]], text)


def either_spelling(word: str) -> str:
    """Return a pattern that matches a word, as `one_spelling` writes it, in either of its forms."""
    found = _WORD.fullmatch(word)
    return f"{found['measure']}{_EITHER[found['word']]}{found['rest']}" if found else re.escape(word)
