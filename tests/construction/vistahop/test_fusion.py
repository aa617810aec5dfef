"""Stage 6 by rule: values of answers, results of operations and declared conditions, against a second reckoning."""

import random
import string
from decimal import Decimal, localcontext
from statistics import fmean

import pytest

from gigavqa.construction.vistahop.fusion import (
    OPERATIONS,
    Condition,
    FusionError,
    answer_value,
    choose,
    fuse,
    offered_values,
    question_faults,
)

GOOD = (
    "Consider the letters in the name of the firm whose mark is shown in the image, together with those of its town. "
    "What is the result?"
)


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        ("Hamburg", {"first_letter": 8, "characters": 7, "words": 1, "vowels": 2}),
        ("Île-de-France", {"first_letter": 9, "characters": 11, "words": 1, "vowels": 5}),
        (
            "Opened in 1911",
            {
                **{"first_letter": 15, "characters": 12, "words": 3, "vowels": 4, "digit_sum": 12},
                **{"year": 1911, "years_since": 115},
            },
        ),
        ("Москва", {"characters": 6, "words": 1}),
        ("1911-1923", {"characters": 8, "words": 1, "digit_sum": 27}),
        ("3,021", {"characters": 4, "words": 1, "digit_sum": 6}),
        ("20210", {"characters": 5, "words": 1, "digit_sum": 5}),
        ("", {}),
    ],
)
def test_values_are_offered_where_everybody_reads_the_same(answer: str, values: dict[str, int]) -> None:
    """Another script has no place in the alphabet, and of two years none is the year."""
    assert offered_values(answer, reference_year=2026) == values


def test_a_year_that_the_question_tells_is_no_value() -> None:
    """Nor are years since a year that has not come."""
    with pytest.raises(FusionError, match="tells the year 1911 itself"):
        answer_value("1911", "year", question="What opened in 1911?")
    with pytest.raises(FusionError, match="need a reference year that is not before it"):
        answer_value("1911", "years_since", reference_year=1900)


def test_values_agree_with_a_second_reckoning_over_plain_words() -> None:
    """Two thousand random answers of ASCII letters, digits, marks and spaces."""
    dice = random.Random(11)
    for _ in range(2000):
        answer = "".join(dice.choices(string.ascii_letters + string.digits + " -'.", k=dice.randint(1, 24)))
        letters = [each for each in answer.lower() if each in string.ascii_lowercase]
        digits = [each for each in answer if each in string.digits]
        told = offered_values(answer)
        expected = {
            "first_letter": string.ascii_lowercase.index(letters[0]) + 1 if letters else None,
            "characters": len(letters) + len(digits) or None,
            "words": len([word for word in answer.split(" ") if word]) or None,
            "vowels": len([each for each in letters if each in "aeiou"]) if letters else None,
            "digit_sum": sum(int(each) for each in digits) if digits else None,
        }
        assert {name: told.get(name) for name in expected} == expected, answer  # type: ignore[call-overload]


def test_operations_agree_with_decimal_arithmetic_and_say_what_they_cannot_write() -> None:
    """Of three thousand draws, what is written is exact, and what is not needs more than two decimals."""
    dice = random.Random(12)
    with localcontext() as context:
        context.prec = 60
        for _ in range(3000):
            operation = dice.choice(OPERATIONS)
            count = 2 if operation in ("subtract", "divide") else dice.randint(2, 5)
            values = [dice.randint(1, 60) for _ in range(count)]
            numbers = list(map(Decimal, values))
            product = Decimal(1)
            for number in numbers:
                product *= number
            result = {
                "add": sum(numbers, Decimal(0)),
                "subtract": numbers[0] - numbers[1],
                "multiply": product,
                "divide": numbers[0] / numbers[1],
                "max": max(numbers),
                "min": min(numbers),
                "avg": sum(numbers, Decimal(0)) / count,
            }[operation]
            if result == result.quantize(Decimal("0.01")):
                assert Decimal(fuse(values, operation)) == result
            else:
                with pytest.raises(FusionError, match="more than two decimals"):
                    fuse(values, operation)
    assert fuse([1, 2], "avg") == str(fmean([1, 2]))


@pytest.mark.parametrize(
    ("values", "operation", "told"),
    [
        ([1], "add", "two values or more"),
        ([1, 2, 3], "subtract", "takes two values, not 3"),
        ([1, 0], "divide", "the second value is 0"),
    ],
)
def test_an_operation_that_cannot_be_is_refused(values: list[int], operation: str, told: str) -> None:
    """By a sentence."""
    with pytest.raises(FusionError, match=told):
        fuse(values, operation)  # type: ignore[arg-type]


def test_a_declared_condition_chooses_or_says_that_it_does_not_decide() -> None:
    """Ties, equal choices and items that there are not are refused."""
    assert choose([5, 3, 8, 9], Condition(0, "greater", then=2, otherwise=3, right=1)) == "8"
    assert choose([5, 3, 8, 9], Condition(0, "less", then=2, otherwise=3, right=1)) == "9"
    assert choose([5, 3], Condition(0, "even", then=0, otherwise=1)) == "3"
    for values, rule, told in (
        ([5, 5, 1], Condition(0, "greater", then=1, otherwise=2, right=1), "both values are 5"),
        ([5, 3, 3], Condition(0, "even", then=1, otherwise=2), "both choices have one value"),
        ([5, 3], Condition(0, "even", then=1, otherwise=7), "speaks of item 7; there are 2"),
        ([5, 3], Condition(0, "less", then=1, otherwise=0), "compares two items"),
    ):
        with pytest.raises(FusionError, match=told):
            choose(values, rule)


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        (GOOD, ""),
        (GOOD.removesuffix("What is the result?"), "does not end with"),
        ("Add what the image shows. What is the result?", "characters before its ending"),
        (GOOD.replace("letters", "7 letters"), "has a number"),
        (GOOD.replace("the image", "the picture"), "does not speak of the image"),
        (GOOD.replace("Consider", "For the final answer consider"), "says 'final answer'"),
        (GOOD.replace("its town", "ANSEL  Hoist"), "names 'Ansel Hoist'"),
        (GOOD.replace("its town", "Ansels Hoisting"), ""),
    ],
)
def test_a_fused_question_keeps_the_printed_constraints(question: str, fault: str) -> None:
    """Names count as whole words, whatever their case."""
    found = question_faults(question, ["Ansel Hoist", "Ansel Hoist"])
    assert len(found) == bool(fault) and fault in "".join(found)
