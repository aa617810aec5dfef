"""The paper's two rules to the letter, on the cases that they print and on those that show their weaknesses."""

import pytest

from gigavqa.benchmarks.mmcr.answers import match_option, read_final_letter
from tests.benchmarks.mmcr.examples import COLOURS

S21 = (
    "The correct answer is: B. A single categorical label may correspond to several text descriptions, each describing "
    "a different feature of the image."
)
S21_OPTIONS = {
    "A": "The labels are not known.",
    "B": "A single categorical label may correspond to several text descriptions, each describing a different "
    "feature of the image.",
    "C": "Labels are numbers.",
    "D": "There are no labels.",
    "E": "The text is the label.",
}


@pytest.mark.parametrize(
    ("text", "letter", "status"),
    [
        ("B", "B", "option"),
        ("Answer: (B).", "B", "option"),
        ("**C**", "C", "option"),
        ("B, then B again", "B", "option"),
        ("The bar is blue.", "B", "text"),
        ("The bar is blue", None, "unmatched"),
        ("A bar that is blue.", "A", "option"),
        ("A blue bar, so B.", None, "unmatched"),
        ('"D"', None, "unmatched"),
        ("b", None, "unmatched"),
        ("Either B or C", None, "unmatched"),
        ("Not red. Blue.", None, "unmatched"),
        ("I choose\nB because A is red.", "A", "text"),
        ("", None, "unmatched"),
        ("<think>It is B.", None, "unmatched"),
        ("<think>It is B.</think>C", "C", "option"),
        ("B?", None, "unmatched"),
        ("[E]{E}#E!;E", "E", "option"),
        ("F", None, "unmatched"),
    ],
)
def test_the_rules_are_kept_to_the_letter(text: str, letter: str | None, status: str) -> None:
    """Letters that stand alone, and then wordings; the article and a lower-case letter are what the rules make them."""
    assert match_option(text, COLOURS) == (letter, status)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "I'm unable to process the file.",
        "I see no image.",
        "It is impossible to determine.",
    ],
)
def test_what_says_that_it_gives_no_answer_is_refused(text: str) -> None:
    """It is unmatched, and says so; both are wrong."""
    assert match_option(text, COLOURS) == (None, "refused")


def test_behind_an_announcement_its_line_alone_counts() -> None:
    """The last marker decides, whatever its case; white space and line breaks behind it are skipped."""
    text = "Options A, B and C are possible.\nAnswer: A\nNo. FINAL ANSWER:\n\n  D\nBecause A is wrong."
    assert match_option(text, COLOURS, announced=True) == ("D", "option")
    assert match_option(text, COLOURS) == (None, "unmatched")
    assert match_option("All of A and B fail; so Green.", COLOURS, announced=True) == ("C", "text")
    assert match_option("It is B. Answer:", COLOURS, announced=True) == (None, "unmatched")


@pytest.mark.parametrize(
    "form",
    [
        "**Answer**: {}", "**Answer:** {}", "**Final Answer**\n\n{}", "### Answer\n{}", "Answer : {}",
        "The answer is: {}", "'Answer: {}'", 'Final answer: "{}"', "`Answer`: `{}`", "> Answer: {}", "ANSWER:\n**{}**",
        "\"Final answer: '{}'\"",
    ],
)  # fmt: skip
@pytest.mark.parametrize("reasoning", ["", "Options A, B and E were looked at.\n\n", "The answer may be A or E.\n"])
def test_an_announcement_may_be_written_as_models_write(form: str, reasoning: str) -> None:
    """In markup, in the prompt's own quotes, with a blank before the colon, or as a heading."""
    for letter in COLOURS:
        assert match_option(reasoning + form.format(letter), COLOURS, announced=True) == (letter, "option")


def test_the_papers_case_of_a_matching_failure_is_none_by_its_rules() -> None:
    """Figure S.21: letters A and B are found, and then option B's wording alone."""
    assert match_option(S21, S21_OPTIONS) == ("B", "text")
    assert read_final_letter(S21, S21_OPTIONS) == "B"


def test_an_option_that_begins_another_is_a_trap_for_wordings() -> None:
    """Who writes the longer one has written the shorter one, too, unless full stops tell them apart."""
    options = {"A": "Loss", "B": "Loss of width", "C": "Gain"}
    assert match_option("loss of width", options) == (None, "unmatched")
    assert match_option("loss only", options) == ("A", "text")


def test_the_careful_reader_stands_beside() -> None:
    """It reads what the rules cannot: quotes, and a letter beside an article."""
    assert read_final_letter("A blue bar, so the answer is B.", COLOURS) == "B"
    assert read_final_letter('The answer is "D".', COLOURS) == "D"
    assert read_final_letter("Either B or C", COLOURS) is None
