"""Settings of a remote endpoint: its address, and what every request to it carries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gigavqa.workers.engines.remote.dialects import DIALECTS, Dialect, DialectName, vendor_dialect


@dataclass(frozen=True)
class RemoteSettings:
    """The endpoint that is asked for a model, and how. `endpoint` ends in `/v1`, or in what stands for it; it may have
    a query.

    `key` is the key itself, `key_name` the variable that held it. `name` is what the server calls the model, where its
    operator chose that; `dialect` None finds the server's kind out. `pictures` is as `Pictures` takes it. A request at
    which the server fails is asked `most_asks` times, or for `longest_seconds`.
    """

    endpoint: str
    name: str | None = None
    dialect: DialectName | None = None
    key: str | None = field(default=None, repr=False)
    key_name: str = ""
    pictures: str = "png"
    requests_a_minute: int = 0
    tokens_a_minute: int = 0
    answer_seconds: float = 3600.0
    backoff_seconds: float = 1.0
    most_asks: int = 16
    longest_seconds: float = 3600.0

    @property
    def host(self) -> str:
        """The machine, by name or address."""
        return urlsplit(self.endpoint).hostname or ""

    @property
    def known_dialect(self) -> Dialect | None:
        """The dialect, where that is known before the server is asked."""
        return DIALECTS[self.dialect] if self.dialect else vendor_dialect(self.host)

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that identify the asker in every request."""
        dialect = self.known_dialect or DIALECTS["openai"]
        return {**dialect.headers, **(dialect.key_headers(self.key) if self.key else {})}

    def url(self, path: str) -> str:
        """Return the address of what the endpoint has at `path`, such as `/models`; its query belongs to each."""
        url = urlsplit(self.endpoint)
        return url._replace(path=url.path + path).geturl()

    def beside(self, path: str) -> str:
        """Return the address of what vLLM has at `path` beside its API."""
        url = urlsplit(self.endpoint)
        return url._replace(path=url.path.removesuffix("/v1") + path).geturl()
