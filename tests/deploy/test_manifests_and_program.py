"""What the manifests say of the program is true: variables, ports, paths, arguments, models, lanes and graces."""

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import redis
from typer.testing import CliRunner

from gigavqa.catalogue.load import Catalogue, load_catalogue
from gigavqa.cli.app import app
from gigavqa.runtime.embedded_store import find_store_binary, running_store
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.queue_lanes import GROUP
from gigavqa.store.redis_keys import KEYS, PRIORITIES
from gigavqa.workers.settings import WorkerSettings
from tests.deploy.manifests import (
    OVERLAYS,
    ROOT,
    Object,
    build,
    containers,
    environment,
    image_of,
    named,
    of_kind,
    render,
)
from tests.deploy.programs import TARGETS, answers, port_of, settings_of
from tests.waiting import wait_until

_METRICS_HOST = "GIGAVQA_WORKER_METRICS_HOST"

of_each_overlay = pytest.mark.parametrize("overlay", OVERLAYS)


def _ours(objects: tuple[Object, ...]) -> list[tuple[str, Object, Object]]:
    found = [each for each in containers(objects) if image_of(each[1]) in TARGETS]
    assert len(found) >= 3
    return found


@of_each_overlay
def test_every_variable_is_a_setting_of_the_program(overlay: str) -> None:
    """Names and values alike: what the container would refuse at its start is refused here."""
    objects = render(overlay)
    for where, container, _ in _ours(objects):
        variables = environment(objects, container)
        variables |= dict.fromkeys({_METRICS_HOST} & variables.keys(), "10.1.2.3")
        settings_of(image_of(container), variables, where)


@of_each_overlay
def test_every_port_and_probe_is_the_programs(overlay: str) -> None:
    """Ports are those that it listens on, paths are those that it answers, and services send to such ports."""
    objects = render(overlay)
    for where, container, _ in _ours(objects):
        if not (ports := {each["name"]: each["containerPort"] for each in container.get("ports", [])}):
            continue
        settings = settings_of(image_of(container), environment(objects, container), where)
        assert list(ports.values()) == [port_of(settings)], where
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container[probe]["httpGet"]
            assert asked["port"] in ports and answers(image_of(container), asked["path"]), f"{where} {probe}"
    for each in of_kind(objects, "PodMonitor"):
        wanted = each["spec"]["selector"]["matchLabels"].items()
        meant = [c for _, c, template in containers(objects) if wanted <= template["metadata"]["labels"].items()]
        _rules_find(each, meant)
        for endpoint in each["spec"]["podMetricsEndpoints"]:
            names = {port["name"] for container in meant for port in container.get("ports", [])}
            assert endpoint["port"] in names, each["metadata"]["name"]


