"""The prompts of appendix B: their words are those of the print; each knows its inputs and the form of its answer."""

import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gigavqa.construction.vistahop import prompts
from gigavqa.construction.vistahop.printed_prompts import PROMPT_NAMES, PromptName, printed_prompt

PRINT = Path(__file__).with_name("printed_prompts.txt").read_text(encoding="utf-8").splitlines()[1:]
BOXES = dict(zip(PRINT[::2], PRINT[1::2], strict=True))
ALL = pytest.mark.parametrize("name", PROMPT_NAMES)
FOLDER = Path(prompts.__file__).parent


def printed(table: int) -> str:
    """The words of a table's box; the sign of multiplication stands in it twice, as a sign and as its formula."""
    (caption,) = [caption for caption in BOXES if caption.startswith(f"Table {table}:")]
    return BOXES[caption].replace("×\\times", "×")


def test_there_are_nineteen_in_the_order_of_their_tables() -> None:
    """No file is left over."""
    assert len(BOXES) == len(PROMPT_NAMES) == len(list(FOLDER.glob("*.toml"))) == 19
    assert [printed_prompt(name).table for name in PROMPT_NAMES] == list(range(10, 29))


@ALL
def test_its_words_are_those_of_the_print(name: PromptName) -> None:
    """Word by word, with the box's heading; what is in the file is compared, before anything is filled in."""
    read = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    told = f"Stage {read['stage']} — {read['title']} {read['text']}"
    assert told.split() == printed(read["table"]).split()


@ALL
def test_every_placeholder_of_the_print_is_an_input(name: PromptName) -> None:
    """What stands in braces without quotes and spaces is one; nothing else is filled in."""
    prompt = printed_prompt(name)
    assert set(prompt.inputs.values()) == set(re.findall(r"\{[A-Za-z_]+(?:[(\[][^{}\"]*[)\]])?\}", prompt.text))
    filled = prompt.filled(**{name: f"<{name}{{n}}>" for name in prompt.inputs})
    assert all(f"<{name}{{n}}>" in filled for name in prompt.inputs), "a value is not filled in again"


@ALL
def test_its_schema_is_one_and_speaks_of_what_the_print_shows(name: PromptName) -> None:
    """Each property that an answer must have stands in the print in quotation marks."""
    prompt = printed_prompt(name)
    if prompt.schema is None:
        assert name in ("entity_names", "descriptions", "judge", "operation")
        return
    Draft202012Validator.check_schema(dict(prompt.schema))
    required = re.findall(r"'required': (\[[^\]]*\])", repr(prompt.schema))
    assert required and all(f'"{word}"' in prompt.text for each in required for word in re.findall(r"\w+", each))


def test_the_batch_of_types_has_the_rules_that_its_print_refers_to() -> None:
    """They are those of the prompt for one entity, and no bracket is left."""
    text = printed_prompt("entity_types").filled(n=2, entities_list="a\nb")
    assert "[Same" not in text and "- WOA (WORK_OF_ART): Specific artwork" in text


def test_inputs_that_are_missing_or_too_many_are_refused() -> None:
    """The sentence names what the prompt takes."""
    with pytest.raises(ValueError, match="prompt solver: it takes batch_json; not batch"):
        printed_prompt("solver").filled(batch="[]")


def test_a_call_bears_stage_table_and_schema() -> None:
    """So its record in the build's folder tells which print it came of."""
    call = printed_prompt("familiarity").call("m", {"entities_list": "1. Norrland Works"}, beneath="below")
    assert (call.stage, call.prompt, call.sampling.temperature) == ("3-familiarity", "vistahop-table-18/1", 0.0)
    assert call.schema == printed_prompt("familiarity").schema and call.text.endswith("\nbelow")
