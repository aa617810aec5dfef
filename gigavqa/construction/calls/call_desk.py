"""The desk of a build's calls: asks each once, reads by rule, asks again with a complaint, and keeps the budget."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.client.asynchronous import AsyncClient
from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.calls.budgets import CallBudget
from gigavqa.construction.calls.call_log import CallLog, Spending, spending_by_model
from gigavqa.construction.calls.delivery import Delivery
from gigavqa.construction.calls.errors import CallInvalidError, ReplyFaultError
from gigavqa.construction.calls.estimates import EntryOf, StageForecast, forecast, size_of
from gigavqa.construction.calls.model_call import ModelCall
from gigavqa.construction.calls.pictures import PictureAddresses
from gigavqa.construction.calls.replies import FINAL_REASONS, MOST_COMPLAINTS, ReplyReader, faulty_reply, read_reply

FORECASTS, OUTCOMES = "calls/forecasts.json", "calls/outcomes.json"

_MOST_REASONS = 20
_MOST_TRIES = 3
"""Requests of one call in a run, where those before failed; a later run tries again."""
_WAVE_CALLS, _WAVE_BYTES = 1000, 32 << 20
"""Calls that are under way together: what a run holds in memory, and what a batch has lines for."""


class CallReading(NamedTuple):
    """A call that was answered: `value` is what its reader made of the reply, `answered_by` the id of the last call."""

    call: ModelCall
    value: Any
    answered_by: str


class DroppedCall(NamedTuple):
    """A call whose replies could not be read, by the last one's reason."""

    call: ModelCall
    reason: str


class OpenCall(NamedTuple):
    """A call without an answer yet: its requests failed, or a budget stopped it. A later run asks it."""

    call: ModelCall
    why: str


CallOutcome = CallReading | DroppedCall | OpenCall