def _rules_find(monitor: Object, meant: list[Object]) -> None:
    """Series of these pods have the `job` that alerts ask for, and workers listen where Prometheus reaches them."""
    assert monitor["spec"]["jobLabel"] == "app.kubernetes.io/name"
    job = monitor["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"]
    scraped = (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    assert f"job_name: {job}\n" in scraped
    if job == "gigavqa-worker":
        hosts = [each for container in meant for each in container["env"] if each["name"] == _METRICS_HOST]
        assert len(hosts) == sum(bool(container.get("ports")) for container in meant)
        assert all(each["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP" for each in hosts)


def test_every_credential_of_the_scrape_configuration_is_a_bearer_s() -> None:
    """Service discovery of Prometheus 2.42 sends the bare key otherwise, and finds no worker where keys are needed."""
    written = (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    credentials = [line for line in written.splitlines() if "credentials_file" in line]
    assert len(credentials) == 3
    assert all("{ type: Bearer, credentials_file:" in line for line in credentials)


@of_each_overlay
def test_folders_of_the_settings_are_volumes(overlay: str) -> None:
    """Where the program writes, a writable volume is mounted; the root of the image is read-only."""
    objects = render(overlay)
    for where, container, _ in _ours(objects):
        writable = {mount["mountPath"]: not mount.get("readOnly") for mount in container["volumeMounts"]}
        home = environment(objects, container)["GIGAVQA_HOME"]
        assert writable[home], where
        if container.get("ports"):
            variables = environment(objects, container)
            wanted = {variables["GIGAVQA_DATA"], variables["GIGAVQA_UPLOADS"]}
            wanted |= {variables["RESULTS_URI"]} - {name for name in [variables["RESULTS_URI"]] if "://" in name}
            assert wanted <= writable.keys(), where


@of_each_overlay
def test_a_pod_outlives_its_drain(overlay: str) -> None:
    """Its grace is longer than what runs before SIGTERM, what the worker finishes, and 20 s of handing back."""
    objects = render(overlay)
    for where, container, template in _ours(objects):
        if container.get("ports"):
            settings = settings_of(image_of(container), environment(objects, container), where)
            drain = settings.grace_seconds + 20 if isinstance(settings, WorkerSettings) else 10
            drain += settings.drain_seconds + settings.grace_seconds if isinstance(settings, GatewaySettings) else 0
            before = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            assert template["spec"]["terminationGracePeriodSeconds"] > before + drain, where


@of_each_overlay
def test_commands_are_commands_of_the_program(overlay: str) -> None:
    """With options that they know."""
    objects = render(overlay)
    jobs = list(containers((*objects, *build("jobs"), *build("backup"))))
    called = [each["command"] for _, each, _ in jobs if "gigavqa" in each.get("command", [])]
    scripts = [word for _, each, _ in jobs for word in each.get("args", [])]
    called += [shlex.split(line) for line in re.findall(r"^gigavqa [^>\n]*", "\n".join(scripts), re.MULTILINE)]
    assert called
    for words in called:
        asked = CliRunner().invoke(app, [*words[1:], "--help"])  # which looks at the options before it
        assert asked.exit_code == 0, asked.output


@pytest.mark.slow
def test_the_first_keys_command_makes_a_key(tmp_path: Path) -> None:
    """As the Job runs it, with its own variables, into no log; without a state store it fails, and is tried again."""
    jobs = build("jobs")
    ((_, container, _),) = containers(jobs)
    own = environment((*render("eight-gpus"), *jobs), container) | {"GIGAVQA_HOME": str(tmp_path / "home")}

    def run(url: str) -> "subprocess.CompletedProcess[str]":
        variables = os.environ | own | {"REDIS_URL": url}
        told = container["args"][0].replace("/dev/termination-log", str(tmp_path / "message"))
        program = f"{shlex.quote(sys.executable)} -m gigavqa"
        argv = [*container["command"], told.replace("gigavqa ", f"{program} ", 1)]
        return subprocess.run(argv, env=variables, capture_output=True, text=True, timeout=120, check=False)

    with running_store(tmp_path / "server") as url:
        made = run(url)
    assert (made.returncode, (tmp_path / "message").read_text().startswith("gvq_")) == (0, True), made.stderr
    assert "gvq_" not in made.stdout  # what a cluster ships to where logs are kept
    assert run(url).returncode != 0


@of_each_overlay
def test_arguments_of_vllms_server_exist(overlay: str) -> None:
    """Compared with the source of the release that is installed; whole names, no abbreviations."""
    spec = find_spec("vllm")
    if spec is None or spec.origin is None:
        pytest.skip("vllm is not installed")
    root = Path(spec.origin).parent
    source = "".join((root / name).read_text() for name in ("engine/arg_utils.py", "entrypoints/launchers/cli_args.py"))
    for where, container, _ in containers(render(overlay)):
        for word in container.get("args", []) if container["image"].startswith("docker.io/vllm/") else []:
            if word.startswith("--"):
                name = word.partition("=")[0]
                field = name.removeprefix("--").replace("-", "_")
                assert f'"{name}"' in source or re.search(rf"^    {field}: ", source, re.MULTILINE), f"{where} {name}"


def _catalogue(objects: tuple[Object, ...], folder: Path) -> Catalogue:
    for each in of_kind(objects, "ConfigMap"):
        if each["metadata"]["name"] == "gigavqa-catalogue":
            for name, text in each["data"].items():
                (folder / name).write_text(text, encoding="utf-8")
    return load_catalogue(folder)


@of_each_overlay
def test_workers_have_the_gpus_that_their_models_ask_for(overlay: str, tmp_path: Path) -> None:
    """As the catalogue's entry says; without an engine of its own a worker has none, and engines beside it have."""
    objects = render(overlay)
    catalogue = _catalogue(objects, tmp_path)
    models = []
    for where, container, template in containers(objects):
        gpus = int(container["resources"]["limits"].get("nvidia.com/gpu", 0))
        if container["name"] == "worker":
            settings = settings_of(image_of(container), environment(objects, container), where)
            assert isinstance(settings, WorkerSettings)
            (model,) = settings.models
            entry = catalogue[model]
            models.append(model)
            assert template["metadata"]["labels"]["gigavqa.dev/model"] == model
            wanted = entry.gpus.number if entry.gpus else 0
            if settings.engine == "remote":
                wanted = 0
                assert image_of(container) == "worker-remote"
            assert gpus == wanted, where
        if container["name"] == "engine":
            group = next(iter(of_kind(objects, "LeaderWorkerSet")))["spec"]["leaderWorkerTemplate"]["size"]
            model = template["metadata"]["labels"]["gigavqa.dev/model"]
            assert catalogue[model].gpus is not None
            assert gpus * group == catalogue[model].gpus.number, where  # type: ignore[union-attr]
    assert models


@of_each_overlay
def test_autoscalers_look_at_every_lane_of_the_model_that_they_scale(overlay: str) -> None:
    """At what waits in it and at what workers hold of it; lag alone would end workers in the middle of a job."""
    objects = render(overlay)
    scaled = of_kind(objects, "ScaledObject")
    assert len(scaled) == (0 if overlay in {"one-gpu", "cpu-trial", "kueue"} else len(_workers(objects)))
    for each in scaled:
        spec = each["spec"]
        target = named(objects, spec["scaleTargetRef"].get("kind", "Deployment"), spec["scaleTargetRef"]["name"])
        assert "replicas" not in target["spec"] or target["kind"] == "LeaderWorkerSet"
        model = each["metadata"]["labels"]["gigavqa.dev/model"]
        assert target["metadata"]["labels"]["gigavqa.dev/model"] == model
        looks = [trigger["metadata"] for trigger in spec["triggers"]]
        lanes = [*(KEYS.queue(model, priority) for priority in PRIORITIES), KEYS.probation(model)]
        for counted in ("lagCount", "pendingEntriesCount"):
            assert sorted(look["stream"] for look in looks if counted in look) == sorted(lanes)
        assert {look["consumerGroup"] for look in looks} == {GROUP}
        assert not any("activationLagCount" in look for look in looks)
        for trigger in spec["triggers"]:
            named(objects, "TriggerAuthentication", trigger["authenticationRef"]["name"])


def _workers(objects: tuple[Object, ...]) -> list[str]:
    return [where for where, each, _ in containers(objects) if each["name"] == "worker"]


@pytest.mark.parametrize("overlay", ["eight-gpus", "cpu-trial"])
def test_the_state_server_starts_with_its_settings_and_evicts_nothing(overlay: str, tmp_path: Path) -> None:
    """The real server reads the file of the manifest; only folder and port are this machine's."""
    told = named(render(overlay), "ConfigMap", "gigavqa-valkey")["data"]["valkey.conf"]
    path, socket = tmp_path / "valkey.conf", tmp_path / "s"
    path.write_text(told.replace("dir /data", f"dir {tmp_path}") + f"\nport 0\nunixsocket {socket}\n")
    process = subprocess.Popen([find_store_binary(), path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: socket.exists() or process.poll() is not None, timeout=60)
        with redis.Redis(unix_socket_path=str(socket)) as client:
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert client.config_get("appendonly") == {"appendonly": "yes"}
            pod = named(render(overlay), "StatefulSet", "gigavqa-valkey")["spec"]["template"]["spec"]
            memory = int(pod["containers"][0]["resources"]["limits"]["memory"].removesuffix("Gi")) * 2**30
            assert int(client.config_get("maxmemory")["maxmemory"]) <= 0.75 * memory
    finally:
        process.kill()
        process.wait()
