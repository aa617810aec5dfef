"""Rules that values break are said in plain words, whichever library found them broken."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator

from gigavqa.runtime.validation import describe_faults


class Sheet(BaseModel, extra="forbid"):
    """One field of each kind."""

    count: int = Field(default=1, ge=0)
    share: float = 0.5
    kind: Literal["a", "b"] = "a"
    name: str = "x"

    @field_validator("name")
    @classmethod
    def _is_short(cls, name: str) -> str:
        if len(name) > 3:
            raise ValueError("is longer than three letters")
        return name


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"count": "many"}, "sheet.count: must be a whole number, not 'many'"),
        ({"count": -1}, "sheet.count: must be greater than or equal to 0, not -1"),
        ({"share": "hot"}, "sheet.share: must be a number, not 'hot'"),
        ({"kind": "c"}, "sheet.kind: must be 'a' or 'b', not 'c'"),
        ({"name": "long"}, "sheet.name: is longer than three letters"),
        ({"nmae": "x"}, "sheet.nmae: is not known"),
        ({"count": -1, "kind": "c"}, "sheet.count: must be greater than or equal to 0, not -1; sheet.kind: must be"),
    ],
)
def test_a_fault_says_field_rule_and_value(given: dict[str, object], told: str) -> None:
    """In one line, for every field that is wrong."""
    with pytest.raises(ValidationError) as raised:
        Sheet.model_validate(given)
    assert describe_faults(raised.value, "sheet").startswith(told)
