"""The printed prompts of appendix B as calls: which stage each belongs to, what is filled in, and what comes back."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from gigavqa.construction.calls.model_call import CallPicture, CallSampling, ModelCall

PromptName = Literal[
    "entity_names", "descriptions", "node_details", "entity_type", "entity_types", "relation", "relations",
    "next_hops", "familiarity", "duplicates", "text_question", "solver", "judge", "rewriter", "visual_question",
    "simplification", "value_method", "operation", "fused_question",
]  # fmt: skip
PROMPT_NAMES: tuple[PromptName, ...] = get_args(PromptName)
"""In the order of tables 10 to 28."""

_FOLDER = Path(__file__).parent / "prompts"
_MOST_TOKENS = 4096


@dataclass(frozen=True)
class PrintedPrompt:
    """A prompt of table `table`, of a stage of 1 to 6.

    `inputs` are the placeholders by the names under which they are filled in. `schema` is the form of the answer as
    JSON; None where the print asks for plain text.
    """

    name: PromptName
    table: int
    stage: int
    title: str
    text: str
    inputs: Mapping[str, str]
    temperature: float
    schema: Mapping[str, Any] | None

    @property
    def stage_name(self) -> str:
        """The stage of a build under which its calls are recorded."""
        return f"{self.stage}-{self.name}"

    def filled(self, **values: object) -> str:
        """Return the text with values in place of its placeholders. Raises ValueError for others than its inputs."""
        if set(values) != set(self.inputs):
            raise ValueError(f"prompt {self.name}: it takes {', '.join(self.inputs)}; not {', '.join(values)}")
        written = {placeholder: str(values[name]) for name, placeholder in self.inputs.items()}
        places = "|".join(map(re.escape, written))
        return re.sub(places, lambda found: written[found[0]], self.text)

    def call(
        self,
        model: str,
        values: Mapping[str, object],
        *,
        schema: Mapping[str, Any] | None = None,
        pictures: tuple[CallPicture, ...] = (),
        beneath: str = "",
    ) -> ModelCall:
        """Return the call that asks it; `schema` narrows its own, and `beneath` stands below what is printed."""
        text = self.filled(**values)
        return ModelCall(
            stage=self.stage_name,
            prompt=f"vistahop-table-{self.table}/1",
            model=model,
            text=f"{text}\n{beneath}" if beneath else text,
            pictures=pictures,
            schema=schema or self.schema,
            sampling=CallSampling(max_tokens=_MOST_TOKENS, temperature=self.temperature),
        )


@cache
def printed_prompt(name: PromptName) -> PrintedPrompt:
    """Return a prompt; where the print refers to the rules of another, they stand in its place."""
    read = _read(name)
    text = read["text"]
    if quotes := read.get("quotes"):
        other = _read(quotes["prompt"])["text"]
        begin, end = other.index(quotes["begins"]), other.index(quotes["ends"])
        text = text.replace(quotes["marker"], other[begin:end].rstrip())
    schema = json.loads(read["schema"]) if "schema" in read else None
    return PrintedPrompt(
        name, read["table"], read["stage"], read["title"], text, read["inputs"], read["temperature"], schema
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
