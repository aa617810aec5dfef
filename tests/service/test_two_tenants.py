"""Whatever one tenant asks, within the description and beyond it: no failure, and nothing of the other's."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, openapi
from schemathesis.checks import not_a_server_error

from tests.service.gateways import RunningGateway
from tests.service.tenants import Tenant
from tests.service.workers import play

CANARY = "canary-7f3e"
EXAMPLES = 5
_IDENTITY = {"authorization", "x-api-key", "host", "content-length"}


class Bob:
    """A tenant who asks whatever is generated, half the time about Ada's job, and looks for what is hers."""

    def __init__(self, gateway: RunningGateway, adas: str) -> None:
        self.gateway = gateway
        self.adas = adas
        self.statuses: dict[int, int] = {}
        self._own = Tenant(gateway, "bob", requests_a_minute=None, queued_requests=None, open_streams=None)

    def asks(self, case: Any, about_ada: bool) -> None:
        """Send one case, and check its answer."""
        if about_ada:
            self._aim(case)
        request = case.as_transport_kwargs(base_url=self.gateway.url)
        headers = {
            name: value for name, value in (request.get("headers") or {}).items() if name.lower() not in _IDENTITY
        }
        sent = {name: request[name] for name in ("params", "json") if request.get(name) is not None}
        if isinstance(body := request.get("data"), bytes | str):
            sent["content"] = body
        try:
            response = self._own.request(request["method"], request["url"], headers=headers, **sent)
        except (httpx.LocalProtocolError, httpx.InvalidURL, UnicodeEncodeError):
            return  # what no client can send
        self._check(case, response)

    def _aim(self, case: Any) -> None:
        for names in (case.path_parameters, case.query):
            for name in ("job_id", "job", "judge", "after"):
                if names and name in names:
                    names[name] = [self.adas] if name in ("job", "judge") else self.adas

    def _check(self, case: Any, response: httpx.Response) -> None:
        self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
        case.validate_response(response, checks=[not_a_server_error])
        path = response.request.url.path
        told = response.text.replace(f"there is no job {self.adas}", "")
        for written in (path, json.dumps(path, ensure_ascii=False)[1:-1]):
            told = told.replace(written, "")
        assert CANARY not in response.text + str(response.headers)
        assert "ada" not in [job["owner"] for job in _jobs(response)]
        assert self.adas not in told


def _jobs(response: httpx.Response) -> list[dict[str, Any]]:
    if response.is_error or response.headers.get("content-type") != "application/json":
        return []
    found = response.json()
    listed = found if isinstance(found, list) else found.get("data", [found])
    return [job for job in listed if isinstance(job, dict) and "owner" in job]


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_nothing_that_one_tenant_asks_shows_anothers(
    start: Callable[..., RunningGateway], mode: GenerationMode
) -> None:
    """Every operation of the description; afterwards Ada's job is as it was, and Bob was really answered."""
    gateway = start(require_keys=True, body_seconds=5)
    ada = Tenant(gateway, "ada")
    adas = ada.submit(metadata={CANARY: CANARY}, headers={"Idempotency-Key": "0"}).json()["id"]
    play(gateway.redis_url, lambda _: f"{CANARY} A")
    before = [ada.get(f"/v1/jobs/{adas}{part}").text for part in ("", "/results", "/report", "/verdicts")]
    bob = Bob(gateway, adas)
    schema = openapi.from_dict(gateway.client.get("/openapi.json").json())
    operations = [found.ok() for found in schema.get_all_operations()]
    asked = [_ask_all(bob, one.as_strategy(generation_mode=mode)) for one in operations]
    assert asked.count(True) == len(operations) if mode is GenerationMode.POSITIVE else asked.count(True) >= 8
    assert [ada.get(f"/v1/jobs/{adas}{part}").text for part in ("", "/results", "/report", "/verdicts")] == before
    assert bob.statuses.keys() & {404, 422}
    assert not bob.statuses.keys() & {401, 429}


def _ask_all(bob: Bob, cases: st.SearchStrategy[Any]) -> bool:
    """Ask what can be generated; False where nothing can, because what takes nothing cannot be asked wrongly."""

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(cases, st.booleans())
    def ask(case: Any, about_ada: bool) -> None:
        bob.asks(case, about_ada)

    try:
        ask()
    except Unsatisfiable:
        return False
    return True
