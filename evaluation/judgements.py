"""What models say of replies: claims that an answer means a truth, and who said what of them.

A claim is asked about once, however many replies make it, and joined to all of them when somebody reads a report.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from evaluation.errors import JudgesMixedError
from evaluation.replies import Reply
from jobs.models import JUDGE

YES, NO, UNREADABLE = 1, 0, -1
"""What a model said of all claims of a reply; UNREADABLE is nothing that could be read."""


class Claim(NamedTuple):
    """That an answer to a sample says the same as one of its truths."""

    sample: str
    truth: str
    answer: str

    @property
    def id(self) -> str:
        """A name that no other claim has."""
        told = "\0".join(f"{len(part)}:{part}" for part in self)
        return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:24]


def claim_of(reply: Reply) -> Claim | None:
    """The claim that a judge's reply is about; None where it does not tell."""
    truth, answer = (reply.labels.details.get(name) for name in ("truth", "answer"))
    told = isinstance(truth, str) and isinstance(answer, str)
    return Claim(reply.sample_id, str(truth), str(answer)) if told else None


@dataclass
class Judgements:
    """What one model, asked by one prompt, said of claims by their ids: yes, no, or None for what cannot be read.

    `failed` counts requests that say nothing of a claim, `simulated` replies that no model gave.
    """

    model: str
    prompt: str
    said: dict[str, bool | None] = field(default_factory=dict)
    failed: int = 0
    simulated: int = 0

    @property
    def name(self) -> str:
        """How reports name the judge."""
        return f"{self.model} by {self.prompt}"

    def of(self, claims: Sequence[Claim]) -> int | None:
        """YES where one of the claims holds, NO where none does, UNREADABLE; None where one was not judged."""
        found = [self.said[claim.id] for claim in claims if claim.id in self.said]
        if True in found:
            return YES
        if len(found) < len(claims):
            return None
        return UNREADABLE if None in found else NO

    def add(self, reply: Reply, read: Callable[[str], bool | None]) -> None:
        """Take what a reply says; of two to one claim that which can be read."""
        claim = claim_of(reply)
        if claim is None or reply.failure:
            self.failed += 1
            return
        self.simulated += reply.provenance.simulated
        if self.said.get(claim.id) is None:
            self.said[claim.id] = None if reply.text is None else read(reply.text)


@dataclass(frozen=True)
class Panel:
    """The models that judge for a report; its numbers are by the first one."""

    judges: tuple[Judgements, ...] = ()

    @classmethod
    def of(cls, replies: Iterable[Reply], read: Callable[[str], bool | None]) -> "Panel":
        """Gather what judges replied, job after job; `read` says what a text means. Raises JudgesMixedError."""
        found: dict[tuple[str, str], Judgements] = {}
        places: dict[str, int] = {}
        first: dict[tuple[str, str], tuple[int, str, str]] = {}
        for reply in replies:
            if reply.protocol != JUDGE:
                raise JudgesMixedError(f"{reply.labels.request_id} of {reply.model} is no judge's response")
            key = reply.model, reply.labels.prompt_version or "an unknown prompt"
            found.setdefault(key, Judgements(*key)).add(reply, read)
            first.setdefault(key, (places.setdefault(reply.job_id, len(places)), *key))
        return cls(tuple(found[key] for key in sorted(found, key=first.__getitem__)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all judges, in order."""
        return tuple(one.name for one in self.judges)

    def of_claims(self, claims: Sequence[Claim]) -> Mapping[str, int]:
        """What each judge that judged all claims says of them, by its name."""
        said = ((one.name, one.of(claims)) for one in self.judges)
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
