"""Judges a chat by `rules/2` or by what models said of it, and keeps what the tables need of its rounds."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import nan
from typing import NamedTuple

from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.final import parse_answer
from gigavqa.benchmarks.vistahop.answers import FinalAnswer, matches_truth, read_answer
from gigavqa.benchmarks.vistahop.evidence import documents_found, has_drifted, sees_anchor
from gigavqa.benchmarks.vistahop.model_judge import list_cases
from gigavqa.benchmarks.vistahop.rule_judge import RULES_VERSION, is_right
from gigavqa.benchmarks.vistahop.samples import LETTERS, VistaHopSample
from gigavqa.benchmarks.vistahop.sidecars import Sidecars
from gigavqa.contract.responses import TurnResponse
from gigavqa.evaluation.closing_turns import ClosingForm, choice_form
from gigavqa.evaluation.judgements import UNREADABLE, Panel
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.verdicts import FILTERED, Verdict, VerdictPart

VALID_STATUSES = frozenset({"ok", "not_run"})
"""Statuses of valid calls."""
_INVALID_STATUSES = frozenset({"bad_arguments", "bad_box"})
"""Statuses of calls by which the authors' runner loses the whole sample."""
ANNOTATOR = "annotator "
"""What stands before a person's name where judges are named."""
RECORDED = "verdicts"
"""Under which name in a response's details verdicts of other judges stand: 1, 0, or -1 for one without a verdict."""
ROUNDS = "rounds"
"""Under which name there the number of rounds stands, where not every round was recorded."""
_LETTERS = dict.fromkeys(LETTERS, "")
"""Options of a lettered question that stand in its text alone."""
_NO_ANSWER = FinalAnswer("", "empty")


class VistaHopDetails(NamedTuple):
    """The details of a chat.

    `tools` counts calls by name and status.
    `cached` and `prompt` are tokens of the rounds from the second on. `anchor` tells whether a crop showed an anchor,
    `drift` whether a hop's documents were never found: 1, 0, or -1 where that is not annotated. `judges` holds what
    each judge said: 1, 0, or -1 for nothing that could be read; `sources` what was searched.
    """

    rounds: int
    calls: int
    stop: str
    voided: bool
    tools: tuple[tuple[str, str, int], ...]
    cached: int
    prompt: int
    anchor: int
    found: int
    documents: int
    drift: int
    label: str
    judges: tuple[tuple[str, int], ...]
    sources: tuple[str, ...]

    @property
    def later(self) -> int:
        """The rounds from the second on."""
        return max(0, self.rounds - 1)

    @property
    def share_found(self) -> float:
        """The share of the chain's documents that were found; NaN where none are annotated."""
        return self.found / self.documents if self.documents else nan


