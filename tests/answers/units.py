"""What a model in a loop writes again and again: units of text, alone and by turns."""

import json
import random
from collections.abc import Iterator

from gigavqa.answers.lexicon import classes, phrases
from gigavqa.catalogue.families.registry import FAMILIES
from gigavqa.contract.tool_loops import CALL_GRAMMARS, JsonCall, NamedCall, TaggedCall, ToolLoop

_SIGNS = tuple(
    "()[]{}<>*_`\"'“”‘’「」$\\#~|/&+=:：;；,，.。!?？-–—•→⇒%½²ﷺ㌀ﬃİßé٣〇☑✗✅❌ \t\n\r\u2028\u00a0\u3000\u200b\0"
)
_LETTERS = (
    "A", "a", "B", "I", "Z", "s", "é", "É", "и", "答", "는", "か", "न", "ا", "А", "1", "0", "99", "１",
    "\U000f0000",
)  # fmt: skip
_LETTERS_BY_OTHERS = (
    "A and ", "A, ", "A or B, ", "either A or ", "A是", "和A", "不是A", "A/B", "(A) ", "[A] ", "**A** ", "A. ",
    "A) x\n", "A: ", "not A ", "A is wrong ", "A is wrong. ", "A is B ", "Claim A ", "option A ", '"A" ',
    "A B C D ", "A\n", "- A: yes\n", "A: correct\nB: wrong\n", "A because ", "AB", "A A", "A's ", "a) ", "N/A ",
    "(A", "A)", "A;", "between A and ", "A but B ", "A so B ", "the A ", "A. X", "so. ", "so. so ", "A-",
    "A, B and C ", "none of A ", "A — B ", "- [ ] A\n", "- [x] A\n", "☑ A ", "A ❌ ", "A? No. ", "A? ", "A → no\n",
    "| A | no |\n", "## Option A\n\n", "A\n- [x] B\n", "all but A ", "all the other options but A ", "except A ",
    "except A all ", "A 以外", "以外A", "Although A ", "is A right ", "A is right ", "the right one is A ", "option a ",
    "So a. ", "**A**. ", "(A). ", "a. b ",
)  # fmt: skip
_NUMBERS = (
    "1 ", "1,", "1.", "1, 2, ", "1,111", "1,111 ", "-1", "- 1", "1%", "1 % ", "3 of 4 ", "[1, 2, 3, 4] ",
    "(1, 2) ", "(1, 2), (3, 4) ", "[0.1, 0.2, 0.3, 0.4],", "[[", "]]", "1:2 ", "1 to 2 ", "1-2,",
    "row 1 column 2 ", "row 1\n", "column ", "row ", "第1行第2列", "第一行", "三个", "1行目", "x1: 1, ",
    "left=1 ", "= 1 ", "total 1 ", "is 1 ", "one ", "twenty one ", "first row ", "second column ", "1e9", "1 e",
    "½ ", "1½", "0.", ".1", "1 1 1 1\n", "{1,2}", "<1, 2, 3, 4>", "1;2;", "13 ", "(1,", "1 /", "S1", "S1: ",
    "S1: 1\n", "Step 1: ", "step 1\n", "ROI 1", "6x6 ", "a ratio of 1 ", "1\n\n", "x1", "1 2 3 4 ",
    "at least 1 ", "1 or more ", "1 out of 2 ", "7th ", "1 234 ", "1 234", "1'234", "1_234", "1.234.", "1.234",
    "1: 1, ", "1, of which 1 ", "1 von 2 ", "1台以上", "more than ",
)  # fmt: skip
_MARKERS = (
    "Answer: ", "Answer: A ", "Final answer: ", "Final answer: A\n", "answer", "the answer is ", "the answer ",
    "Answer is not A. ", "\\boxed{", "\\boxed{A}", "\\boxed{}", "<answer>", "<answer>A</answer>", "<answer ",
    "</answer>", "答案", "答案是A", "最终答案：", "réponse finale ", "I choose A ", "I choose ", "ans ",
    "ans. ", "answer key ", "final ", "Correct option ", "if the answer is A, ", "one might answer A: ",
    "Answer: none. ", "Wait, ", "Wait, A. ", "no, actually ", "Actually B ", "sorry ", "等等", "Hmm, no. ",
    "at first A, ", "I thought A, ", "A more likely B ", "it's not ", "not ", "not the ", "no ", "n't ",
    "neither nor ", "is ", "is not ", "is clearly ", "therefore ", "so ", "therefore, ", "is really ",
    "the the ", "of the ", "both ", "cannot ", "can't tell ", "I do not know. ", "unable to ", "kann ",
    "no se ", "ne ", "n/a", "n/a ", "null", "none ", "none. ", "true ", "yes ", "yes. ", "yes or no ", "yes/",
    "no: ", "upper left: yes\n", "upper left: ", "option ", "Option A: ", "red ", "red, ", "not red ",
    "red is wrong ", "red or ", "red/blue/", "because ", "i.e. ", "e.g. ", "z. B. ", "judge", "<judge>",
    "<judge> ", "<judge>yes", "Q2.1 ", "May 1911 ", "1 May ", "1911-01-01", "in the year ", "1911 or ",
    "total_claim ", "group_a_more ", "Claim A is true ", "A is true, ", "Neither ", "the case ",
    "that is wrong ",
)  # fmt: skip
_JSON = (
    "{", '{"', '{"a', '{"a":', '{"a":1,', '{"a":[', '{"a":"', '{"a":{', "{'a':'", "{'", "{a:", "{a: ", "{a",
    '"a": ', '"a":1,\n', '"a"', '"', '["', '["a",', "['a', ", "[", "{}", "[]", '{"S1":true}', '{"S1": true, ',
    '"S1": "', '{"final_answer": "A"}', '{"answer": "', '{"answer": "A"}', '["answer": "', "answer: ",
    "{answer: ", ",answer", ",", "}", "]", "}}", "},", "\\", '\\"', "\\u", "\\u00", "//", "// a\n", '",',
    '", "', "': '", "`", "``", "```", "```json\n", "```\n", "``` ", "“", "“a”:", "{“a”:“", "(", "(a)", "{(",
    '{"a":(', '{"a": tru', '{"a":-', "{ ", "{\n", '{"a"\n', '{"step_id": "S1", "answer": 1}',
    '{"bbox_2d": [1, 2, 3, 4]}', '{"bbox_2d": [1, 2, 3, 4]},', '{"x1":1,', "null,", '{"a":1}', "a: b,",
    '{"name": "zoom", "arguments": {', "{a b", "{a.(", "-e", "1.e",
)  # fmt: skip
_MARKUP = (
    "# ", "## a\n", "**", "** ", "**a**", "* ", "* a\n", "- ", "- a\n", "| ", "|a|b|\n", "|---|", "> ", "1. ",
    "1. a\n", "$", "$$", "$x$", "\\(", "\\frac{", "\\text{", "\\text{a}", "\\mathrm{", "^{", "_{", "\\\\",
    "{}{", "<", "</", "<a", "<a>", "<|", "<|a", "<|a|>", "<|a|", "&amp;", "<!--", "[a](b)", "![", "~~", "---\n",
    "===\n", "\n- ", "\n\n", "\r\n", " \n", "\t ", "\n ", "  ", ".\n", ". ", ".. ", "! ", "? ", "?! ", "...",
    "…", "a. ", "a.\n", "A.\n", "a, ", "a ", "word ", "aa\n", ". so", " so\t", "a-b ", "a_b", "a - ", "a/",
    "a'", "’s", "it's ", '"a" ', "'a' ", "(a", "(a)", "(a) ", "a)", "（", "）", "（a）", "⟦", "⟧", "a:b", ":\n",
    ": ", " :", "a=",
)  # fmt: skip


