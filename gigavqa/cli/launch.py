"""Finds a service for a command, or runs `gigavqa up` as a child process just for it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from gigavqa.cli.client import TerminalClient
from gigavqa.cli.console import err
from gigavqa.cli.errors import GatewayUnusableError
from gigavqa.client.errors import GatewayUnreachableError
from gigavqa.contract.jobs import JobSpec
from gigavqa.launcher.errors import ProcessFailedError
from gigavqa.launcher.preflight import VIEWER_PORT
from gigavqa.launcher.stack import VIEWER_URL
from gigavqa.launcher.supervisor import describe_exit, read_tail
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home
from gigavqa.runtime.hosts import is_loopback
from gigavqa.runtime.parent_death import end_with_parent
from gigavqa.runtime.private_files import open_log, private_folder, require_writable

_GRACE_SECONDS = 90.0


class LaunchedService:
    """A service that is starting or running; `url` is known when it is ready."""

    def __init__(self, process: "subprocess.Popen[str]", home: Home) -> None:
        self._process = process
        self._log = home.logs / "up.log"
        self.url = ""

    def wait_until_ready(self) -> str:
        """Return the gateway's address once all models are loaded. Raises ProcessFailedError with the log's end."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = describe_exit(self._process.wait())
            tail = "\n".join(f"  {text}" for text in read_tail(self._log))
            raise ProcessFailedError(f"the service {status}. The end of {self._log}:\n{tail}")
        self.url = str(json.loads(line)["url"])
        return self.url

    def stop(self) -> None:
        """End the service cleanly; what does not end in time is killed, and its children with it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def launch_service(
    models: Sequence[str], home: Home, port: int, options: Sequence[str] = ()
) -> Iterator[LaunchedService]:
    """Start a service for `models`, with further `options` of `up`, and end it; it never outlives this process."""
    require_writable(home.folder)
    private_folder(home.logs)
    argv = [sys.executable, "-P", "-m", "gigavqa", "up", "--json", "--no-viewer", "--port", str(port)]
    for model in models:
        argv += ["--model", model]
    argv += options
    with open_log(home.logs / "up.log", anew=True) as log:
        process = subprocess.Popen(
            argv,
            # Reports that are saved lead to the viewer at its own address, for whenever one runs there.
            env={VIEWER_URL: f"http://127.0.0.1:{VIEWER_PORT}", **os.environ, "GIGAVQA_HOME": str(home.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - safe beside threads, see there
        )
    service = LaunchedService(process, home)
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def service_for(
    spec: JobSpec,
    models: Sequence[str],
    home: Home,
    url: str,
    port: int,
    prepare: Callable[[], object] | None = None,
) -> Iterator[tuple[TerminalClient, bool]]:
    """A gateway that serves a job's models and has its data set; and whether it was started for the block alone.

    `models` are the models as they were named, from which a service starts; `prepare` makes the data set of this
    machine where the gateway has none. Raises GatewayUnusableError for one of another machine, in whose place none
    starts.
    """
    with TerminalClient(url) as gateway:
        if (why := _obstacle(gateway, spec)) and not _is_local(gateway.url):
            raise GatewayUnusableError(f"{why}; in place of a gateway of another machine none is started")
        if why and prepare:
            prepare()
            why = _obstacle(gateway, spec)
        if not why:
            yield gateway, False
            return
    err.print(f"service   starting {', '.join(spec.models)}: {why} (logs: {home.logs})")
    with launch_service(models, home, port) as service, TerminalClient(service.wait_until_ready()) as gateway:
        yield gateway, True


def _obstacle(gateway: TerminalClient, spec: JobSpec) -> str:
    """Why a gateway cannot be asked; nothing where it can."""
    try:
        served = {model for worker in gateway.workers() for model in worker.models}
        if missing := [model for model in spec.models if model not in served]:
            return f"no worker of {gateway.url} serves {', '.join(missing)}"
        return "" if gateway.has_dataset(spec.dataset) else f"the data root of {gateway.url} has no '{spec.dataset}'"
    except GatewayUnreachableError:
        return f"no gateway answers at {gateway.url}"


def _is_local(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except SettingsInvalidError:
        return False
