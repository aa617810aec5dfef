"""Replies made of sentences of eleven languages, and which of them were misread."""

from collections.abc import Iterator
from typing import NamedTuple

from gigavqa.answers.final import parse_answer
from tests.answers import wordings

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
