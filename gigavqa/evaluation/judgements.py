"""Judgements of replies by models: cases of an answer and a truth, and what each judge said of them.

A case is judged once, however many replies bring it, and joined to all of them when somebody reads a report.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from gigavqa.contract.jobs import JUDGE
from gigavqa.evaluation.errors import JudgesMixedError
from gigavqa.evaluation.replies import Reply

YES, NO, UNREADABLE = 1, 0, -1
"""What a model said of all cases of a reply; UNREADABLE is nothing that could be read."""


class JudgeCase(NamedTuple):
    """Whether an answer to a sample says the same as one of its truths: what a model is asked to judge."""

    sample: str
    truth: str
    answer: str

    @property
    def id(self) -> str:
        """A name that no other case has."""
        told = "\0".join(f"{len(part)}:{part}" for part in self)
        return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:24]


def case_of(reply: Reply) -> JudgeCase | None:
    """Return the case that a judge's reply is about; None where it does not tell."""
    truth, answer = (reply.labels.details.get(name) for name in ("truth", "answer"))
    told = isinstance(truth, str) and isinstance(answer, str)
    return JudgeCase(reply.sample_id, str(truth), str(answer)) if told else None


@dataclass
class ModelJudgements:
    """The judgements of one model, asked by one prompt, on cases by their ids: yes, no, or None for what cannot be
    read.

    `failed` counts requests that say nothing of a case, `simulated` replies that no model gave. `contradicted` are
    cases of which both was said, `asked` those that a reply brought since the panel was called.
    """

    model: str
    prompt: str
    said: dict[str, bool | None] = field(default_factory=dict)
    failed: int = 0
    simulated: int = 0
    contradicted: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    created: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The judge's name in reports."""
        return f"{self.model} by {self.prompt}"

    def of(self, cases: Sequence[JudgeCase]) -> int | None:
        """YES where that was said of one of the cases, NO where of all, UNREADABLE; None where one was not judged."""
        found = [self.said[case.id] for case in cases if case.id in self.said]
        self.asked.update(case.id for case in cases)
        if True in found:
            return YES
        if len(found) < len(cases):
            return None
        return UNREADABLE if None in found else NO

    def add(self, reply: Reply, read: Callable[[str], bool | None]) -> None:
        """Take what a reply says; of two to one case that which can be read, then the earlier one."""
        case = case_of(reply)
        if case is None or reply.failure:
            self.failed += 1
            return
        self.simulated += reply.provenance.simulated
        said = None if reply.text is None else read(reply.text)
        known = self.said.get(case.id)
        if None not in (said, known) and said != known:
            self.contradicted.add(case.id)
        if known is None or (said is not None and reply.created < self.created[case.id]):
            self.said[case.id], self.created[case.id] = said, reply.created


@dataclass(frozen=True)
class Panel:
    """The models that judge for a report; its numbers are by the first one."""

    judges: tuple[ModelJudgements, ...] = ()

    @classmethod
    def of(cls, replies: Iterable[Reply], read: Callable[[str], bool | None]) -> "Panel":
        """Gather what judges replied, job after job; `read` says what a text means. Raises JudgesMixedError."""
        found: dict[tuple[str, str], ModelJudgements] = {}
        places: dict[str, int] = {}
        first: dict[tuple[str, str], tuple[int, str, str]] = {}
        for reply in replies:
            if reply.protocol != JUDGE:
                raise JudgesMixedError(f"{reply.labels.request_id} of {reply.model} is no judge's response")
            key = reply.model, reply.labels.prompt_version or "an unknown prompt"
            found.setdefault(key, ModelJudgements(*key)).add(reply, read)
            first.setdefault(key, (places.setdefault(reply.job_id, len(places)), *key))
        return cls(tuple(found[key] for key in sorted(found, key=first.__getitem__)))

    def called(self) -> "Panel":
        """Return the same judges for another report, which no reply has asked yet."""
        return Panel(tuple(replace(one, asked=set()) for one in self.judges))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all judges, in order."""
        return tuple(one.name for one in self.judges)

    def of_cases(self, cases: Sequence[JudgeCase]) -> Mapping[str, int]:
        """Return what each judge that judged all cases says of them, by its name."""
        said = ((one.name, one.of(cases)) for one in self.judges)
        return {name: verdict for name, verdict in said if verdict is not None}

    @cached_property
    def digest(self) -> str:
        """Changes with whatever any judge says; empty where there is no judge."""
        if not self.judges:
            return ""
        digest = hashlib.sha256()
        for one in self.judges:
            digest.update(f"{one.name}\0{sorted(one.said.items())}\0".encode())
        return digest.hexdigest()
