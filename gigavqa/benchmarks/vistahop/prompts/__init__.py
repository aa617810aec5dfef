"""The versioned texts of the prompts, read by the names of their files, and the declarations of tools."""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

from gigavqa.evaluation.prompt_texts import read_prompt_tables

_FOLDER = Path(__file__).parent

read_texts = partial(read_prompt_tables, _FOLDER)


@cache
def own_declarations() -> tuple[dict[str, Any], ...]:
    """Return the declarations of the three tools, in the order in which an agent is told them."""
    return tuple(json.loads((_FOLDER / "tools.json").read_text(encoding="utf-8")))