def _grammars() -> Iterator[str]:
    for fields in CALL_GRAMMARS.values():
        loop = ToolLoop.model_construct(**fields)
        yield loop.opening
        yield loop.closing
        match loop.call:
            case JsonCall():
                yield f'{loop.opening}{{"{loop.call.name}": '
                yield f'"{loop.call.name}": "a", '
            case NamedCall():
                yield f"{loop.opening}{loop.call.prefix}a{loop.call.number_mark}0{loop.call.mark}"
                yield loop.call.mark
            case TaggedCall():
                key = f"{loop.call.key_opening}a{loop.call.key_closing}"
                yield f"{loop.opening}{loop.call.name_opening}a{loop.call.name_closing}"
                yield key
                yield f"{key}{loop.call.value_opening}1{loop.call.value_closing}"
        yield f"{loop.opening}{json.dumps({'name': 'zoom', 'arguments': {}})}{loop.closing}"


def _tags() -> Iterator[str]:
    for family in FAMILIES.values():
        yield from family.marks.written
        yield from family.marks.ends
    for name in ("thinking", "thought", "reasoning", "think"):
        yield from (f"<{name}>", f"</{name}>", f"<{name}>a</{name}>")
    yield from ("[THINK]", "[/THINK]", "<|channel|>analysis", "<|channel|>final")


def _lexicon() -> Iterator[str]:
    """Of each class the first phrases of any language, with a value before and behind."""
    for name in classes():
        for at, phrase in enumerate(phrases(name)):
            yield f"{phrase} " if at % 3 else f"A {phrase} " if at % 2 else f"{phrase}A"


LOOPS = (
    "A and ", "either A or ", "A是", "和A", "不是A", "(", "[", "[[", "½", "3 of 4 ", "[1, 2, 3, 4] ", "(1, 2) ",
    "ﷺ", "。", "A. ", "A or B, ", '{"a":1,', "Answer: A, ", "1 2 3 4 ", "Wait, A or B. ", " ", "\n", "S1: 1\n",
    "A\n- [x] B\n", "A? No. ", "A ❌ ", "all but A ", "1 out of 2 ", "1 234 ",
)  # fmt: skip
"""Units that cost minutes once, or cost the most now."""
SINGLE = tuple(
    dict.fromkeys(
        (
            *LOOPS,
            *_SIGNS,
            *_LETTERS,
            *_LETTERS_BY_OTHERS,
            *_NUMBERS,
            *_MARKERS,
            *_JSON,
            *_MARKUP,
            *_grammars(),
            *_tags(),
        )
    )
)
"""Units by hand, and the marks of all families and grammars."""
WORDS = tuple(dict.fromkeys(_lexicon()))
"""Phrases of the lexicon, in all its languages."""


def pairs(seed: int, number: int) -> list[str]:
    """Draw pairs and threes of units, glued together."""
    draw, every = random.Random(seed), (*SINGLE, *WORDS)
    return ["".join(draw.choices(every, k=draw.choice((2, 2, 3)))) for _ in range(number)]


def repeated(unit: str, length: int, ending: str = "") -> str:
    """Write a unit again and again, whole, as often as a text of that length has room for: a part could say another."""
    return unit * max(1, (length - len(ending)) // len(unit)) + ending
