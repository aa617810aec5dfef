"""A browser on the same machine is no way in for other people's pages, and nobody listens to the world by accident."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.listen_settings import require_protected
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import make_key, revoke

CROSS_SITE = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://other.localhost"},
    {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
]


@pytest.mark.parametrize("headers", CROSS_SITE)
def test_pages_of_other_sites_change_nothing(gateway: RunningGateway, headers: dict[str, str]) -> None:
    """A page can send a POST without a body and without asking first; the job goes on."""
    job_id = gateway.submit().json()["id"]
    for method, path in (("POST", f"/v1/jobs/{job_id}/cancel"), ("DELETE", f"/v1/jobs/{job_id}")):
        problem_of(gateway.client.request(method, path, headers=headers), 403, "foreign-origin")
    assert gateway.job(job_id)["status"] == "in_progress"


def test_the_gateways_own_pages_and_programs_may_change_things(gateway: RunningGateway) -> None:
    """The documentation's page, the address bar, an older browser on the same origin, and a program without headers."""
    ours: list[dict[str, str]] = [
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": gateway.url},
        {},
    ]
    for headers in ours:
        job_id = gateway.submit().json()["id"]
        assert gateway.client.post(f"/v1/jobs/{job_id}/cancel", headers=headers).json()["status"] == "cancelled"


def test_pages_of_origins_that_the_operator_lists_call_the_gateway(start: Callable[..., RunningGateway]) -> None:
    """Their browsers are told that they may, before and with the answer; other origins are refused as ever."""
    gateway, origin = start(cors_origins=("https://tool.example.org",)), "https://tool.example.org"
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-stainless-os"}
    preflight = gateway.client.options("/v1/jobs", headers={"Origin": origin, **asked})
    assert preflight.headers["access-control-allow-origin"] == origin
    assert "x-stainless-os" in preflight.headers["access-control-allow-headers"]
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    answer = gateway.client.post("/v1/jobs", json={}, headers=headers)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (422, origin)
    other = gateway.client.post("/v1/jobs", json={}, headers={**headers, "Origin": "https://elsewhere.example"})
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("origin", ["*", "tool.example.org", "https://*.example.org", "https://a.example/path"])
def test_origins_are_listed_one_by_one(tmp_path: Path, origin: str) -> None:
    """None stands for all: a page of anybody's could then call a gateway that asks for no key."""
    with pytest.raises(SettingsInvalidError, match="is no origin: name each"):
        GatewaySettings.from_environment({"GIGAVQA_HOME": str(tmp_path), "GIGAVQA_CORS_ORIGINS": origin})


def test_pages_of_other_sites_may_follow_a_link(gateway: RunningGateway) -> None:
    """What changes nothing is answered; the browser keeps the answer from the page."""
    response = gateway.client.get("/v1/jobs", headers=CROSS_SITE[0])
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "host", ["attacker.example", "attacker.example:8470", "localhost.attacker.example", "127.0.0.1.nip.io"]
)
def test_a_name_that_is_not_the_gateways_is_refused(gateway: RunningGateway, host: str) -> None:
    """A page whose name points at this machine by now reads nothing."""
    problem_of(gateway.client.get("/v1/jobs", headers={"Host": host}), 421, "host-untrusted")


@pytest.mark.parametrize(
    "host", ["localhost:1", "127.0.0.1", "[::1]:8470", "10.1.2.3", "gpu.example.org", "a.lab.example.org"]
)
def test_names_of_the_gateways_own_are_answered(start: Callable[..., RunningGateway], host: str) -> None:
    """This machine, addresses in figures, and what the operator lists."""
    gateway = start(trusted_hosts=("gpu.example.org", "*.lab.example.org"), allow_unauthenticated=True)
    assert gateway.client.get("/v1/jobs", headers={"Host": host}).status_code == 200


def test_a_public_name_wants_keys(start: Callable[..., RunningGateway]) -> None:
    """It has one from a proxy, which the world may reach; nobody else need be asked."""
    gateway = start(trusted_hosts=("vqa.example.org",))
    problem_of(gateway.client.get("/v1/jobs", headers={"Host": "vqa.example.org"}), 401, "invalid-api-key")
    assert start(trusted_hosts=("here.localhost", "127.0.0.2")).client.get("/v1/jobs").status_code == 200


