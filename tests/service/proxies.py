"""A proxy before a gateway, as operators set one up."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.service.gateways import TLS

_PASSED_ON = ("content-type", "location", "content-security-policy")


@contextmanager
def below_a_path(gateway: str, prefix: str) -> Iterator[str]:
    """A proxy that serves a gateway below a path, which it takes off what it passes on; for requests that read."""
    with httpx.Client(base_url=gateway, verify=TLS, timeout=30) as client:

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not self.path.startswith(f"{prefix}/"):
                    self.send_error(404)
                    return
                accept = {"Accept": self.headers.get("Accept", "*/*")}
                answer = client.get(self.path.removeprefix(prefix), headers=accept)
                self.send_response(answer.status_code)
                for name in _PASSED_ON:
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{prefix}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
