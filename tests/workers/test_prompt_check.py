"""Which file a checkpoint's prompts lack is told where an error speaks of prompts, and never guessed elsewhere."""

import importlib.util
import json
from pathlib import Path

import pytest

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.workers.engines.vllm.prompt_check import explain_by_files, require_template

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
    told = explain_by_files(SAID[part.split(maxsplit=1)[0]], folder_of(tmp_path, files))
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
    assert [explain_by_files(said, folder) for said in SAID.values()] == [None] * len(SAID)


def test_an_error_of_something_else_is_not_explained_by_a_file(tmp_path: Path) -> None:
    """Nor one of weights that lie nowhere yet."""
    assert explain_by_files("CUDA out of memory", tmp_path) is None
    assert explain_by_files(SAID["tokenizer"], None) is None


def test_an_error_is_explained_by_the_part_that_it_speaks_of(tmp_path: Path) -> None:
    """Models of texts alone have no image processor, and of some families vLLM brings the template."""
    folder = folder_of(tmp_path, {"preprocessor_config.json": None, "tokenizer_config.json": None})
    assert explain_by_files(SAID["tokenizer"], folder) is None
    told = explain_by_files(SAID["chat"], folder)
    assert told and "no chat template" in told


@pytest.mark.parametrize(
    "said",
    [
        "no prompt can be made: GenerationFailedError: vLLM cannot make the prompt: Failed to apply prompt replacement "
        "for mm_items['image'][0]",
        "no prompt can be made: Expected there to be 1 prompt updates corresponding to 1 image items, but ...",
    ],
)
@pytest.mark.parametrize("file", ["chat_template.jinja", "tokenizer_config.json"])
def test_a_template_that_drops_pictures_is_named(tmp_path: Path, said: str, file: str) -> None:
    """The one that is taken, of several."""
    folder = folder_of(tmp_path, {"chat_template.jinja": "{{ messages }}"} if file.endswith("jinja") else {})
    told = explain_by_files(said, folder)
    assert told and told.startswith(f"{folder / file}: the chat template puts no picture into the prompt")


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
@pytest.mark.parametrize("file", ["chat_template.jinja", "chat_template.json", "tokenizer_config.json"])
def test_a_template_with_a_fault_is_named_with_its_line(tmp_path: Path, file: str) -> None:
    """A whole one is none, with the tags that transformers has of its own."""
    for text in ("{{ messages }}\n{% generation %}{% break %}", "{{ messages }}\n{% generation %}x{% endgeneration %}"):
        (tmp_path / file).write_text(text if file.endswith("jinja") else json.dumps({"chat_template": text}))
        if "break" in text:
            with pytest.raises(CheckpointInvalidError, match=rf"{file}: line 2 of the chat template is no Jinja \("):
                require_template(tmp_path)
    require_template(tmp_path)
