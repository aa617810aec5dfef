"""Holds truths against what a prompt asks for: a truth that no answer of the asked form can be is an error."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from gigavqa.evaluation.errors import AnnotationInvalidError
from gigavqa.evaluation.samples import Sample

_SHOWN = 60
_OPEN, _UNANSWERED = "open", " without an answer"
_OPTION_LETTERS = frozenset("ABCDEFGHIJ")
FormSampleT = TypeVar("FormSampleT", bound=Sample)


@dataclass(frozen=True)
class AnswerForm:
    """The form that a prompt asks a sample's answer to have: `kind` in a word, as an import counts them, and the truths
    of it.

    `possible` lists all answers that the prompt names, such as letters; None where it names none. `longest` is how many
    characters the asked answer has at most; None for any number. `lettered` tells that a bare letter is asked for in
    words of the sample's own, so that a truth of one is none of an option that the prompt does not show.
    """

    kind: str
    truths: tuple[str, ...] = ()
    possible: frozenset[str] | None = None
    longest: int | None = None
    lettered: bool = False


def form_of_options(sample: Sample) -> AnswerForm:
    """Return the form of a plain sample: one of its options, by letter or text; else a text."""
    truths = (sample.truth,) if sample.truth else ()
    if sample.options:
        return AnswerForm("choice", truths, frozenset([*sample.options, *sample.options.values()]))
    return AnswerForm("text", truths)


def count_answer_kinds(samples: Iterable[FormSampleT], form_of: Callable[[FormSampleT], AnswerForm]) -> dict[str, int]:
    """Count samples by the kind of answer that they ask for, the most frequent first; those apart that tell none."""
    forms = ((sample, form_of(sample).kind) for sample in samples)
    kinds = (kind + ("" if sample.scored or kind == _OPEN else _UNANSWERED) for sample, kind in forms)
    return dict(Counter(kinds).most_common())


def unreachable_truths(sample: Sample, form: AnswerForm) -> Iterator[str]:
    """Say of each truth that the prompt cannot lead to why it cannot, and which options have no text."""
    for letter in (letter for letter, text in (sample.options or {}).items() if not text.strip()):
        yield f"options: {letter} has no text"
    for truth in form.truths:
        told = truth if len(truth) <= _SHOWN else f"{truth[:_SHOWN]}..."
        if form.possible is not None and truth not in form.possible:
            yield f"answer '{told}' is none of the answers that the prompt asks for: {', '.join(sorted(form.possible))}"
        elif form.longest is not None and len(truth) > form.longest:
            yield (
                f"answer '{told}' has {len(truth)} characters, and the prompt asks for {form.longest} at most "
                f"({form.kind}); ask it as an open question (type open), or name what is to be compared"
            )


def find_letters_without_options(
    samples: Iterable[FormSampleT], form_of: Callable[[FormSampleT], AnswerForm]
) -> tuple[FormSampleT, str] | None:
    """Say that all truths of samples without options are options' letters: the first such sample, and the sentence.

    None where any of them is not, or where there is none.
    """
    first, number, seen = None, 0, set[str]()
    for sample in samples:
        form = None if sample.options else form_of(sample)
        if form is None or form.possible is not None or not form.truths or form.lettered:
            continue
        if not _OPTION_LETTERS.issuperset(form.truths):
            return None
        first, number = first or sample, number + 1
        seen.update(form.truths)
    if first is None:
        return None
    letters, many = ", ".join(sorted(seen)), number > 1
    whose = f"the answers of all {number} questions" if many else "the answer of the one question"
    are = "are letters" if many else "is a letter"
    return first, (
        f"{whose} without options {are} ({letters}), and no prompt can lead to {'them' if many else 'it'}: "
        "the options are not read"
    )


def require_reachable_truths(
    samples: Iterable[FormSampleT], whole: Iterable[FormSampleT], form_of: Callable[[FormSampleT], AnswerForm]
) -> None:
    """Refuse truths of `samples` that the prompts cannot lead to, and those of a `whole` data set that are all letters.

    Raises AnnotationInvalidError naming every sample.
    """
    wrong = [f"sample '{one.id}': {told}" for one in samples for told in unreachable_truths(one, form_of(one))]
    if found := find_letters_without_options(whole, form_of):
        wrong.append(found[1])
    if wrong:
        raise AnnotationInvalidError("\n".join(wrong))


def find_unread_truths(
    samples: Iterable[FormSampleT], form_of: Callable[[FormSampleT], AnswerForm]
) -> tuple[FormSampleT, str] | None:
    """Say that no choice has a truth while something that nobody reads may be it: the first choice, and the sentence.

    None where any has one, or nothing that is left of all choices names an option of theirs, or its number.
    """
    first, number = None, 0
    likely: dict[str, str | None] = {}  # with its value, where all choices until now have the same
    for sample in samples:
        form = form_of(sample) if sample.options else None
        if form is None or form.possible is None:
            continue
        if form.truths:
            return None
        if first is None:
            first, likely = sample, {name: str(value) for name, value in sample.extra.items()}
        number += 1
        likely = {
            name: value if value == str(sample.extra[name]) else None
            for name, value in likely.items()
            if name in sample.extra and _names_an_option(sample, sample.extra[name])
        }
        if not likely:
            return None
    names = [name for name, value in likely.items() if value is None or number == 1]
    if first is None or not names:
        return None
    return first, (
        f"none of the {number} choices has a truth, so that no reply is scored; nobody reads "
        f"{', '.join(names)}, which may hold it: `--map {names[0]}=answer` says so, "
        "answer_index of numbers from 0, answer_from_1 from 1"
    )


def _names_an_option(sample: Sample, value: object) -> bool:
    options = sample.options or {}
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    is_number = text.isdecimal() and int(text) <= len(options)
    return is_number or text.strip(" .()").upper() in options or text in options.values()
