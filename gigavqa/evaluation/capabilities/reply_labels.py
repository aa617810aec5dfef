"""Labels of replies: a benchmark whose reports rest on what people say of replies, in files beside its records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from gigavqa.evaluation.capabilities.capability import Capability

LabelPlace = Literal["job", "request", "sample", "model"]
"""What a label can name its reply by."""


@dataclass(frozen=True)
class LabelKind:
    """One thing that people say of a reply, and how a line of a file says it.

    `choices` are the words of what can be said, by its name, and `values` what stands in the line where that is
    another than the name. `place` tells by which fields a line names its reply, `says` is the field that holds the
    choice, and `annotator` that of who chose it; where that is '', all people say one thing together. `constants` tell
    the kind's lines from those of others in the same file.
    """

    name: str
    title: str
    file: str
    choices: Mapping[str, str]
    place: Mapping[str, LabelPlace]
    says: str
    annotator: str = ""
    values: Mapping[str, JsonValue] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)


class ReplyLabels(Capability):
    """Declares what people label replies with; the files are those that it reads beside its records."""

    label_kinds: Sequence[LabelKind]
