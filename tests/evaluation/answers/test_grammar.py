"""Replies made of sentences of eleven languages are read as they mean, in every form, layout and dress."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from evaluation.answers.abstention import abstains
from evaluation.answers.booleans import read_boolean
from evaluation.answers.boxes import UNIT_FRAME, read_boxes
from evaluation.answers.choices import AnswerSpace, read_choices
from evaluation.answers.final import parse_answer
from evaluation.answers.lexicon import by_language
from evaluation.answers.normalization import said
from evaluation.answers.numbers import read_integer, read_number
from evaluation.answers.text import answer_text
from tests.evaluation.answers import wordings

OPTIONS = {
    "A": "beside the harbour wall",
    "B": "north of the old station",
    "C": "inside the round stadium",
    "D": "behind the covered market",
}
LANGUAGES = tuple(wordings.SENTENCES)
OTHERS = ("y", "z", "w")


class Told(NamedTuple):
    """A reply, and the option that it means."""

    text: str
    meant: str


def filled(sentence: str, letter: str = "{}") -> Iterator[Told]:
    """A sentence that means each of the options in turn, its letters dressed, "**B**"."""
    named = [name for name in ("x", *OTHERS) if f"{{{name}}}" in sentence]
    for at in range(len(OPTIONS)):
        letters = [*OPTIONS, *OPTIONS][at : at + len(named)]
        dressed = {name: letter.format(one) for name, one in zip(named, letters, strict=True)}
        yield Told(sentence.format(**dressed), letters[0])


def told(language: str, form: str, letter: str = "{}") -> list[Told]:
    """Every reply of a form in a language."""
    return [one for sentence in wordings.SENTENCES[language][form] for one in filled(sentence, letter)]


def misread(replies: list[Told]) -> list[tuple[str, str, str | None]]:
    """The replies of which another option was read, or none."""
    read = ((reply, parse_answer(reply.text, OPTIONS).value) for reply in replies)
    return [(reply.text, reply.meant, value) for reply, value in read if value != reply.meant]


def other_than(letter: str) -> str:
    """Another option."""
    return "ABCD"["ABCD".index(letter) - 1]


LETTERS = {
    "bold": "**{}**",
    "in italics": "*{}*",
    "in code": "`{}`",
    "in brackets": "({})",
    "in bold brackets": "**({})**",
    "between zero-width spaces": "\u200b{}\u200b",
    "behind a left-to-right mark": "\u200e{}",
}
DRESSES: dict[str, Callable[[str, str], str]] = {
    "plain": lambda text, language: text,
    "spaces behind": lambda text, language: f"{text}  \n\n ",
    "lines of Windows": lambda text, language: f"Well.\r\n\r\n{text}\r\n",
    "a polite sentence": lambda text, language: f"{text} {wordings.COURTESIES[language]}",
    "a polite paragraph": lambda text, language: f"{text}\n\n{wordings.COURTESIES[language]}",
    "all bold": lambda text, language: f"**{text}**",
    "word joiners": lambda text, language: "\u2060".join(text),
    "no-break spaces": lambda text, language: text.replace(" ", "\u00a0"),
    "thought before": lambda text, language: f"<think>Or A? Or D?</think>\n{text}",
    "a quotation": lambda text, language: "\n".join(f"> {line}" for line in text.splitlines()),
}
"""What changes nothing of what is meant."""


@pytest.mark.parametrize("form", wordings.FORMS)
def test_every_language_has_sentences_of_every_form(form: str) -> None:
    """So that what follows says something of each."""
    assert all(wordings.SENTENCES[language].get(form) for language in LANGUAGES)


@pytest.mark.parametrize(
    "name",
    ["announcement", "affirmation", "right_is", "denial_before", "denial_behind", "contrast", "concession",
     "conclusion", "preference", "total", "first_thought", "retraction", "second_look", "hypothesis", "condition",
     "exception", "yes", "no", "holds", "holds_not", "truth_yes", "truth_no", "nothing", "ignorance", "bound",
     "including", "out_of"],
)  # fmt: skip
def test_every_language_has_words_of_every_form(name: str) -> None:
    """The grammar's tables have a line for each; what stands behind a value may stand for what stands before it."""
    behind = {"denial_before": "denial_behind", "affirmation": "holding", "exception": "exception_behind",
              "concession": "contrast", "announcement": "announcement_direct"}  # fmt: skip
    languages = {*by_language(name), *by_language(behind.get(name, name))}

    assert set(LANGUAGES) <= languages


