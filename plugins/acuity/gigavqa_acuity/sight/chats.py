"""The small model's chats as token ids: what the product's prompts become behind so many visual tokens."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

from jinja2 import Template
from tokenizers import Tokenizer

from gigavqa_acuity.prompts import read_texts
from gigavqa_acuity.sight.design import ONE_WORD, TOLD
from gigavqa_acuity.taxonomy import LETTERS, WORDS, Attribute

_PAD = "<|image_pad|>"


class ChartQuestion(NamedTuple):
    """A text, the words behind its letters in their order, and what is asked."""

    text: str
    words: tuple[str, ...]
    attribute: Attribute


@cache
def questions(attribute: Attribute, condition: str) -> tuple[ChartQuestion, ...]:
    """Return the chart's question about an attribute under a condition, with its options in every order."""
    return tuple(_in_every_order(attribute, read_texts("shown")[condition]))


@cache
def told(attribute: Attribute, word: str) -> tuple[ChartQuestion, ...]:
    """Return the same questions where a sentence tells the answer, and no picture shows it."""
    return tuple(_in_every_order(attribute, TOLD[attribute].format(word=word)))


@cache
def open_question(attribute: Attribute, condition: str) -> str:
    """Return the question without options, whose answer is a word."""
    texts = read_texts("direct")
    return "\n".join([read_texts("shown")[condition], texts[attribute], ONE_WORD])


def lettered(attribute: Attribute, shown: str, words: Sequence[str]) -> str:
    """Return the text of a question behind a sentence, with its options in the order of `words`."""
    texts = read_texts("direct")
    lines = (texts["option"].format(letter=at, text=word) for at, word in zip(LETTERS, words, strict=True))
    return texts["prompt"].format(shown=shown, question=texts[attribute], options="\n".join(lines)).strip()


def _in_every_order(attribute: Attribute, shown: str) -> Iterator[ChartQuestion]:
    for words in permutations(WORDS[attribute]):
        yield ChartQuestion(lettered(attribute, shown, words), words, attribute)


class ChatEncoder:
    """Writes chats with a checkpoint's tokenizer and template."""

    def __init__(self, tokenizer: Tokenizer, template: str) -> None:
        self._tokenizer, self._template = tokenizer, Template(template)
        self._kept: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
        self.end = self.token("<|im_end|>")
        self.letters = tuple(map(self.token, LETTERS))

    def token(self, text: str) -> int:
        """Return the only token of a text; raises ValueError where it has several."""
        ids = self._tokenizer.encode(text).ids
        if len(ids) != 1:
            raise ValueError(f"'{text}' is {len(ids)} tokens, not one")
        return int(ids[0])

    def word(self, word: str) -> int:
        """Return the token of a word as it stands in an option, behind a space."""
        return self.token(f" {word}")

    def prompt(self, text: str, pictures: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Token ids up to where the model is to answer; `pictures` are their numbers of visual tokens."""
        key = text, pictures
        if key not in self._kept:
            parts = [*({"type": "image"} for _ in pictures), {"type": "text", "text": text}]
            written = self._template.render(messages=[{"role": "user", "content": parts}], add_generation_prompt=True)
            first, *others = written.split(_PAD)
            padded = first + "".join(count * _PAD + part for count, part in zip(pictures, others, strict=True))
            self._kept[key] = tuple(self._tokenizer.encode(padded).ids)
        return self._kept[key]
