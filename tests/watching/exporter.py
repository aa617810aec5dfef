"""A scrape of NVIDIA's dcgm-exporter, served as it serves one: two GPUs, by the counters that it has unless told.

`dcgm.prom` is written by the names, kinds and labels of its documentation (etc/default-counters.csv): no GPU was asked.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

SCRAPE = Path(__file__).with_name("dcgm.prom").read_text(encoding="utf-8")
COUNTERS = frozenset(family.name for family in text_string_to_metric_families(SCRAPE))


class Exporter:
    """What is served: `text` may be changed while Prometheus reads it."""

    def __init__(self) -> None:
        self.text = SCRAPE
        self.port = 0

    def report(self, counter: str, value: int) -> None:
        """Let the first GPU have this value from now on."""
        first = next(line for line in self.text.splitlines() if line.startswith(f'{counter}{{gpu="0"'))
        self.text = self.text.replace(first, f"{first.rpartition(' ')[0]} {value}")


@contextmanager
def serving() -> Iterator[Exporter]:
    """An exporter at a free port of this machine."""
    exporter = Exporter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(exporter.text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    exporter.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield exporter
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