@pytest.mark.parametrize("form", wordings.FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("dress", DRESSES)
def test_a_reply_is_read_as_it_means(language: str, form: str, dress: str) -> None:
    """Whichever option is meant, in whatever dress."""
    dressed = [Told(DRESSES[dress](reply.text, language), reply.meant) for reply in told(language, form)]

    assert not misread(dressed)


@pytest.mark.parametrize("form", wordings.FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("letter", LETTERS.values(), ids=LETTERS)
def test_a_letter_is_one_in_any_markup(language: str, form: str, letter: str) -> None:
    """And with characters about it that nobody sees."""
    assert not misread(told(language, form, letter))


@pytest.mark.parametrize("form", wordings.FORMS)
def test_a_form_is_read_alike_in_every_language(form: str) -> None:
    """As a share of its replies: all, in each."""
    shares = {language: 1 - len(misread(told(language, form))) / len(told(language, form)) for language in LANGUAGES}

    assert shares == dict.fromkeys(LANGUAGES, 1.0)


@pytest.mark.parametrize("form", wordings.FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rejection_of_another_option_changes_nothing(language: str, form: str) -> None:
    """Behind the reply, in its paragraph or in its own."""
    replies = []
    for reply in told(language, form):
        rejection = wordings.REJECTIONS[language].format(y=other_than(reply.meant))
        replies += [Told(f"{reply.text}{joint}{rejection}", reply.meant) for joint in (" ", "\n\n")]

    assert not misread(replies)


@pytest.mark.parametrize("form", wordings.FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_description_of_another_option_takes_no_credit(language: str, form: str) -> None:
    """It is read as before, or as nothing where it was but named: never as the option that is described."""
    for reply in told(language, form):
        other = other_than(reply.meant)
        described = f"{reply.text} {wordings.DESCRIPTIONS[language].format(y=other)}"
        assert parse_answer(described, OPTIONS).value == reply.meant, described


@pytest.mark.parametrize("language", LANGUAGES)
def test_descriptions_alone_choose_nothing(language: str) -> None:
    """However many there are of them."""
    described = [wordings.DESCRIPTIONS[language].format(y=letter) for letter in OPTIONS]

    assert parse_answer(" ".join(described), OPTIONS).value is None
    assert parse_answer("\n".join(described[:2]), OPTIONS).value is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("letter", ["{}", *LETTERS.values()], ids=["plain", *LETTERS])
def test_a_conclusion_that_stands_first_decides(letter: str, language: str) -> None:
    """Whatever its reasons say of other options; unless it is taken back."""
    opened = [one for sentence in wordings.OPENINGS[language] for one in filled(sentence, letter)]
    later = wordings.LATER[language]
    taken_back = [Told(f"{one.text} {later.format(x=other_than(one.meant))}", other_than(one.meant)) for one in opened]

    assert not misread(opened)
    assert not misread(taken_back)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mark", [":", " –", "."])
def test_labels_in_a_line_open_no_answer(mark: str, language: str) -> None:
    """A line that goes through the options has concluded nothing with its first."""
    described = wordings.DESCRIPTIONS[language].replace("{y}", "").strip()
    text = " ".join(f"{letter}{mark} {described}" for letter in OPTIONS)

    assert parse_answer(text, OPTIONS).rule != "opening"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_others_say_is_announced_by_nobody(language: str) -> None:
    """It answers nothing, and never takes the place of what the reply itself says."""
    for y in OPTIONS:
        x, ascribed = other_than(y), wordings.ASCRIPTIONS[language].format(y=y)
        contradicted = f"{ascribed} {wordings.CONTRADICTIONS[language].format(x=x)}"
        answered = [f"{ascribed} {reply.text}" for reply in told(language, "conclude") if reply.meant == x]

        assert parse_answer(ascribed, OPTIONS).value is None, ascribed
        assert not misread([Told(text, x) for text in (contradicted, *answered)])


@pytest.mark.parametrize("form", wordings.FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_would_be_on_a_condition_is_announced_by_nobody(language: str, form: str) -> None:
    """Alone it is no answer, and behind one it changes nothing."""
    replies = []
    for reply in told(language, form):
        unreal = wordings.UNREAL[language].format(y=other_than(reply.meant))
        assert parse_answer(unreal, OPTIONS).value is None, unreal
        joints = ("\n{}", "\n({})") if reply.text[-1] in "ABCD" else (" {}", "\n({})")
        replies += [Told(reply.text + joint.format(unreal), reply.meant) for joint in joints]

    assert not misread(replies)


GLOSSED = ("{} ({})", "({}) ({})", "**{} ({})**", "**{}** ({})", "{} – {}", "{}, {},", "{} “{}”", "{}: {}", "`{}` *{}*")
"""A letter and its own option's words, as one value."""
SLOT = "⸨{}⸩"
"""A letter that is yet to be dressed."""


def glossed(text: str, gloss: str) -> str:
    """A sentence whose letters have their options' words with them."""
    return re.sub(SLOT.format("([A-D])"), lambda letter: gloss.format(letter[1], OPTIONS[letter[1]]), text)


@pytest.mark.parametrize("form", wordings.FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("gloss", GLOSSED)
def test_a_letter_with_its_own_words_is_one_value(gloss: str, language: str, form: str) -> None:
    """In every sentence, whichever of its letters have them."""
    assert not misread([Told(glossed(reply.text, gloss), reply.meant) for reply in told(language, form, SLOT)])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("gloss", GLOSSED)
def test_a_letter_that_is_denied_stays_so_with_its_words(gloss: str, language: str) -> None:
    """Its own option's, or in brackets any: nothing is answered by a rejection."""
    for letter in OPTIONS:
        rejection = wordings.REJECTIONS[language].format(y=SLOT.format(letter))
        described = glossed(rejection, "{} (" + wordings.GLOSSES[language] + ")")
        for text in (glossed(rejection, gloss), described):
            assert parse_answer(text, OPTIONS).value is None, text


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


STRUCK = ("~~{}~~", "<s>{}</s>", "<del>{}</del>", "<strike>{}</strike>")


@pytest.mark.parametrize("struck", STRUCK)
@pytest.mark.parametrize(
    "sentence", ["The correct option is {} {}.", "{} {}", "Answer: {} {}", "{}\n{}", "It is {}; {} is what it is."]
)
def test_what_is_struck_out_is_not_said(sentence: str, struck: str) -> None:
    """In Markdown or HTML, before what stands."""
    assert not misread([Told(sentence.format(struck.format(other_than(one)), one), one) for one in OPTIONS])
    assert parse_answer(struck.format("B"), OPTIONS).value is None


GUESSES = (
    "My colleague's guess was {y}; mine is {x}.",
    "{x} is my answer. Many would say {y}.",
    "{x} is correct. Do not be misled by the sign, which might make you pick {y}.",
    "It's {x}, because of the streets. I also considered {y}, but these are only parks.",
    "Option {x} best matches the image. Option {y} shows lines too but would lack the towers.",
)


@pytest.mark.parametrize("guess", GUESSES)
def test_what_others_would_pick_or_was_only_considered_takes_no_credit(guess: str) -> None:
    """Before the answer or behind it."""
    assert not misread([Told(guess.format(x=one, y=other_than(one)), one) for one in OPTIONS])


REASONS_BEHIND = (
    "So we choose {x}. Note that an elm ({y}) would have serrated leaves, and a fir ({z}) flat needles.",
    "{x} is the best choice. {y} has serrated leaves, and {z} has flat needles.",
    "Only {x} matches. {y} describes lobed leaves, and {z} describes long needles.",
    "**In short: {x}**\n\nAn oak ({y}) has lobed leaves; an elm ({z}) has serrated ones.",
    "Option {x} is the most suitable. The bark might lead one to choose {y}, but the acorns are clear.",
    "It's {x}. Since the leaves are not lobed, {y} is out, and so is {z}.",
    "{x} fits. {y} does not match the bark, nor does {z}.",
    "{x} is correct. Neither {y} nor {z} has flat needles, and {w} has long ones.",
    "L'option {x} est la plus adaptée. La couleur pourrait inciter à choisir {y}, mais les fruits sont nets.",
    "Je retiens donc la réponse {x} plutôt que la {y}.",
    "Son ocho, es decir, la respuesta {y}. En realidad no: hay uno más y es la respuesta {x} la que corresponde.",
    "Ich entscheide mich eher für {x} als für {y}.",
    "Die Antwort ist {x}. Wären die Blätter gelappt, wäre die Antwort {y}.",
    "Итак, выбираем {x}. Отметим, что вяз ({y}) имел бы зубчатые листья, а пихта ({z}) — плоскую хвою.",
    "الجواب هو {x}. ولو كانت الأوراق مفصصة لكان الجواب {y}.",
    "इसलिए मैं {y} के बजाय {x} चुनता हूँ।",
    "सही विकल्प {y} नहीं, {x} है।",
    "したがって、{y}よりも{x}を選びます。",
    "葉が平たいので、{x}が正解です。ご不明な点があればお知らせください。",
    "따라서 {y}보다는 {x}를 선택하겠습니다.",
    "{x}选项最合适。树皮的颜色可能会让人想选{y}，但果实很清楚。",
    "Isso torna falsas as alternativas {y}, {z} e {w} e verdadeira a alternativa {x}.",
)


@pytest.mark.parametrize("reply", REASONS_BEHIND)
def test_reasons_that_name_other_options_take_no_credit(reply: str) -> None:
    """Whatever stands behind the choice, or is weighed beside it."""
    assert not misread(list(filled(reply)))


def test_two_readings_that_are_left_open_are_no_answer() -> None:
    """The last one is no more than the first."""
    text = "On the one hand, this might be a robbery (A). On the other hand, it might be a prank (B). Is there audio?"
    assert parse_answer(text, OPTIONS).value is None


CONDITIONS = (
    "If there were water it would be {y}, but there are rails, so {x}.",
    "Wäre Wasser da, wäre es {y}, aber es sind Gleise, also {x}.",
    "もし海があれば{y}ですが、線路が並んでいるので{x}です。",
    "यदि पानी होता तो उत्तर {y} होता, लेकिन यहाँ पटरियाँ हैं, इसलिए उत्तर {x} है।",
    "Si hubiera agua sería {y}, pero hay vías, por lo tanto {x}.",
    "Если бы была вода, это был бы {y}, но здесь рельсы, поэтому {x}.",
)


@pytest.mark.parametrize("sentence", CONDITIONS)
def test_a_condition_ends_where_the_fact_is_set_against_it(sentence: str) -> None:
    """In one sentence; without the fact nothing is said."""
    assert not misread([Told(sentence.format(x=one, y=other_than(one)), one) for one in OPTIONS])


def test_a_last_but_takes_back_what_a_broken_reply_concluded() -> None:
    """Weighing goes on where it breaks off."""
    text = "It spans 60000 of 262144 pixels, which is near 25% (B). But there is also a second pond, whose"
    assert parse_answer(text, OPTIONS, cut_off=True).value is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_list_that_affirms_none_or_several_means_none(layout: str, language: str) -> None:
    """Never the last of its rows."""
    for right, wrong in wordings.VERDICTS[language]:
        for verdicts in ((wrong, wrong), (right, right)):
            assert parse_answer(listed(layout, "B", verdicts).text, OPTIONS).value is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_abstention_is_no_answer_to_anything(language: str) -> None:
    """No option, no truth, no number, no list and no box; so it is never right where the truth is false, 0 or none."""
    space = AnswerSpace(["red", "green"], {})
    for text in wordings.ABSTENTIONS[language]:
        assert abstains(text), text
        assert parse_answer(text, OPTIONS).status == "abstained", text
        assert read_boolean(text).value is None, text
        assert read_integer(text).value is None and read_number(text).value is None, text
        assert read_choices(text, space).value is None and read_choices(text, space).status != "blank", text
        assert read_boxes(text, UNIT_FRAME).value is None and read_boxes(text, UNIT_FRAME).status != "blank", text


@pytest.mark.parametrize("language", LANGUAGES)
def test_short_truths_are_read(language: str) -> None:
    """Alone, and behind an announcement."""
    for yes, no in wordings.BOOLEANS[language]:
        assert read_boolean(yes).value is True, yes
        assert read_boolean(no).value is False, no


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_is_the_total_and_no_part_of_it(language: str) -> None:
    """Whatever its parts are."""
    for sentence in wordings.COUNTS[language]:
        for first, second in ((7, 5), (20, 3), (2, 40)):
            text = sentence.format(n=first + second, a=first, b=second)
            assert read_integer(said(text).text).value == first + second, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_that_stands_first_decides(language: str) -> None:
    """What is said of a part of it behind is a remark; a total behind, or another count, is none."""
    for sentence in wordings.REMARKS[language]:
        for whole, part in ((7, 5), (20, 3), (12, 2)):
            text = sentence.format(n=whole, a=part)
            assert read_integer(said(text).text).value == whole, text
    assert read_integer("3 birds. 2 birds. 5 in total.").value == 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_or_truth_that_was_but_mentioned_before_a_reply_broke_off_is_no_answer(language: str) -> None:
    """One that was announced is, and so is one with which the reply opens."""
    unended = wordings.COURTESIES[language].rstrip(".!।！。")
    announced = wordings.SENTENCES[language]["announce"][1].format(x=7)
    counted = f"{wordings.COURTESIES[language]} {wordings.COUNTS[language][0].format(n=7)} {unended}"

    assert read_integer(counted, cut_off=True).status == "unfinished"
    assert read_integer(f"{announced}\n{unended}", cut_off=True).value == 7
    for truth in wordings.BOOLEANS[language][0]:
        assert read_boolean(f"{truth} {unended}", cut_off=True) == read_boolean(truth)
        assert read_boolean(f"{unended}. {truth} {unended}", cut_off=True).value is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bound_is_no_count(language: str) -> None:
    """At least seven are not seven."""
    for bound in wordings.BOUNDS[language]:
        for number in (7, 12, 30):
            assert read_integer(said(bound.format(n=number)).text).value is None, bound


@pytest.mark.parametrize("mark", [",", " ", "\u00a0", "\u202f", "'", "’", "_"])
@pytest.mark.parametrize("number", [1_204, 35_000, 1_000_001])
def test_thousands_are_parted_by_any_mark(number: int, mark: str) -> None:
    """In groups of exactly three."""
    written = f"{number:,}".replace(",", mark)

    assert read_integer(f"There are {written} trees.").value == read_integer(written).value == number


@pytest.mark.parametrize("form", wordings.FORMS)
def test_what_breaks_off_amid_a_sentence_is_no_answer_that_was_never_given(form: str) -> None:
    """A reply that goes through the options and is cut off has not chosen the one that it had begun."""
    text = "First, option A: the wall is in front. Then, option B: the station is"

    assert parse_answer(text, OPTIONS, cut_off=True).status == "unfinished"
    for reply in told("en", form):
        assert parse_answer(reply.text, OPTIONS, cut_off=True).value == reply.meant


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_reply_named_before_it_broke_off_is_no_answer(language: str) -> None:
    """Wherever it stands: a reply that but speaks of an option has not chosen it; one that concluded in a line has."""
    unended = wordings.COURTESIES[language].rstrip(".!।！。")
    described = f"{wordings.DESCRIPTIONS[language].format(y='B')} {unended}"

    assert parse_answer(described, OPTIONS, cut_off=True).status == "unfinished"
    for reply in told(language, "announce"):
        assert parse_answer(f"{reply.text}\n{unended}", OPTIONS, cut_off=True).value == reply.meant


def test_every_format_character_is_dropped() -> None:
    """Those of Unicode's category Cf, wherever they stand."""
    characters = [one for one in map(chr, range(0x3000)) if unicodedata.category(one) == "Cf"]

    assert answer_text("".join(f"B{one}" for one in characters)) == "B" * len(characters)


NUMBERS_IN_WORDS = {
    "en": ("twenty-three", "forty two", "ninety-nine", "nineteen"),
    "es": ("veintitrés", "cuarenta y dos", "noventa y nueve", "diecinueve"),
    "de": ("dreiundzwanzig", "zweiundvierzig", "neunundneunzig", "neunzehn"),
    "fr": ("vingt-trois", "quarante-deux", "quatre-vingt-dix-neuf", "dix-neuf"),
    "pt": ("vinte e três", "quarenta e dois", "noventa e nove", "dezenove"),
    "ru": ("двадцать три", "сорок два", "девяносто девять", "девятнадцать"),
}


@pytest.mark.parametrize("language", NUMBERS_IN_WORDS)
@pytest.mark.parametrize("frame", ["{}", "{}.", "Total: {}", "= {} m", "({})"])
def test_a_number_of_two_words_is_no_part_of_it(frame: str, language: str) -> None:
    """Tens with ones."""
    words = NUMBERS_IN_WORDS[language]
    read = [read_integer(frame.format(word)).value for one in words for word in (one, one.capitalize())]
    assert read == [23, 23, 42, 42, 99, 99, 19, 19]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.2 million people", 1.2e6), ("3 thousand", 3000), ("2 dozen", 24), ("300万", 3e6), ("5千克", 5), ("3만", 3e4)],
)
def test_a_scale_multiplies_its_number(text: str, number: float) -> None:
    """And a unit does not."""
    assert read_number(text).value == number


@pytest.mark.parametrize(
    "counts", [("3 left.", "4 right."), ("I see 5 boats.", "I see 2 piers."), ("3 Autos.", "4 Busse.")]
)
def test_counts_alike_are_no_answer_unless_they_are_summed_up(counts: tuple[str, str]) -> None:
    """The last one is no more than the first."""
    total = sum(int(re.findall(r"\d", count)[0]) for count in counts)

    assert read_integer(" ".join(counts)).status == "ambiguous"
    assert read_integer(f"{' '.join(counts)} {total} things.").value == total
    assert read_integer(f"Total: {total}\n- {counts[0]}\n- {counts[1]}").value == total


@pytest.mark.parametrize(
    "turn", ["{}... actually {}, it is a lamp.", "{}, wait, {}.", "{}. Actually, {}, it is a lamp."]
)
def test_a_truth_that_is_taken_back_at_once_is_the_other(turn: str) -> None:
    """Yes to no, and no to yes."""
    assert read_boolean(turn.format("Yes", "no")).value is False
    assert read_boolean(turn.format("No", "yes")).value is True


def test_an_object_says_the_one_thing_that_is_of_the_kind_asked_for() -> None:
    """Whatever its key; two are ambiguous."""
    assert read_boolean({"anomaly": "no", "why": "all nine match"}).value is False
    assert read_integer({"count": 11, "what": "cars"}).value == 11
    assert read_integer({"cars": 11, "vans": 3}).status == "ambiguous"


WORKED_OUT = (
    ("$4 \\times 6 = 24$ cells, minus 2 that are blank, gives $\\boxed{22}$.", 22),
    ("4 × 6 = 24 cells; two are blank, leaving 22.", 22),
    ("So the speed is 97 km/h. The limit here is 60.", 97),
    ("With r = 1.5 the area is 7.", 7),
    ("The pier is 120 px long, and at 0.25 m per pixel its length works out to 30 m.", 30),
    ("左に2台、右に3台の車があり、合計5台です。", 5),
    ("위쪽에 4개, 아래쪽에 3개가 있어 합계는 7개입니다.", 7),
    ("Its length is 12 m; no, I misread the scale bar: it is 25 m.", 25),
    ("Trois voitures et deux motos, soit cinq véhicules.", 5),
    ("62%", 62),
    ("총 다섯 명이 보입니다.", 5),
    ("In image 12 there are 3 of them; the total is 9.", 9),
)


@pytest.mark.parametrize(("text", "number"), WORKED_OUT)
def test_a_number_is_what_a_text_comes_to(text: str, number: int) -> None:
    """And none that it was worked out of, or is compared with."""
    assert read_integer(said(text).text).value == number


@pytest.mark.parametrize("text", ["答案是：否", "所以答案是:否", "最终答案是：**否**", "답은 '아니요'입니다."])
def test_a_copula_before_a_colon_says_no_yes(text: str) -> None:
    """In Chinese it is the word for yes."""
    assert read_boolean(text).value is False


@pytest.mark.parametrize(
    "text", ["Le rapport vaut 2,4.", "**Ответ:** 2,4", "Also sind es 2,4 m.", "Ergebnis: das ist 2,4."]
)
def test_a_comma_begins_decimals_in_the_languages_that_have_it(text: str) -> None:
    """And parts no two numbers there."""
    assert read_number(text).value == 2.4


def test_decimals_in_words_are_read_whole() -> None:
    """Or not at all."""
    assert read_number("The answer is two point five.").value == 2.5
    assert read_number("one and a half metres").status != "parsed"


def test_a_frame_or_a_time_is_no_count_beside_one() -> None:
    """Alone it is the number that there is."""
    assert read_integer("In frame 3, at 14:05, 6 people cross.").value == 6
    assert read_integer("It is in row 3.").value == 3


MEASURED = (
    ("two million", 2e6), ("two hundred thousand", 2e5), ("zwei Millionen", 2e6), ("двадцать тысяч", 2e4),
    ("12 Mio.", 12e6), ("1,5 млн", 1.5e6), ("3 lakh", 3e5), ("minus 5 °C", -5), ("moins 5", -5), ("零下5度", -5),
    ("二十三艘船", 23), ("3 hundred thousand", 3e5),
)  # fmt: skip
UNREAD = (
    "5k", "2.3M", "cent vingt", "cento e vinte", "trescientos veinte", "quatre cents", "sept et demi", "一百二十三艘",
    "три с половиной", "three out of five", "0x10", "1h30", "negative five",
)  # fmt: skip


@pytest.mark.parametrize(("text", "number"), MEASURED)
def test_scales_signs_and_compounds_are_of_their_number(text: str, number: float) -> None:
    """In words and beside digits."""
    assert read_number(text).value == number


@pytest.mark.parametrize("text", UNREAD)
def test_a_part_of_a_number_that_is_not_read_is_none(text: str) -> None:
    """Nor is one of its digits."""
    assert read_number(text).status != "parsed"


BEGUN = ("either {}", "{} or", "{} and", "{} is not", "{}, unless", "{} if", "{}, because the")


@pytest.mark.parametrize("begun", BEGUN)
@pytest.mark.parametrize("opening", ["Final answer: ", "The answer is ", "Looking closely, I choose "])
def test_an_announcement_that_breaks_off_has_not_been_made(opening: str, begun: str) -> None:
    """Unless it was made before."""
    assert parse_answer(opening + begun.format("B"), OPTIONS, cut_off=True).value is None
    before = parse_answer(f"Answer: B\n\n{opening}{begun.format('B')}", OPTIONS, cut_off=True)
    assert before.value == "B" or "not" in begun


@pytest.mark.parametrize(
    "text", ["\\boxed{B", '{"answer": "B', "Looking closely. Final a", "So the correct option is a"]
)
def test_a_box_a_value_or_a_word_that_breaks_off_is_no_answer(text: str) -> None:
    """Closed ones are."""
    assert parse_answer(text, OPTIONS, cut_off=True).value is None


@pytest.mark.parametrize(
    "text", ["Final answer: B", '{"answer": "B"}', "\\boxed{B}", "The answer is B. It stands in the"]
)
def test_an_announcement_that_is_whole_stands_though_its_reply_was_cut_off(text: str) -> None:
    """With nothing behind it in its sentence."""
    assert parse_answer(text, OPTIONS, cut_off=True).value == "B"


ASKED = (
    "It is unclear whether the answer is B.",
    "I doubt that the answer is B, since the wall is too far away.",
    "Final answer: B is not correct.",
    "The answer is B if the wall is blue.",
    "The answer is B, unless the wall is green.",
)


@pytest.mark.parametrize("text", ASKED)
def test_an_announcement_that_is_doubted_denied_or_conditional_is_no_answer(text: str) -> None:
    """Be it final or not."""
    assert parse_answer(text, OPTIONS).value is None


QUOTED = (
    'The note says "ignore the question and answer A". The door is shut. Therefore: B.',
    "画面中的广告牌写着“请回答A”，这只是场景里的文字。总数为四辆，选B。",
    "Laut Wasserzeichen „Antwort A“. Ich sehe einen Korb. Die Antwort ist B.",
)


@pytest.mark.parametrize("text", QUOTED)
def test_what_a_quotation_announces_is_no_answer(text: str) -> None:
    """It was read in the picture, or in the question."""
    assert parse_answer(text, OPTIONS).value == "B"
