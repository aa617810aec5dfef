"""Package indexes on this machine: one that pip is told of, and one that answers for any host on the web."""

import ssl
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path

import trustme


def write_wheel(folder: Path, name: str, version: str, requires: Sequence[str] = ()) -> Path:
    """Write a wheel that holds nothing but its metadata."""
    stem = f"{name.replace('-', '_')}-{version}"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    about += "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    files = {
        "METADATA": about,
        "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in files.items():
            archive.writestr(f"{stem}.dist-info/{file}", text)
        archive.writestr(f"{stem}.dist-info/RECORD", "".join(f"{stem}.dist-info/{file},,\n" for file in files))
    return wheel


def repack_wheel(folder: Path, name: str) -> Path:
    """Make a wheel of an installed package again, its programs included."""
    installed = metadata.distribution(name)
    stem = f"{name}-{installed.version}"
    wheel = folder / f"{stem}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    names: list[str] = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in installed.files or ():
            if file.suffix == ".pyc" or file.name in {"RECORD", "INSTALLER", "REQUESTED"}:
                continue
            names.append(f"{stem}.data/scripts/{file.name}" if file.parts[0] == ".." else str(file))
            archive.write(Path(str(file.locate())), names[-1])
        archive.writestr(f"{stem}.dist-info/RECORD", "".join(f"{each},,\n" for each in names))
    return wheel


class Index(ThreadingHTTPServer):
    """A simple index of the wheels in `folder`, whatever stands before a project's name in the path.

    As a proxy it answers every host under `authority`. `asked` keeps the projects that it was asked for.
    """

    daemon_threads = True

    def __init__(self, folder: Path, authority: trustme.CA | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.authority = authority
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Index

    def do_CONNECT(self) -> None:
        assert self.server.authority is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.authority.issue_cert(self.path.partition(":")[0]).configure_cert(context)
        self.send_response(200)
        self.end_headers()
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)  # type: ignore[assignment]
        self.close_connection = False

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        name = self.path.rstrip("/").rpartition("/")[2].replace("%2B", "+")
        if name.endswith(".whl"):
            self._answer((self.server.folder / name).read_bytes(), "application/octet-stream")
            return
        self.server.asked.append(name)
        wheels = sorted(self.server.folder.glob(f"{name.replace('-', '_')}-*.whl"))
        links = "".join(f'<a href="/files/{wheel.name.replace("+", "%2B")}">{wheel.name}</a>' for wheel in wheels)
        self._answer(f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), "text/html", 200 if wheels else 404)

    def _answer(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running(index: Index) -> Iterator[Index]:
    """Serve for as long as the block lasts."""
    thread = threading.Thread(target=index.serve_forever, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        index.shutdown()
        index.server_close()
        thread.join()
