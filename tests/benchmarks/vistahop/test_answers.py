"""Final answers are read as the authors' runner reads them, and compared with truths to the word."""

import pytest

from gigavqa.benchmarks.vistahop.answers import matches_truth, read_answer

READ = {
    "<thinking>a</thinking><answer> 1911 </answer>": ("1911", "tag"),
    "<answer>1910</answer> No: <answer>1911</answer>": ("1911", "tag"),
    "<answer>1910</answer></think>It was 1911.<|im_end|>\n<|im_start|>user": ("It was 1911.", "whole"),
    "<think>It was 1911.": ("<think>It was 1911.", "unfinished"),
    "<think>so <answer>1911</answer>": ("1911", "tag"),
    "<thinking>done</thinking>": ("", "empty"),
    "<answer>  </answer>": ("", "empty"),
    "": ("", "empty"),
    "<tool_call>{broken</tool_call>": ("<tool_call>{broken</tool_call>", "whole"),
    "answer> 1911 </answer>": ("answer> 1911 </answer>", "whole"),
}


@pytest.mark.parametrize("text", READ)
def test_the_last_answer_behind_the_last_thought_counts(text: str) -> None:
    """With how it was found."""
    assert read_answer(text) == READ[text]


DIFFERENT = [
    *(("15", "1.5"), ("17", "-17"), ("1911", "19.11"), ("1030", "10:30"), ("34", "3-4"), ("C#", "C++"), ("C", "C++")),
]


@pytest.mark.parametrize(
    ("answer", "truth", "same"),
    [
        ("The Ansel Hoist.", "ansel hoist", True),
        ("Ansel  Hoist Co", "Ansel Hoist", False),
        ("A", "a", True),
        ("an apple", "apple", True),
        ("the", "a", False),
        ("A, B", "B", False),
        ("B, A", "B", False),
        ("Vitamin A", "Vitamin", False),
        ("a B-52", "B-52", True),
        ("", "", False),
        ("1,911", "1911", True),
        ("1,911.", "1911", True),
        ("May 5 1911", "May 5, 1911", True),
        *((one, other, False) for pair in DIFFERENT for one, other in (pair, pair[::-1])),
    ],
)
def test_exact_match_knows_no_case_marks_and_articles(answer: str, truth: str, same: bool) -> None:
    """A lone "a" is an option's letter."""
    assert matches_truth(answer, ["another", truth]) is same


def test_a_megabyte_of_marks_is_read_at_once() -> None:
    """No mark is looked for again from every other one."""
    for mark in ("<answer>", "</answer>", "<think>", "<tool_call>", "<answer></answer>"):
        read_answer(mark * (1_000_000 // len(mark)))
