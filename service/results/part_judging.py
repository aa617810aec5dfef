"""Verdicts on the sealed parts of jobs: a part is judged once, and what that gave stands beside it.

That is a tally, of which reports are made, and a row for each response, of which files of verdicts are. Both stand for
exactly the judges, records and models that made them, and for exactly the part that they tell of.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import to_json

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.codec import compress, decompress
from gigavqa.contract.flaws import is_retry_candidate
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.contract.schema_versions import read_response
from gigavqa.evaluation.capabilities import ChatDetails
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.outcomes import outcome_of, recorded_reply
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.sample_judges import JudgedReply, SampleJudges
from gigavqa.evaluation.tally import Tally
from gigavqa.reports.tallies import dump_tally, judging_fingerprint, made_by, revise
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout, VerdictFileRow
from gigavqa.store.parquet_parts import TALLY, VERDICTS, PartStore

log = logging.getLogger(__name__)


class PartTally(NamedTuple):
    """The tally file beside a part: the number of answers, their tally, and what a retry may take back.

    Of that the row, request and cursor of each.
    """

    answers: int
    tally: dict[str, Any]
    revocable: Sequence[tuple[int, str, str]]


class ResponseUnknownError(ValueError):
    """A part holds what cannot be read as a response."""


class PartJudging:
    """Judges the parts of jobs over one data set, or finds what that gave beside them. All methods block.

    Beside a part is room for what one panel says: that without models that judge, whose verdicts come and go.
    """

    def __init__(
        self, parts: PartStore, dataset: Dataset, catalogue: Mapping[str, CatalogueEntry], judges: SampleJudges
    ) -> None:
        self.judges = judges
        self.keeps = not dataset.panel.judges
        self._parts = parts
        self._dataset, self._catalogue = dataset, catalogue
        self._layout = VerdictFileLayout.of(dataset)
        judged_by = judging_fingerprint(dataset, catalogue)
        self._judged_by = {TALLY: judged_by, VERDICTS: f"{self._layout.digest} {judged_by}"}

    def tally(self, job_id: str, part: str, seal: str) -> PartTally:
        """Return the tally of a part's answers. Raises PartUnreadableError, and ResponseUnknownError."""
        body = self._kept(job_id, part, TALLY, seal)
        return self._judge(job_id, part, seal)[0] if body is None else PartTally(**json.loads(body))

    def rows(self, job_id: str, part: str, seal: str) -> list[bytes]:
        """Return the whole row of each of a part's responses as JSON, `null` of one that answers no sample.

        Raises as `tally` does.
        """
        body = self._kept(job_id, part, VERDICTS, seal)
        return self._judge(job_id, part, seal)[1] if body is None else body.split(b"\n")

    def row(self, response: Response | UnreadableResponse) -> VerdictFileRow | None:
        """Judge a response that is in no part, and return its whole row; None where it answers no sample."""
        return self._row(self.judges.judge_whole(recorded_reply(response)))

    def responses(self, job_id: str, part: str, seal: str) -> list[tuple[str, Response]]:
        """Return cursor and response of each row of a part. Raises as `tally` does."""
        rows = self._parts.rows(job_id, part, seal)
        try:
            return [(cursor, read_response(text)) for cursor, text in rows]
        except ValueError as error:
            raise ResponseUnknownError(f"the Parquet part {part} holds what is no response") from error

    def _row(self, judged: JudgedReply | None) -> VerdictFileRow | None:
        return None if judged is None else self._layout.whole_row(outcome_of(self._dataset, judged))

    def _kept(self, job_id: str, part: str, suffix: str, seal: str) -> bytes | None:
        """Return what exactly this part was judged as by exactly these judges, if it was.

        Raises PartUnreadableError: of a part that was damaged since it counts no longer.
        """
        header, body = self._written(job_id, part, suffix)
        if not self.keeps or header != self._header(suffix, seal, body):
            return None
        self._parts.check(job_id, part, seal)
        return decompress(body)

    def _written(self, job_id: str, part: str, suffix: str) -> tuple[bytes, bytes]:
        header, _, body = (self._parts.read_beside(job_id, part, suffix) or b"").partition(b"\n")
        return header, body

    def _before(self, job_id: str, part: str, seal: str) -> Mapping[str, Any]:
        """Return what other judges tallied of exactly this part; nothing where none did."""
        header, body = self._written(job_id, part, TALLY)
        if not self.keeps or header.partition(b" ")[2] != self._header(TALLY, seal, body).partition(b" ")[2]:
            return {}
        tally: dict[str, Any] = json.loads(decompress(body))["tally"]
        return tally

    def _judge(self, job_id: str, part: str, seal: str) -> tuple[PartTally, list[bytes]]:
        tally = Tally(self._dataset.samples, self.judges, (), ChatDetails.of(self._dataset.benchmark).trait)
        answers, revocable, rows = 0, [], []
        for row, (cursor, response) in enumerate(self.responses(job_id, part, seal)):
            reply = reply_of(response)
            judged = self.judges.judge_whole(reply)
            rows.append(to_json(self._row(judged), inf_nan_mode="constants"))
            if is_retry_candidate(response):
                revocable.append((row, response.request_id, cursor))
            else:
                tally.add_judged(reply, judged)
                answers += 1
        told = {**dump_tally(tally), "made": made_by(self._dataset, self._catalogue, tally)}
        told = json.loads(json.dumps(told))
        told["revised"] = revise(self._before(job_id, part, seal), told)
        made = PartTally(answers, told, revocable)
        self._keep(job_id, part, seal, TALLY, json.dumps(made._asdict(), separators=(",", ":")).encode())
        self._keep(job_id, part, seal, VERDICTS, b"\n".join(rows))
        return made, rows

    def _keep(self, job_id: str, part: str, seal: str, suffix: str, content: bytes) -> None:
        if not self.keeps:
            return
        body = compress(content)
        try:
            self._parts.write_beside(job_id, part, suffix, self._header(suffix, seal, body) + b"\n" + body)
        except OSError as error:
            log.warning("what judging %s gave is not kept, and is made again for who asks next: %s", part, error)

    def _header(self, suffix: str, seal: str, body: bytes) -> bytes:
        return f"{self._judged_by[suffix]} {seal} {hashlib.sha256(body).hexdigest()}".encode()
