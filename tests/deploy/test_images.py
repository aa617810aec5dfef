"""What images are made of, and what one machine runs of them."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.manifests import ROOT
from tests.deploy.programs import DOCKERFILE, FOREIGN, TARGETS, VARIABLES, answers, image_environment, settings_of
from tests.watching.programs import program

LOCKS = ROOT / "deploy" / "locks"
EXTRAS = {"gateway": ["gateway", "s3"], "pixels": ["gateway", "pixels", "s3"], "cpu": ["cpu", "s3"]}
EXTRAS |= {"gpu": ["gpu", "s3"], "gpu-image": ["gateway", "pixels", "s3"]}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMPOSE = ROOT / "compose.yaml"


def _declared(extras: list[str]) -> Iterator[Requirement]:
    """What the project asks for with these extras, those within extras among them."""
    texts = [*PROJECT["dependencies"], *(each for name in extras for each in PROJECT["optional-dependencies"][name])]
    for wanted in map(Requirement, texts):
        if wanted.name == PROJECT["name"]:
            yield from _declared(sorted(wanted.extras))
        elif wanted.marker is None or wanted.marker.evaluate():
            yield wanted


def _locked(name: str) -> list[tuple[Requirement, str]]:
    """Each package of a lock, with all that is said of it."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return [(Requirement(line.partition("--hash")[0].strip()), line) for line in lines]


@pytest.mark.parametrize("name", EXTRAS)
def test_a_lock_has_what_the_project_declares(name: str) -> None:
    """A dependency that was changed without `scripts/lock` is found here."""
    locked = {canonicalize_name(each.name): each for each, _ in _locked(name)}
    for wanted in _declared(EXTRAS[name]):
        found = locked.get(canonicalize_name(wanted.name))
        assert found is not None, f"{wanted.name}: run scripts/lock"
        version = next(iter(found.specifier)).version
        assert wanted.specifier.contains(version, prereleases=True), f"{found} is not {wanted}: run scripts/lock"


@pytest.mark.parametrize("name", sorted(path.stem for path in LOCKS.glob("*.txt")))
def test_every_locked_package_has_one_version_and_hashes(name: str) -> None:
    """And no place of one machine."""
    for each, line in _locked(name):
        assert [spec.operator for spec in each.specifier] == ["=="], line
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line), line
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    assert not re.search(r"file:|https?:|--(find-links|index-url|extra-index-url)", text)


def test_the_dockerfile_is_clean() -> None:
    """For hadolint, whose exceptions stand in the file with their lines."""
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_an_image_copies_is_what_a_builder_is_handed() -> None:
    """All packages of the wheel, and no more than `.dockerignore` lets through."""
    handed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()}
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert set(wheel["wheel"]["packages"]) <= copied
    assert {name for name in copied if not any(Path(name).is_relative_to(one) for one in handed)} == set()


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_an_image_says_how_it_is_and_runs_as_nobody_in_particular(target: str) -> None:
    """Its health check asks the port that it exposes and listens on, at a path that the program answers."""
    stage = DOCKERFILE.partition(f" AS {target}\n")[2].partition("\nFROM ")[0]
    (asked,) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", stage)
    environment = image_environment(target)
    settings = settings_of(target, {"GIGAVQA_HOME": "/var/lib/gigavqa"}, target)
    room = {"gateway": "service", "viewer": "viewer"}.get(target, "workers")
    assert f'ENTRYPOINT ["python3", "-P", "-m", "gigavqa.{room}"]' in stage
    assert f"EXPOSE {asked[0]}\n" in stage
    assert asked[0] in {environment.get(name) for name in environment if name.endswith("_PORT")}
    assert str(getattr(settings, "metrics_port", 0) or getattr(settings, "port", 0)) == asked[0]
    assert answers(target, asked[1])
    assert re.findall(r"^USER (\S+)$", stage, re.MULTILINE)[-1:] in ([], ["10001"])


def test_the_compose_file_has_the_form_of_one() -> None:
    """As the Compose Specification's schema has it."""
    command = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", COMPOSE]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    return services


