"""A list that says of each option whether it holds means the one that it affirms, in every layout and language."""

from collections.abc import Callable

import pytest

from gigavqa.answers.final import parse_answer
from tests.answers import wordings
from tests.answers.replies import LANGUAGES, OPTIONS, Told, misread

LAYOUTS: dict[str, Callable[[str, str, str], str]] = {
    "colons": lambda letter, text, verdict: f"{letter}: {verdict}",
    "stops": lambda letter, text, verdict: f"{letter}. {verdict}",
    "brackets": lambda letter, text, verdict: f"({letter}) {verdict}",
    "bullets": lambda letter, text, verdict: f"- **{letter}**: {verdict}",
    "arrows": lambda letter, text, verdict: f"{letter} → {verdict}",
    "equals": lambda letter, text, verdict: f"{letter} = {verdict}",
    "dashes": lambda letter, text, verdict: f"{letter} - {verdict}",
    "texts between": lambda letter, text, verdict: f"{letter}. {text}: {verdict}",
    "brackets behind": lambda letter, text, verdict: f"{letter} ({text}): {verdict}",
    "words behind dashes": lambda letter, text, verdict: f"{letter} – {text}: {verdict}",
    "rows": lambda letter, text, verdict: f"| {letter} | {verdict} |",
    "rows with texts": lambda letter, text, verdict: f"| {letter} | {text} | {verdict} |",
    "headings": lambda letter, text, verdict: f"## Option {letter}\n{verdict}\n",
    "bold headings": lambda letter, text, verdict: f"**{letter}.** {text}\n{verdict}\n",
    "questions": lambda letter, text, verdict: f"{letter}? {verdict}",
}


MARKS = (("✅", "❌"), ("✓", "✗"), ("[x]", "[ ]"), ("☑", "☐"))


def listed(layout: str, meant: str, verdicts: tuple[str, str]) -> Told:
    """All options in order, with what is said of each."""
    rows = (LAYOUTS[layout](letter, text, verdicts[letter != meant]) for letter, text in OPTIONS.items())
    return Told("\n".join(rows), meant)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_list_of_verdicts_means_the_option_that_it_affirms(layout: str, language: str) -> None:
    """In words of every language, whichever option it is."""
    verdicts = [*wordings.VERDICTS[language], *MARKS]
    assert not misread([listed(layout, meant, one) for one in verdicts for meant in OPTIONS])


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("joint", ["\n", "  ", ", "])
def test_marks_beside_letters_mean_the_option_that_is_marked(marks: tuple[str, str], joint: str) -> None:
    """Before them or behind them, on lines of their own or on one."""
    before = [Told(joint.join(f"{marks[one != meant]} {one}" for one in OPTIONS), meant) for meant in OPTIONS]
    behind = [Told(joint.join(f"{one} {marks[one != meant]}" for one in OPTIONS), meant) for meant in OPTIONS]

    assert not misread([*before, *behind])


INLINE = ("{}: {}", "{}) {}", "({}) {}", "{} — {}", "{} → {}", "{} = {}", "'{}': {}", "**{}**: {}")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("layout", INLINE)
def test_a_list_of_verdicts_in_one_line_is_one(layout: str, language: str) -> None:
    """Whatever parts its rows; in Korean and Japanese letters may have a particle, and O and X stand for verdicts."""
    marked = [("O", "X"), ("1", "0"), ("True", "False"), ("✅", "❌")]
    replies = [
        Told(joint.join(layout.format(one, verdicts[one != meant]) for one in OPTIONS) + end, meant)
        for verdicts in [*wordings.VERDICTS[language], *marked]
        for joint, end in ((", ", ""), ("; ", "."), (". ", "."), (" / ", ""))
        for meant in OPTIONS
    ]
    assert not misread(replies)


@pytest.mark.parametrize("particle", ["는", "은", "は"])
def test_a_particle_joins_a_letter_to_its_verdict(particle: str) -> None:
    """As Korean and Japanese do, in a line."""
    assert not misread(
        [
            Told(", ".join(f"{one}{particle} {'X' if one != meant else 'O'}" for one in OPTIONS), meant)
            for meant in OPTIONS
        ]
    )


def test_what_is_lettered_in_a_line_and_is_no_option_gives_no_answer() -> None:
    """Nor do the options' own words, where they are words of verdicts."""
    assert parse_answer("Claim A: false, Claim B: true, Claim C: false.", OPTIONS).value is None
    assert parse_answer("A: yes, B: no", {"A": "yes", "B": "no"}).value is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_list_that_affirms_none_or_several_means_none(layout: str, language: str) -> None:
    """Never the last of its rows."""
    for right, wrong in wordings.VERDICTS[language]:
        for verdicts in ((wrong, wrong), (right, right)):
            assert parse_answer(listed(layout, "B", verdicts).text, OPTIONS).value is None
