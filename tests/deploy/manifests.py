"""What the overlays of `deploy/k8s` make, rendered by the real kustomize, and how to look at it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "deploy" / "k8s"
OVERLAYS = sorted(path.parent.name for path in (K8S / "overlays").glob("*/kustomization.yaml"))

Object = dict[str, Any]


def render(overlay: str) -> tuple[Object, ...]:
    """All objects of an overlay."""
    return build(f"overlays/{overlay}")


def find_kubectl() -> str | None:
    """The path of the real one, where this machine has it."""
    beside = Path(sys.executable).with_name("kubectl")
    return str(beside) if beside.exists() else shutil.which("kubectl")


@cache
def build(folder: str) -> tuple[Object, ...]:
    """All objects of a folder of manifests; skips the test where neither kubectl nor kustomize is installed."""
    kubectl = find_kubectl()
    command = [kubectl, "kustomize"] if kubectl else [shutil.which("kustomize") or "", "build"]
    if not command[0]:
        pytest.skip("kubectl is not installed: scripts/kubectl")
    done = subprocess.run([*command, str(K8S / folder)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(objects: tuple[Object, ...], *kinds: str) -> list[Object]:
    """The objects of these kinds."""
    return [each for each in objects if each["kind"] in kinds]


def named(objects: tuple[Object, ...], kind: str, name: str) -> Object:
    """The object of a kind that has this name."""
    found = [each for each in of_kind(objects, kind) if each["metadata"]["name"] == name]
    assert len(found) == 1, f"{len(found)} of {kind} {name}"
    return found[0]


def pods(objects: tuple[Object, ...]) -> Iterator[tuple[str, Object]]:
    """The template of every pod, by the name of what makes it."""
    for each in of_kind(objects, "Deployment", "StatefulSet", "Job"):
        yield each["metadata"]["name"], each["spec"]["template"]
    for each in of_kind(objects, "CronJob"):
        yield each["metadata"]["name"], each["spec"]["jobTemplate"]["spec"]["template"]
    for each in of_kind(objects, "Pod"):
        yield each["metadata"]["name"], each
    for each in of_kind(objects, "LeaderWorkerSet"):
        group = each["spec"]["leaderWorkerTemplate"]
        yield f"{each['metadata']['name']} (leader)", group["leaderTemplate"]
        yield f"{each['metadata']['name']} (worker)", group["workerTemplate"]


def containers(objects: tuple[Object, ...]) -> Iterator[tuple[str, Object, Object]]:
    """Every container, with its name and its pod's template."""
    for name, template in pods(objects):
        for container in template["spec"]["containers"]:
            yield f"{name}/{container['name']}", container, template


def environment(objects: tuple[Object, ...], container: Object) -> dict[str, str]:
    """All variables of a container; those that come from elsewhere in the cluster are empty."""
    variables: dict[str, str] = {}
    for source in container.get("envFrom", []):
        variables |= named(objects, "ConfigMap", source["configMapRef"]["name"])["data"]
    return variables | {each["name"]: each.get("value", "") for each in container.get("env", [])}


def image_of(container: Object) -> str:
    """The last part of its image's name, which is the target in the Dockerfile."""
    return str(container["image"]).rpartition("/")[2].partition(":")[0]