@pytest.mark.parametrize("name", ["gateway", "viewer", "worker-cpu", "worker-gpu", "worker-remote"])
def test_a_service_of_the_compose_file_is_set_as_its_program_knows(name: str) -> None:
    """Its image is one of the Dockerfile's; it is confined, is given time to end, and names its settings."""
    service = _services()[name]
    target = re.sub(r".*/gigavqa-([a-z-]+):.*", r"\1", service["image"])
    assert target == name
    assert set(service["environment"]) <= VARIABLES | FOREIGN | {"OPENAI_API_KEY"}
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    if name.startswith("worker"):
        assert service["stop_grace_period"] == "6m"
        assert float(service["environment"]["GIGAVQA_WORKER_GRACE_SECONDS"]) + 20 < 360


@pytest.mark.parametrize("name", ["valkey", "gateway", "viewer", "worker-gpu", "prometheus", "grafana"])
def test_a_service_of_the_compose_file_has_bounds(name: str) -> None:
    """Of memory, of processes and of its log."""
    service = _services()[name]
    assert service["mem_limit"] and service["pids_limit"] and service["logging"]["options"]["max-size"]


def test_the_state_store_of_the_compose_file_refuses_before_it_is_ended() -> None:
    """A bound of its own, below its container's, and no eviction."""
    service = _services()["valkey"]
    said = service["command"]
    (own,) = re.findall(r":-(\d+)gb", said[said.index("--maxmemory") + 1])
    (limit,) = re.findall(r":-(\d+)g", service["mem_limit"])
    assert int(own) <= 0.75 * int(limit)
    assert said[said.index("--maxmemory-policy") + 1] == "noeviction"


def test_grafana_finds_prometheus_and_every_dashboard() -> None:
    """By files that the compose file mounts where Grafana looks; the source is of the kind that dashboards ask for."""
    services = _services()
    mounted = dict(volume.split(":")[:2][::-1] for volume in services["grafana"]["volumes"])
    folder = ROOT / mounted["/etc/grafana/provisioning"]
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yml").read_text("utf-8"))["datasources"]
    assert source["url"] == "http://prometheus:9090" and source["isDefault"]
    (provider,) = yaml.safe_load((folder / "dashboards" / "gigavqa.yml").read_text("utf-8"))["providers"]
    boards = sorted((ROOT / mounted[provider["options"]["path"]]).glob("*.json"))
    assert len(boards) == 6
    for board in (json.loads(path.read_text("utf-8")) for path in boards):
        (variable,) = [each for each in board["templating"]["list"] if each["type"] == "datasource"]
        assert variable["query"] == source["type"]
    home = Path(services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert home.parent == Path(provider["options"]["path"]) and home.name in {path.name for path in boards}
    watching = {name for name, each in services.items() if "watch" in each.get("profiles", [])}
    assert watching == {"prometheus", "grafana"}


def test_the_example_of_an_environment_names_what_the_compose_file_reads() -> None:
    """And nothing else."""
    named = re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    text = re.sub(r"#.*", "", COMPOSE.read_text(encoding="utf-8"))
    assert sorted(named) == sorted(set(re.findall(r"\$\{(\w+)[-:}]", text)))


def test_the_compose_file_scrapes_its_own_services_by_the_files_of_every_installation(tmp_path: Path) -> None:
    """What its Prometheus does before it starts, done here: no loopback stays, and promtool takes the files."""
    promtool = program("promtool")
    shell, flag, script = _services()["prometheus"]["entrypoint"]
    preparing, started, _ = script.partition("exec prometheus")
    here = preparing.replace("/tmp", str(tmp_path)).replace("/etc/gigavqa", str(ROOT / "deploy" / "prometheus"))
    subprocess.run([shell, flag, here], check=True)
    written = (tmp_path / "prometheus.yml").read_text(encoding="utf-8")
    scraped = str(yaml.safe_load(written)["scrape_configs"])
    assert started and "127.0.0.1" not in scraped
    assert set(re.findall(r"\w+:\d+", scraped)) == {"gateway:8470", "viewer:8471"}
    command = [promtool, "check", "config", tmp_path / "prometheus.yml"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
