"""VistaHop's stage 6, exactly: values of answers and what is made of several of them are computed here, by no model.

A model may only propose which method and which operation; what it computed is never read.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Literal, get_args

from gigavqa.construction.vistahop.names import folded_text, told_names

ValueMethod = Literal["first_letter", "characters", "words", "vowels", "digit_sum", "year", "years_since"]
VALUE_METHODS: tuple[ValueMethod, ...] = get_args(ValueMethod)
Operation = Literal["add", "subtract", "multiply", "divide", "max", "min", "avg"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

ENDING = "What is the result?"
_SHORTEST_QUESTION = 50
_FORBIDDEN = ("final answer", "the answer is", "calculate the answer")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)", re.ASCII)
_FIRST_YEAR, _LAST_YEAR = 1000, 2029
_PAIR = 2
_PLACES = 100
"""Hundredths: a result that needs more decimals has no one way to be written."""


class FusionError(ValueError):
    """A value or a result cannot be had: a sentence that says of what and why."""


@dataclass(frozen=True)
class Condition:
    """A rule that chooses: of item `then` where it holds, else of item `otherwise`; items count from 0.

    It holds where the value of item `left` is `greater` or `less` than that of item `right`, or is `even`.
    """

    left: int
    relation: Literal["greater", "less", "even"]
    then: int
    otherwise: int
    right: int | None = None


def answer_value(answer: str, method: ValueMethod, *, reference_year: int | None = None, question: str = "") -> int:
    """Return the value of a canonical answer by a method; `years_since` counts to `reference_year`.

    `question` is the answer's own, which may not tell its year. Raises FusionError where people could read off
    another value, or none.
    """
    text = unicodedata.normalize("NFC", answer).strip()
    if method in ("year", "years_since"):
        year = _year(text, question)
        if method == "year":
            return year
        if reference_year is None or reference_year < year:
            raise FusionError(f"'{answer}': years since {year} need a reference year that is not before it")
        return reference_year - year
    return _READERS[method](text)


def offered_values(answer: str, *, reference_year: int | None = None, question: str = "") -> dict[ValueMethod, int]:
    """Return the values of all methods that an answer allows, in their order."""
    found: dict[ValueMethod, int] = {}
    for method in VALUE_METHODS:
        try:
            found[method] = answer_value(answer, method, reference_year=reference_year, question=question)
        except FusionError:
            continue
    return found


def fuse(values: Sequence[int], operation: Operation) -> str:
    """Return what an operation makes of two values or more, as it is written. Raises FusionError."""
    if len(values) < _PAIR:
        raise FusionError(f"{operation} needs two values or more, not {len(values)}")
    if operation in ("subtract", "divide") and len(values) != _PAIR:
        raise FusionError(f"{operation} takes two values, not {len(values)}")
    if operation == "divide" and values[1] == 0:
        raise FusionError("divide: the second value is 0")
    return _written(_OPERATIONS[operation]([Fraction(value) for value in values]))


def choose(values: Sequence[int], rule: Condition) -> str:
    """Return the value that a declared rule chooses. Raises FusionError where it does not decide."""
    places = [place for place in (rule.left, rule.right, rule.then, rule.otherwise) if place is not None]
    if strange := [place for place in places if not 0 <= place < len(values)]:
        raise FusionError(f"the rule speaks of item {strange[0]}; there are {len(values)}")
    if values[rule.then] == values[rule.otherwise]:
        raise FusionError("both choices have one value, so that nobody need look at the condition")
    return str(values[rule.then if _holds(values, rule) else rule.otherwise])


def question_faults(question: str, names: Sequence[str]) -> list[str]:
    """Return what is wrong with a fused question's words, by the constraints of the printed prompt (table 28).

    `names` are the answers and the entities of its chains, aliases included.
    """
    text = " ".join(question.split())
    body = text.removesuffix(ENDING).strip()
    folded = folded_text(body)
    faults = [] if text.endswith(ENDING) else [f"it does not end with '{ENDING}'"]
    if len(body) < _SHORTEST_QUESTION:
        faults.append(f"it has {len(body)} characters before its ending; at least {_SHORTEST_QUESTION}")
    if any(map(str.isdecimal, body)):
        faults.append("it has a number")
    if "the image" not in folded:
        faults.append("it does not speak of the image")
    faults += [f"it says '{phrase}'" for phrase in _FORBIDDEN if phrase in folded]
    return faults + [f"it names '{name}'" for name in told_names(body, names)]


def _holds(values: Sequence[int], rule: Condition) -> bool:
    left = values[rule.left]
    if rule.relation == "even":
        return left % 2 == 0
    if rule.right is None or rule.right == rule.left:
        raise FusionError(f"the rule '{rule.relation}' compares two items")
    right = values[rule.right]
    if left == right:
        raise FusionError(f"the rule does not decide: both values are {left}")
    return left > right if rule.relation == "greater" else left < right


def _year(text: str, question: str) -> int:
    found = {int(year) for year in _YEAR.findall(text)}
    years = {year for year in found if _FIRST_YEAR <= year <= _LAST_YEAR}
    if len(found) != 1 or not years:
        raise FusionError(f"'{text}' has not one year of {_FIRST_YEAR} to {_LAST_YEAR} as its only four-digit number")
    (year,) = years
    if str(year) in _YEAR.findall(question):
        raise FusionError(f"the question of '{text}' tells the year {year} itself")
    return year


def _first_letter(text: str) -> int:
    first = next((character for character in text if character.isalpha()), "")
    return ord(_latin(text, first)) - ord("a") + 1


def _characters(text: str) -> int:
    """Return how many letters and digits there are."""
    return _some(sum(unicodedata.category(character)[0] in "LN" for character in text), text, "letters or digits")


def _words(text: str) -> int:
    return _some(len(text.split()), text, "words")


def _vowels(text: str) -> int:
    letters = [_latin(text, character) for character in text if character.isalpha()]
    return sum(letter in "aeiou" for letter in _nonempty(letters, text))


def _digit_sum(text: str) -> int:
    digits = [character for character in text if character.isdecimal()]
    if not digits or not all(map(str.isascii, digits)):
        raise FusionError(f"'{text}' has no digits 0 to 9 alone")
    return sum(map(int, digits))


def _latin(text: str, letter: str) -> str:
    """Return a letter without accents, small. Raises FusionError for one of another script, or none."""
    plain = unicodedata.normalize("NFD", letter)[:1].casefold()
    if not ("a" <= plain <= "z" and len(plain) == 1):
        raise FusionError(f"'{text}' has a letter that is none of A to Z, or no letter")
    return plain


def _nonempty(letters: list[str], text: str) -> list[str]:
    _some(len(letters), text, "letters")
    return letters


def _some(number: int, text: str, what: str) -> int:
    if not number:
        raise FusionError(f"'{text}' has no {what}")
    return number


def _written(result: Fraction) -> str:
    """Return a number of two decimals at most, without zeros that say nothing. Raises FusionError for others."""
    if (result * _PLACES).denominator != 1:
        raise FusionError(f"the result {result} has more than two decimals")
    if result.denominator == 1:
        return str(result.numerator)
    return f"{float(result):.2f}".rstrip("0")


_READERS: Mapping[str, Callable[[str], int]] = {
    "first_letter": _first_letter,
    "characters": _characters,
    "words": _words,
    "vowels": _vowels,
    "digit_sum": _digit_sum,
}
_OPERATIONS: Mapping[Operation, Callable[[Sequence[Fraction]], Fraction]] = {
    "add": lambda values: sum(values, Fraction()),
    "subtract": lambda values: values[0] - values[1],
    "multiply": lambda values: reduce(mul, values),
    "divide": lambda values: values[0] / values[1],
    "max": max,
    "min": min,
    "avg": lambda values: sum(values, Fraction()) / len(values),
}