class VistaHopJudge:
    """One question, made ready to judge any number of chats about it."""

    def __init__(self, sample: VistaHopSample, beside: Sidecars, panel: Panel | None = None) -> None:
        self._sample = sample
        self._beside = beside
        self._panel = panel or Panel()

    def __call__(self, reply: Reply, frame: BoxFrame) -> Verdict[VistaHopDetails]:
        """Judge a chat; one without an answer is wrong, and no judge is asked about it."""
        answer = _NO_ANSWER if reply.text is None else read_answer(reply.text)
        stop: str = reply.stop or "answered"
        if reply.text is None and stop == "answered":
            stop = FILTERED if reply.absence == FILTERED else "context"
        said = self._said(reply, answer)
        verdict = said.get(self._judge, UNREADABLE)
        score = None if verdict == UNREADABLE else float(verdict)
        status = answer.status if stop == "answered" else stop
        return Verdict(
            value=answer.text or None,
            status=status,
            score=score,
            details=self._details(reply, stop, said),
            tags=(("stop", stop), *((("judged by", "exact match"),) if self._is_exact(answer.text) else ())),
            tell=lambda: tuple(_part(number, turn) for number, turn in enumerate(reply.rounds, start=1) if turn.call),
        )

    @property
    def _judge(self) -> str:
        """The judge whose verdict is the score."""
        return next(iter(self._panel.names), RULES_VERSION)

    def _is_exact(self, answer: str) -> bool:
        return matches_truth(answer, self._sample.answers)

    def _is_right(self, answer: str) -> bool:
        options = self._sample.options or (_LETTERS if self._beside.lettered else None)
        if options and not self._is_exact(answer):
            return _is_letter(parse_answer(answer, options).value, self._sample.answers)
        return is_right(answer, self._sample.answers)

    def _details(self, reply: Reply, stop: str, said: Mapping[str, int]) -> VistaHopDetails:
        calls = [turn.call for turn in reply.rounds if turn.call]
        tools = Counter((call.name if call.status in _NAMED_STATUSES else "", call.status) for call in calls)
        later = reply.rounds[1:]
        found, documents = documents_found(self._sample, calls)
        place = reply.identity
        return VistaHopDetails(
            rounds=told if isinstance(told := reply.labels.details.get(ROUNDS), int) else len(reply.rounds) or 1,
            calls=sum(call.status in VALID_STATUSES for call in calls),
            stop=stop,
            voided=any(call.status in _INVALID_STATUSES for call in calls),
            tools=tuple((*key, count) for key, count in sorted(tools.items())),
            cached=sum(turn.usage.cached_tokens for turn in later),
            prompt=sum(turn.usage.prompt_tokens for turn in later),
            anchor=sees_anchor(self._sample, reply.rasters),
            found=found,
            documents=documents,
            drift=has_drifted(self._sample, calls),
            label=self._beside.failures.get(place, ""),
            judges=tuple(sorted(said.items())),
            sources=tuple(sorted({call.source for call in calls if call.source})),
        )

    def _said(self, reply: Reply, answer: FinalAnswer) -> dict[str, int]:
        """Return what each judge says of the chat: the rules, models, those whose verdicts were recorded with it, and
        people.

        Of an answer that is a truth to the word, and of none, models say the same as rules, unasked.
        """
        said: dict[str, int] = {}
        if self._sample.scored:
            said[RULES_VERSION] = int(bool(answer.text) and self._is_right(answer.text))
            asked = list_cases(self._sample, answer.text) if self._panel.judges else ()
            settled = dict.fromkeys(self._panel.names, int(self._is_exact(answer.text)))
            said |= self._panel.of_cases(asked) if asked else settled
        recorded = reply.labels.details.get(RECORDED)
        if isinstance(recorded, dict):
            said |= {name: int(value) for name, value in recorded.items() if isinstance(value, int | float)}
        people = self._beside.judgements.get(reply.identity, ())
        return said | {f"{ANNOTATOR}{name}": int(correct) for name, correct in people}


def option_form(sample: VistaHopSample) -> ClosingForm | None:
    """One of a question's options, which is right where its letter or its words are; of an answer, the letter in it."""
    options = sample.options or {}

    def is_right(letter: str) -> bool:
        return matches_truth(options[letter], sample.answers) or _is_letter(letter, sample.answers)

    return choice_form(tuple(options), is_right, meant=lambda answer: parse_answer(answer, options).value)


def _is_letter(letter: str | None, truths: Iterable[str]) -> bool:
    return letter is not None and any(truth.strip().upper() == letter for truth in truths)


_NAMED_STATUSES = frozenset({"ok", "not_run", "empty", "bad_box"})
"""Statuses whose tool is one of the protocol's, so that it is counted by its name."""


def _part(number: int, turn: TurnResponse) -> VerdictPart:
    """Return a round with a call, as a part of the chat: what was called, and what came of it."""
    assert turn.call is not None
    call = turn.call
    return VerdictPart(
        name=f"round {number}",
        question=f"{call.name} {call.arguments}".strip(),
        truth=None,
        value=call.result or None,
        text=turn.text,
        status=call.status,
        score=float(call.status in VALID_STATUSES),
        tags=(("tool", call.name), ("status", call.status)),
        notes=(f"pages: {', '.join(call.documents)}",) if call.documents else (),
    )