class CallDesk:
    """Asks the calls of a build of the gateway at `url`, GIGAVQA_URL if omitted.

    Prompts and replies are kept in `folder`, which is locked; `entry_of` finds models in the catalogue, and `data` is
    a data root that the gateway shares. To be closed, as a context manager.
    """

    def __init__(
        self,
        folder: BuildFolder,
        entry_of: EntryOf,
        *,
        url: str | None = None,
        budget: CallBudget = CallBudget(),  # noqa: B008 - frozen
        data: Path | None = None,
    ) -> None:
        self.folder = folder
        self.entry_of = entry_of
        self._url = url
        self._budget = budget
        self._addresses = PictureAddresses(folder, data)
        self._logs = {path.stem: CallLog(path) for path in sorted(folder.file("calls").glob("*.jsonl"))}
        self._taken_up = False

    def __enter__(self) -> "CallDesk":
        return self

    def __exit__(self, *_: object) -> None:
        for log in self._logs.values():
            log.close()

    @property
    def spending(self) -> Mapping[str, Spending]:
        """What was spent so far, over all runs, by model."""
        return spending_by_model(self._logs.values())

    def spending_of(self, stage: str) -> Mapping[str, Spending]:
        """What a stage spent so far, by model."""
        return self._logs[stage].spending if stage in self._logs else {}

    @property
    def stages(self) -> Sequence[str]:
        """The stages that asked anything, by name."""
        return sorted(self._logs)

    def forecast(self, calls: Iterable[ModelCall], later: Iterable[StageForecast] = ()) -> list[StageForecast]:
        """Return what calls will take, and keep it beside what is spent; asks nothing.

        `later` are stages whose calls nobody knows before others are answered. Raises BudgetInvalidError where money
        is bounded and a model has no price, and TilingError.
        """
        made = forecast(calls, self.entry_of, is_answered=self._is_answered, spent=self.spending)
        found = [*made, *later]
        for one in found:
            self._budget.require_prices(self.entry_of(one.model))
        kept = self._read(FORECASTS)
        for one in found:
            kept.setdefault(one.stage, {})[one.model] = one.document()
        self._write(FORECASTS, kept)
        return found

    def ask(self, calls: Iterable[ModelCall], read: ReplyReader | None = None) -> Iterator[CallOutcome]:
        """Ask the calls of one stage as far as they are not answered, and yield what came of each, in their order.

        Whoever stops amid it, by whatever end, goes on there the next time. Raises CallInvalidError for calls of two
        stages, BudgetInvalidError, BatchRefusedError, CallLogError, TilingError, and GigavqaError where the gateway
        is away or refuses the key.
        """
        counts: Counter[tuple[str, str]] = Counter()
        stage = ""
        for wave in _waves(calls):
            stage = stage or wave[0].stage
            if strange := next((call.stage for call in wave if call.stage != stage), ""):
                raise CallInvalidError(f"calls of stage {strange} are asked among those of stage {stage}")
            for outcome in self._ask_wave(wave, read):
                counts[_counted_as(outcome)] += 1
                yield outcome
        if stage:
            self._keep_outcomes(stage, counts)

    def _ask_wave(self, wave: Sequence[ModelCall], read: ReplyReader | None) -> list[CallOutcome]:
        log, tries = self._log(wave[0].stage), Counter[str]()
        for model in {call.model for call in wave}:
            self._budget.require_prices(self.entry_of(model))
        if not self._taken_up:
            self._in_contact(self._take_up)
            self._taken_up = True
        while True:
            outcomes = [self._outcome(log, call, read) for call in wave]
            wanted = {one.call.id: one.call for one in outcomes if isinstance(one, OpenCall)}
            asked, stopped = self._affordable([c for c in wanted.values() if self._may_be_tried(log, c, tries)])
            if not asked:
                return [self._told(log, call, one, stopped) for call, one in zip(wave, outcomes, strict=True)]
            tries.update(call.id for call in asked)
            for model in sorted({call.model for call in asked}):
                these = [call for call in asked if call.model == model]
                self._in_contact(lambda delivery, these=these: delivery.deliver(log, these))  # type: ignore[misc]

    def _outcome(self, log: CallLog, call: ModelCall, read: ReplyReader | None) -> CallOutcome:
        """Return what is known of a call: an open one is the call itself, or the last complaint about its replies."""
        now = call
        while reply := log.reply(now.id):
            try:
                value = read_reply(reply.text, reply.finish_reason, call.schema, read)
            except ReplyFaultError as fault:
                if fault.reason in FINAL_REASONS or len(now.faulty) >= MOST_COMPLAINTS:
                    return DroppedCall(call, fault.reason)
                now = now.asked_again(faulty_reply(reply.text, fault))
            else:
                return CallReading(call, value, now.id)
        return OpenCall(now, "")

    def _told(self, log: CallLog, call: ModelCall, outcome: CallOutcome, stopped: Mapping[str, str]) -> CallOutcome:
        if not isinstance(outcome, OpenCall):
            return outcome
        failure = log.last_failure(outcome.call.id)
        why = stopped.get(outcome.call.id) or f"its requests failed: {failure.message if failure else 'no answer'}"
        return OpenCall(call, why)

    def _may_be_tried(self, log: CallLog, call: ModelCall, tries: Mapping[str, int]) -> bool:
        """Return whether a request helps in this run: not after one that was refused, nor after several failures."""
        if not tries[call.id]:
            return True
        failure = log.last_failure(call.id)
        return tries[call.id] < _MOST_TRIES and (failure is None or failure.retryable)

    def _affordable(self, calls: Sequence[ModelCall]) -> tuple[list[ModelCall], dict[str, str]]:
        """Return the calls that the budget allows, in their order, and why others are not asked."""
        spent, planned = dict(self.spending), Spending()
        spent[""] = planned
        taken: list[ModelCall] = []
        stopped: dict[str, str] = {}
        for call in calls:
            entry = self.entry_of(call.model)
            most = size_of(call, entry).dollars_at_most(entry)
            if why := self._budget.why_not(spent, most):
                stopped[call.id] = why
                continue
            planned.asked += 1
            planned.at_most += most
            taken.append(call)
        return taken, stopped

    def _in_contact(self, work: Callable[[Delivery], Awaitable[None]]) -> None:
        async def run() -> None:
            async with AsyncClient(self._url) as client:
                await work(Delivery(client, self._addresses, self.entry_of))

        asyncio.run(run())

    async def _take_up(self, delivery: Delivery) -> None:
        for log in self._logs.values():
            await delivery.take_up(log)

    def _is_answered(self, call: ModelCall) -> bool:
        return call.stage in self._logs and self._logs[call.stage].has_reply(call.id)

    def _log(self, stage: str) -> CallLog:
        if stage not in self._logs:
            self._logs[stage] = CallLog(self.folder.file(f"calls/{stage}.jsonl"))
        return self._logs[stage]

    def _keep_outcomes(self, stage: str, counts: Mapping[tuple[str, str], int]) -> None:
        kept = self._read(OUTCOMES)
        kept[stage] = {
            "read": counts.get(("read", ""), 0),
            "dropped": _reasons(counts, "dropped"),
            "open": _reasons(counts, "open"),
        }
        self._write(OUTCOMES, kept)

    def _read(self, name: str) -> dict[str, Any]:
        return dict(self.folder.read_json(name)) if self.folder.file(name).is_file() else {}

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        self.folder.file("calls").mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.write_json(name, value)


def _counted_as(outcome: CallOutcome) -> tuple[str, str]:
    match outcome:
        case CallReading():
            return "read", ""
        case DroppedCall(reason=reason):
            return "dropped", reason
        case OpenCall(why=why):
            return "open", why


def _reasons(counts: Mapping[tuple[str, str], int], kind: str) -> dict[str, int]:
    """Return how many there were of a kind by reason, the most frequent first; of many reasons the first alone."""
    found = sorted(((-many, why) for (each, why), many in counts.items() if each == kind))
    told = {why: -many for many, why in found[:_MOST_REASONS]}
    rest = -sum(many for many, _ in found[_MOST_REASONS:])
    return {**told, "others": rest} if rest else told


def _waves(calls: Iterable[ModelCall]) -> Iterator[list[ModelCall]]:
    """Yield calls some at a time, bounded in number and in bytes of text."""
    wave: list[ModelCall] = []
    size = 0
    for call in calls:
        if wave and (len(wave) >= _WAVE_CALLS or size + len(call.text) > _WAVE_BYTES):
            yield wave
            wave, size = [], 0
        wave.append(call)
        size += len(call.text)
    if wave:
        yield wave