def test_a_proxy_before_a_gateway_without_keys_is_refused(gateway: RunningGateway) -> None:
    """Also where it hides the name; programs of this machine, and what the operator allows, pass."""
    problem = problem_of(
        gateway.client.get("/v1/jobs", headers={"X-Forwarded-For": "203.0.113.9"}), 403, "proxy-unexpected"
    )
    assert "GIGAVQA_REQUIRE_KEYS=1" in problem["detail"]
    for told in (
        {"X-Real-IP": "203.0.113.9"},
        {"X-Forwarded-Host": "vqa.example.org:443"},
        {"Forwarded": 'for="[2001:db8::1]:4711";proto=https'},
    ):
        problem_of(gateway.client.get("/v1/jobs", headers=told), 403, "proxy-unexpected")
    here = {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost:8470", "Forwarded": "for=127.0.0.1"}
    assert gateway.client.get("/v1/jobs", headers=here).status_code == 200


def test_trusted_hosts_come_as_a_list_with_commas(tmp_path: Path) -> None:
    """As environment variables have it."""
    environ = {"GIGAVQA_HOME": str(tmp_path), "GIGAVQA_TRUSTED_HOSTS": "Gpu.example.org, b.example.org"}
    assert GatewaySettings.from_environment(environ).trusted_hosts == ("gpu.example.org", "b.example.org")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", ""])
def test_listening_beyond_this_machine_needs_a_key_or_permission_by_name(settings: GatewaySettings, host: str) -> None:
    """The error says why, and what to do; a key that opens nothing any more is none."""
    beyond = settings.model_copy(update={"host": host})
    _, revoked = make_key(str(settings.redis_url), "ada", "operate")
    revoke(str(settings.redis_url), revoked.id)
    with pytest.raises(SettingsInvalidError, match=r"gigavqa admin keys create .* GIGAVQA_ALLOW_UNAUTHENTICATED=1"):
        require_protected(beyond)
    require_protected(beyond.model_copy(update={"allow_unauthenticated": True}))
    make_key(str(settings.redis_url), "ada", "read")
    require_protected(beyond)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_this_machine_alone_needs_no_permission(settings: GatewaySettings, host: str) -> None:
    """As it is by default; unless keys are to be asked for there, too."""
    alone = settings.model_copy(update={"host": host})
    require_protected(alone)
    with pytest.raises(SettingsInvalidError, match="there is none yet"):
        require_protected(alone.model_copy(update={"require_keys": True}))


@pytest.mark.parametrize(("name", "variable"), [("uploads", "GIGAVQA_UPLOADS"), ("results_uri", "RESULTS_URI")])
def test_what_is_an_owners_does_not_lie_among_what_all_see(settings: GatewaySettings, name: str, variable: str) -> None:
    """Uploads and previews below the data root would be pictures of it; where no key is asked for, all see all."""
    make_key(str(settings.redis_url), "ada", "read")
    within = settings.model_copy(update={name: type(getattr(settings, name))(settings.data / "kept")})
    require_protected(within)
    with pytest.raises(SettingsInvalidError, match=f"{variable}, .*kept, lies below the data root"):
        require_protected(within.model_copy(update={"require_keys": True}))


def test_a_host_that_is_no_address_is_named(settings: GatewaySettings) -> None:
    """Before anything starts."""
    with pytest.raises(SettingsInvalidError, match=r"no-such-host\.invalid"):
        require_protected(settings.model_copy(update={"host": "no-such-host.invalid"}))


def exchange(gateway: RunningGateway, *parts: bytes) -> bytes:
    """Send these parts over a connection of its own, and return what comes until the gateway closes it."""
    port = int(gateway.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for part in parts:
            connection.sendall(part)
        received = b""
        while more := connection.recv(65536):
            received += more
        return received


def test_a_body_that_does_not_come_ends_the_connection(start: Callable[..., RunningGateway]) -> None:
    """The client is told, and its connection closed."""
    gateway = start(body_seconds=0.2)
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    answer = exchange(gateway, head, b'{"dataset"')
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"urn:gigavqa:problem:body-timeout" in answer


@pytest.mark.parametrize("part", [b"", b"GET /v1/jobs HTTP/1.1\r\nHost: local"])
def test_a_head_that_does_not_come_ends_the_connection(start: Callable[..., RunningGateway], part: bytes) -> None:
    """Nor does a connection on which nothing is said stay open for ever."""
    assert exchange(start(body_seconds=0.2), part) == b""


@pytest.mark.parametrize("part", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"GET /"])
def test_a_head_without_end_is_cut_off(gateway: RunningGateway, part: bytes) -> None:
    """The client is told, and the gateway holds no more of it; one of a size that browsers send is answered."""
    answer = exchange(gateway, part, *[b"a" * 1000] * 67)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert gateway.client.get("/healthz", headers={"X-A": "a" * 66_000}).status_code in {400, 431}
    assert gateway.client.get("/healthz", headers={"X-A": "a" * 30_000}).status_code == 200


def test_connections_are_kept_between_requests(start: Callable[..., RunningGateway]) -> None:
    """The time for a head begins with it: a client that pauses longer than that goes on with the same connection."""
    gateway = start(body_seconds=0.2, keep_alive_seconds=20)
    port = int(gateway.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for _ in range(2):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = b""
            while not received.endswith(b"}"):
                received += connection.recv(65536)
            assert received.startswith(b"HTTP/1.1 200 ")
            connection.settimeout(0.5)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(20)


@pytest.mark.parametrize(
    ("version", "hosts", "status"),
    [
        ("1.1", [], 400),
        ("1.1", ["localhost", "evil.example"], 400),
        ("1.1", ["localhost", "localhost"], 400),
        ("1.1", ["localhost"], 200),
        ("1.0", [], 200),
    ],
)
def test_a_request_names_one_host(gateway: RunningGateway, version: str, hosts: list[str], status: int) -> None:
    """Else whoever stands before the gateway may have looked at another one; HTTP/1.0 has none."""
    address, port = gateway.url.removeprefix("http://").split(":")
    head = "".join(f"Host: {host}\r\n" for host in hosts)
    with socket.create_connection((address, int(port)), timeout=60) as connection:
        connection.sendall(f"GET /healthz HTTP/{version}\r\n{head}Connection: close\r\n\r\n".encode())
        assert int(connection.recv(4096).split()[1]) == status


@pytest.mark.parametrize("path", ["/", "/watch", "/docs", "/healthz", "/v1/jobs", "/v1/none", "/v1/chat/none"])
def test_every_answer_keeps_browsers_from_guessing(gateway: RunningGateway, path: str) -> None:
    """What is refused, too; and no page stands in another's frame."""
    headers = gateway.client.get(path, headers={"Accept": "text/html"}).headers
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    if headers["content-type"].startswith("text/html"):
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_report_as_a_page_has_a_policy_as_a_header(gateway: RunningGateway) -> None:
    """Beside the one within, which knows its script."""
    job_id = gateway.submit().json()["id"]
    answer = gateway.client.get(f"/v1/jobs/{job_id}/report?format=html")
    assert "object-src 'none'" in answer.headers["content-security-policy"]
    assert "script-src 'sha256-" in answer.text


@pytest.mark.slow
def test_chats_of_very_many_wrong_things_are_refused_at_once(gateway: RunningGateway) -> None:
    """Of messages, parts and settings: they are counted before they are looked at, and the first wrong one is told."""
    many: list[dict[str, object]] = [
        {"messages": [{}] * 100_000},
        {"messages": [{"role": "user", "content": [{}] * 100_000}]},
        {"messages": [{"role": "user", "content": [{}] * 2000}] * 50},
        {"messages": [{"role": "user", "content": "?"}], "stop": [1] * 100_000},
        {"messages": [{"role": "user", "content": "?"}], "logit_bias": dict.fromkeys(map(str, range(100_000)), "x")},
    ]
    for body in many:
        seconds = []
        for _ in range(3):  # another process may have been in the way
            began = time.monotonic()
            answer = gateway.client.post("/v1/chat/completions", json={"model": "demo-qwen3-vl", **body})
            seconds.append(time.monotonic() - began)
            assert answer.status_code == 400
            assert len(answer.text) < 4000
        assert min(seconds) < 1.0
