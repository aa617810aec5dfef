"""The gateway as commands speak to it: `latest` names the newest job, and errors say what is close to a wrong name."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import httpx

import gigavqa
from gigavqa import NotFoundError
from gigavqa.client.calls import AnswerT, ApiCall
from gigavqa.runtime.suggestions import did_you_mean

_RECENT_JOBS = 100


class TerminalClient(gigavqa.Client):
    """The Python client without patience: whoever sits at a terminal is told at once what is refused for now."""

    def __init__(self, url: str) -> None:
        super().__init__(url, patience=0.0)
        self._named = ""

    def __enter__(self) -> "TerminalClient":
        return self

    def named(self, name: str) -> str:
        """Turn `latest` into the id of the newest job, and remember what a user called a job."""
        if name != "latest":
            self._named = name
            return name
        newest = self.jobs(limit=1)
        if not newest:
            raise NotFoundError("the gateway has no job yet; submit one with `gigavqa submit`")
        return newest[0].id

    def require_sample(self, dataset: str, sample: str) -> None:
        """Raise NotFoundError where the gateway's data set has no such sample; it says what is close to it."""
        path = f"/v1/datasets/{quote(dataset, safe='')}/samples/{quote(sample, safe='')}"
        self._ask(ApiCall("GET", path, lambda _: None))

    def _send(self, call: ApiCall[AnswerT]) -> AnswerT:
        with self._suggesting():
            return super()._send(call)

    @contextmanager
    def _stream(self, call: ApiCall[AnswerT]) -> Iterator[httpx.Response]:
        with self._suggesting(), super()._stream(call) as answer:
            yield answer

    @contextmanager
    def _suggesting(self) -> Iterator[None]:
        try:
            yield
        except NotFoundError as error:
            if not self._named or self._named not in str(error):
                raise
            name, self._named = self._named, ""  # the list of jobs may be a problem, too
            close = did_you_mean(name, [job.id for job in self.jobs(_RECENT_JOBS)])
            raise NotFoundError(f"{error}{close or '; `gigavqa jobs` lists them'}") from error
