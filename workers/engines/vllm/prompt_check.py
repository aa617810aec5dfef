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

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.engine import Message, PromptRaster
from gigavqa.workers.engines.vllm.delivery import PromptDelivery
from gigavqa.workers.engines.vllm.prompts import render_prompt
from gigavqa.workers.engines.vllm.start_errors import NO_PROMPT, describe_error

_PICTURE = Size(512, 512)
_TEMPLATE_FIELD = "chat_template"


class _PromptPart(NamedTuple):
    """What prompts are made of: what errors of its absence speak of, the files that may be it, as globs, those that may
    have a field of it, and a remedy.
    """

    said: str
    files: Sequence[str]
    fields: Sequence[str]
    remedy: str


_FETCH_AGAIN = "put the published checkpoint's files there, whole"
_PARTS: Mapping[str, _PromptPart] = {
    "tokenizer (tokenizer.json)": _PromptPart(
        rf"tokenizer|{NO_PROMPT}",
        ("tokenizer.json", "*.model", "vocab.json", "vocab.txt", "*.tiktoken", "tekken.json"),
        (),
        _FETCH_AGAIN,
    ),
    "image processor (preprocessor_config.json)": _PromptPart(
        "image processor|preprocessor", ("preprocessor_config.json", "processor_config.json"), (), _FETCH_AGAIN
    ),
    "chat template (chat_template.jinja)": _PromptPart(
        "chat template",
        ("chat_template.jinja", "chat_template.json", "additional_chat_templates"),
        ("tokenizer_config.json", "processor_config.json"),
        "put that of the published checkpoint there; a base model has none, so take the one that is tuned to chat",
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


def missing_part(said: str, folder: Path | None) -> str | None:
    """Say what a checkpoint's folder lacks of that which an error of making prompts speaks of; else None."""
    if folder is None:
        return None
    for part, asked in _PARTS.items():
        if re.search(asked.said, said, re.IGNORECASE) and not _is_there(asked, folder):
            return f"{folder} has no {part}, and {NO_PROMPT}: {asked.remedy}"
    return None


def _is_there(asked: _PromptPart, folder: Path) -> bool:
    by_file = any(any(folder.glob(file)) for file in asked.files)
    return by_file or any(_has_template(folder / file) for file in asked.fields)


def _has_template(path: Path) -> bool:
    try:
        return _TEMPLATE_FIELD in json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
