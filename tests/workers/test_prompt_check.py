"""Which file a checkpoint's prompts lack is told where an error speaks of prompts, and never guessed elsewhere."""

import json
from pathlib import Path

import pytest

from gigavqa.workers.engines.vllm.prompt_check import missing_part

WHOLE = {
    "tokenizer.json": "{}",
    "preprocessor_config.json": "{}",
    "tokenizer_config.json": json.dumps({"chat_template": "{{ messages }}"}),
}
SAID = {
    "tokenizer": "Couldn't instantiate the backend tokenizer",
    "image": "Can't load image processor for 'folder'",
    "chat": "no prompt can be made: default chat template is no longer allowed",
}


def folder_of(tmp_path: Path, files: dict[str, str | None]) -> Path:
    """A checkpoint that has these files; those that are None are left out of the whole one's."""
    for name, text in (WHOLE | files).items():
        if text is not None:
            (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ({"tokenizer.json": None}, "tokenizer (tokenizer.json)"),
        ({"preprocessor_config.json": None}, "image processor (preprocessor_config.json)"),
        ({"tokenizer_config.json": "{}"}, "chat template (chat_template.jinja)"),
        ({"tokenizer_config.json": None}, "chat template (chat_template.jinja)"),
        ({"tokenizer_config.json": "{torn"}, "chat template (chat_template.jinja)"),
    ],
)
def test_the_file_that_is_missing_is_named_with_its_folder(
    tmp_path: Path, files: dict[str, str | None], part: str
) -> None:
    """And with what to do."""
    told = missing_part(SAID[part.split(maxsplit=1)[0]], folder_of(tmp_path, files))
    assert told and told.startswith(f"{tmp_path} has no {part}, and no prompt can be made: put ")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"tokenizer.json": None, "tiktoken.model": ""},
        {"tokenizer.json": None, "vocab.json": "{}"},
        {"preprocessor_config.json": None, "processor_config.json": "{}"},
        {"tokenizer_config.json": None, "chat_template.jinja": "{{ messages }}"},
        {"tokenizer_config.json": None, "processor_config.json": json.dumps({"chat_template": "{{ messages }}"})},
    ],
)
def test_a_part_under_any_of_its_names_is_there(tmp_path: Path, files: dict[str, str | None]) -> None:
    """As families keep them."""
    folder = folder_of(tmp_path, files)
    assert [missing_part(said, folder) for said in SAID.values()] == [None] * len(SAID)


def test_an_error_of_something_else_is_not_explained_by_a_file(tmp_path: Path) -> None:
    """Nor one of weights that lie nowhere yet."""
    assert missing_part("CUDA out of memory", tmp_path) is None
    assert missing_part(SAID["tokenizer"], None) is None


def test_an_error_is_explained_by_the_part_that_it_speaks_of(tmp_path: Path) -> None:
    """Models of texts alone have no image processor, and of some families vLLM brings the template."""
    folder = folder_of(tmp_path, {"preprocessor_config.json": None, "tokenizer_config.json": None})
    assert missing_part(SAID["tokenizer"], folder) is None
    told = missing_part(SAID["chat"], folder)
    assert told and "no chat template" in told
