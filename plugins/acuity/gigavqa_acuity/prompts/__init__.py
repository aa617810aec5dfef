"""The versioned texts of the prompts, read by the names of their files."""

from functools import partial
from pathlib import Path

from gigavqa.evaluation.prompt_texts import read_prompt_texts

read_texts = partial(read_prompt_texts, Path(__file__).parent)
