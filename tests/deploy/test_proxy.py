"""deploy/nginx/gigavqa.conf as it is delivered but for ports and certificate: TLS, keys, bodies, gateways, pictures."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import start_store
from tests.deploy.manifests import ROOT
from tests.service.datasets import write_town
from tests.service.gateways import problem_of, running, settings_of
from tests.service.tenants import BODY, make_key
from tests.store.own_servers import find_program, make_certificates
from tests.viewer.viewing import viewing
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

NAME, CONFIG = "vqa.example.org", ROOT / "deploy" / "nginx" / "gigavqa.conf"
_AROUND = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/gigavqa.conf;
}}
"""


@contextmanager
def proxy(folder: Path, changes: dict[str, str]) -> Iterator[httpx.Client]:
    """Run nginx with the delivered file, changed; gives a client that calls the installation by its name."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip("nginx is not installed on this machine")
    authority, certificate, key = make_certificates(folder)
    port, text = free_port("127.0.0.1"), CONFIG.read_text(encoding="utf-8")
    changes |= {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/gigavqa/server.pem": str(certificate),
        "/etc/ssl/gigavqa/server.key": str(key),
    }
    for delivered, changed in changes.items():
        assert delivered in text
        text = text.replace(delivered, changed)
    (folder / "gigavqa.conf").write_text(text)
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder))
    with subprocess.Popen([program, "-p", folder, "-c", folder / "nginx.conf"]) as process:
        trusting = ssl.create_default_context(cafile=str(authority))
        client = httpx.Client(base_url=f"https://localhost:{port}", verify=trusting, timeout=60, headers={"Host": NAME})
        try:
            wait_until(lambda: _answers(client) or process.poll() is not None, timeout=20, what="nginx")
            yield client
        finally:
            client.close()
            process.terminate()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except httpx.TransportError:
        return False


def test_two_gateways_and_a_viewer_are_reached_by_one_name(tmp_path: Path) -> None:
    """With keys, by TLS; a picture is larger than nginx's own bound; one gateway goes, and nobody sees it."""
    find_program("openssl")
    server = start_store(tmp_path / "server")
    settings = settings_of(tmp_path / "home", server.url, trusted_hosts=(NAME,))
    write_town(settings.data)
    (settings.data / "a folder").mkdir()
    Image.new("RGB", (64, 64)).save(settings.data / "a folder" / "slide.png")
    key, _ = make_key(server.url, "ada", "operate")
    with ExitStack() as ends:
        ends.callback(server.stop)
        gateways = [ends.enter_context(running(settings)) for _ in range(2)]
        for_viewer = ("--redis-url", server.url, "--url", f"https://{NAME}/pics")
        viewer = ends.enter_context(viewing(settings.folder, *for_viewer))
        ports = [one.url.rpartition(":")[2] for one in gateways]
        changes = {
            "    server 127.0.0.1:8470": f"    server 127.0.0.1:{ports[1]};\n    server 127.0.0.1:{ports[0]}",
            "server 127.0.0.1:8471": f"server {viewer.url.removeprefix('http://')}",
        }
        client = ends.enter_context(proxy(tmp_path / "nginx", changes))
        problem_of(client.get("/v1/jobs"), 401, "invalid-api-key")
        client.headers["Authorization"] = f"Bearer {key}"
        job = client.post("/v1/jobs", json=BODY).raise_for_status()
        assert client.get(job.headers["location"]).json()["id"] == job.json()["id"]
        body = {"model": "none", "messages": [{"role": "user", "content": "x" * (7 << 20)}]}
        assert client.post("/v1/chat/completions", json=body).json()["error"]["code"] == "model_not_found"
        told = client.get("/pics/iiif/3/a%20folder%2Fslide.png/info.json").raise_for_status().json()
        assert told["id"] == f"https://{NAME}/pics/iiif/3/a%20folder%2Fslide.png"
        gateways[0].stop()
        for _ in range(6):
            client.get("/v1/jobs").raise_for_status()
            assert client.post("/v1/jobs", json=BODY).status_code == 201


def test_the_path_of_the_page_is_right(tmp_path: Path) -> None:
    """The lines of docs/proxy.md for a gateway below a path."""
    page = (ROOT / "docs" / "proxy.md").read_text(encoding="utf-8")
    below = page.partition("GIGAVQA_URL=https://example.org/vqa`:\n\n")[2].partition("\n\n")[0]
    server = start_store(tmp_path / "server")
    settings = settings_of(tmp_path / "home", server.url, allow_unauthenticated=True, trusted_hosts=(NAME,))
    write_town(settings.data)
    with ExitStack() as ends:
        ends.callback(server.stop)
        gateway = ends.enter_context(running(settings))
        changes = {
            "    location / {\n": f"{below}\n    location / {{\n",
            "server 127.0.0.1:8470": f"server {gateway.url.removeprefix('http://')}",
        }
        client = ends.enter_context(proxy(tmp_path / "nginx", changes))
        job = client.post("/vqa/v1/jobs", json=BODY).raise_for_status()
        place = urlsplit(job.headers["location"]).path  # nginx writes its own name before it
        assert place == f"/vqa/v1/jobs/{job.json()['id']}"
        assert client.get(place).json()["id"] == job.json()["id"]
