"""Check that prompts can be made of a checkpoint's files, before its engine is said to be ready.

vLLM 0.32 starts without a chat template, and with a tokenizer that has no words; every request is refused then
(renderers/base.py: a warm-up that fails is logged).
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gigavqa.catalogue.checkpoints import PUT_WHOLE
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.engine import Message, PromptRaster
from gigavqa.workers.engines.vllm.delivery import PromptDelivery
from gigavqa.workers.engines.vllm.prompts import render_prompt
from gigavqa.workers.engines.vllm.start_errors import NO_PROMPT, describe_error

_PICTURE = Size(512, 512)
_TEMPLATE_FIELD = "chat_template"
_TEMPLATE_FILES = ("chat_template.jinja", "chat_template.json", "processor_config.json", "tokenizer_config.json")
"""Where a checkpoint's own template may be: the first that has one is taken (vLLM's renderers/hf.py)."""
_NO_PICTURE = r"Failed to apply prompt replacement|Expected there to be \d+ prompt (?:updates|placeholders)"
_PUBLISHED_TEMPLATE = "put that of the published checkpoint there"


class _PromptPart(NamedTuple):
    """What prompts are made of: what errors of its absence speak of, the files that may be it, as globs, those that may
    have a field of it, and a remedy.
    """

    said: str
    files: Sequence[str]
    fields: Sequence[str]
    remedy: str


_PARTS: Mapping[str, _PromptPart] = {
    "tokenizer (tokenizer.json)": _PromptPart(
        rf"tokenizer|{NO_PROMPT}",
        ("tokenizer.json", "*.model", "vocab.json", "vocab.txt", "*.tiktoken", "tekken.json"),
        (),
        PUT_WHOLE,
    ),
    "image processor (preprocessor_config.json)": _PromptPart(
        "image processor|preprocessor", ("preprocessor_config.json", "processor_config.json"), (), PUT_WHOLE
    ),
    "chat template (chat_template.jinja)": _PromptPart(
        "chat template",
        ("chat_template.jinja", "chat_template.json", "additional_chat_templates"),
        ("tokenizer_config.json", "processor_config.json"),
        f"{_PUBLISHED_TEMPLATE}; a base model has none, so take the one that is tuned to chat",
    ),
}


async def require_prompt(llm: Any, delivery: PromptDelivery, entry: CatalogueEntry) -> None:
    """Render a prompt of a text, and of a picture where the model takes any, as requests are rendered.

    Raises ValueError where they would be refused.
    """
    rasters = (_raster(entry),) if entry.takes_pictures else ()
    chat = [Message("user", (*rasters, "How many?"))]
    try:
        prompt = await delivery.rehearse(partial(render_prompt, llm, entry, chat), {raster.key for raster in rasters})
    except Exception as error:  # templates and processors are code of the checkpoint's, which raises anything
        raise ValueError(f"{NO_PROMPT}: {describe_error(error)}") from error
    if not prompt["prompt_token_ids"]:
        raise ValueError(f"{NO_PROMPT}: the tokenizer finds no token in a text")


def _raster(entry: CatalogueEntry) -> PromptRaster:
    size = entry.visual_budget.plan(_PICTURE).raster
    return PromptRaster("prompt-check", np.full((size.height, size.width, 3), 128, np.uint8))


def require_template(folder: Path | None) -> None:
    """Compile the chat template of a checkpoint's folder as transformers will.

    Raises CheckpointInvalidError, which names file and line.
    """
    if folder is None or (found := _find_template(folder)) is None:
        return
    from jinja2 import TemplateSyntaxError
    from transformers.utils.chat_template_utils import _compile_jinja_template

    try:
        _compile_jinja_template(found.text)
    except TemplateSyntaxError as error:
        raise CheckpointInvalidError(
            f"{found.path}: line {error.lineno} of the chat template is no Jinja ({error.message}): "
            f"{_PUBLISHED_TEMPLATE}"
        ) from error


def explain_by_files(said: str, folder: Path | None) -> str | None:
    """Say what a checkpoint's folder lacks, or its chat template does not do, of that which an error of making prompts
    speaks of; else None.
    """
    if folder is None:
        return None
    if re.search(_NO_PICTURE, said) and (found := _find_template(folder)):
        return (
            f"{found.path}: the chat template puts no picture into the prompt where the model's processor looks for "
            f"it, and {NO_PROMPT}: {_PUBLISHED_TEMPLATE}"
        )
    for part, asked in _PARTS.items():
        if re.search(asked.said, said, re.IGNORECASE) and not _is_there(asked, folder):
            return f"{folder} has no {part}, and {NO_PROMPT}: {asked.remedy}"
    return None


class _Template(NamedTuple):
    path: Path
    text: str


def _find_template(folder: Path) -> _Template | None:
    read = (_Template(folder / name, _read_template(folder / name)) for name in _TEMPLATE_FILES)
    return next((template for template in read if template.text), None)


def _read_template(path: Path) -> str:
    """Return the one template of a file; nothing where it has none, or several under names."""
    try:
        text = path.read_text(encoding="utf-8")
        found = text if path.suffix == ".jinja" else json.loads(text).get(_TEMPLATE_FIELD)
    except (OSError, ValueError, AttributeError):
        return ""
    return found if isinstance(found, str) else ""


def _is_there(asked: _PromptPart, folder: Path) -> bool:
    by_file = any(any(folder.glob(file)) for file in asked.files)
    return by_file or any(_has_template(folder / file) for file in asked.fields)


def _has_template(path: Path) -> bool:
    try:
        return _TEMPLATE_FIELD in json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
