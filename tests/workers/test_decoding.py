"""The text of an answer, piece by piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.workers.engines.vllm.detokenization import IncrementalDetokenizer


def decode(tokens: list[int]) -> str:
    """Each token is a byte, as the smallest tokens of byte-level vocabularies are."""
    return bytes(tokens).decode("utf-8", "replace")


def grow(text: str, pieces: list[int], stops: tuple[str, ...] = ()) -> tuple[list[str], IncrementalDetokenizer]:
    """Feed a text cut into so many tokens at a time; what is told for good, in its order."""
    tokens, growing, told = list(text.encode()), IncrementalDetokenizer(decode, stops), []
    sizes = iter(pieces * (1 + len(tokens)))
    at = 0
    while at < len(tokens) and growing.stopped_by is None:
        size = next(sizes)
        told.append(growing.add(tokens[at : at + size]))
        at += size
    told.append(growing.finish(text))
    return told, growing


@given(st.text(max_size=60), st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_pieces_are_whole_characters_and_make_the_whole(text: str, pieces: list[int]) -> None:
    """However many bytes a character has, and wherever tokens end."""
    told, growing = grow(text, pieces)
    assert "".join(told) == text == growing.text
    if "�" not in text:
        assert all("�" not in piece for piece in told)


@given(st.text(alphabet="abé€", max_size=40), st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_a_stop_ends_the_text_before_itself(text: str, pieces: list[int]) -> None:
    """Nothing of a stop is told, not even its beginning; the first one counts."""
    stops = ("ab€", "é€é", "bb")
    told, growing = grow(text, pieces, stops)
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    ends = min(found, default=len(text))
    assert "".join(told) == text[:ends]
    assert (growing.stopped_by is None) == (not found)


@pytest.mark.parametrize("text", ["", "ends with the beginning of a st"])
def test_what_was_held_back_is_told_at_the_end(text: str) -> None:
    """It was no stop after all."""
    told, growing = grow(text, [1], ("stop",))
    assert "".join(told) == text == growing.text
