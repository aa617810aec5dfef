"""Check for responses that are recorded as answered and hold no answer: how many of each job, with the remedy."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from gigavqa.backup.findings import CheckFinding
from gigavqa.contract.flaws import Flaw, flaw_of, flaws_of
from gigavqa.contract.responses import Response
from gigavqa.contract.schema_versions import read_response
from gigavqa.runtime.plurals import count_noun

_SUSPECT = re.compile(rb'"finish_reason": ?"(?!stop"|length")|"text": ?""')
"""What the JSON of every flawed response has, and of few others: these alone are read whole."""


class AnswerChecks:
    """Hears of the responses of jobs that count, and tells which are no answers."""

    def __init__(self) -> None:
        self._flaws: dict[str, Counter[Flaw]] = defaultdict(Counter)
        self._reasons: dict[str, Counter[str]] = defaultdict(Counter)

    def hear(self, job_id: str, text: str | bytes) -> None:
        """Note what is wrong with a response of a job; one that cannot be read is for others to tell."""
        if not _SUSPECT.search(text if isinstance(text, bytes) else text.encode()):
            return
        try:
            response = read_response(text)
        except ValueError:
            return
        self._flaws[job_id].update(flaws_of(response))
        self._reasons[job_id].update(_reasons(response))

    def of_job(self, job_id: str, *, is_retried: bool) -> Iterator[CheckFinding]:
        """Yield what was heard of a job; one of a batch is not to be retried: its file says what came of each line."""
        flaws, subject = self._flaws.pop(job_id, Counter[Flaw]()), f"job {job_id}"
        again = f"`gigavqa retry {job_id} --empty` asks again" if is_retried else "send the lines in another batch"
        if number := flaws["broken_off"]:
            reasons = ", ".join(f"'{reason}'" for reason in sorted(self._reasons.pop(job_id)))
            ends = f"{count_noun(number, 'response')} for no reason of answers ({reasons})"
            told = f"the engine broke off {ends}: reports count failures; {again}"
            yield CheckFinding("answers-broken-off", "void", subject, told)
        if number := flaws["empty"]:
            told = f"{_replies(number)} empty, with no token written: reports count them as they are; {again}"
            yield CheckFinding("answers-empty", "void", subject, told)
        if number := flaws["filtered"]:
            told = (
                f"{_replies(number)} filtered or refused by the server: reports count them as wrong; "
                "only a new job, or another server, asks again"
            )
            yield CheckFinding("answers-filtered", "void", subject, told)


def _reasons(response: Response) -> set[str]:
    return {turn.finish_reason for turn in response.turns if flaw_of(turn) == "broken_off"}


def _replies(number: int) -> str:
    return "1 reply is" if number == 1 else f"{number} replies are"
