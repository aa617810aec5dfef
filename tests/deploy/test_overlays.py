"""The manifests of Kubernetes: rendered whole, of the right form, and nothing in them that does not exist."""

import json
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.manifests import K8S, OVERLAYS, Object, build, containers, find_kubectl, named, of_kind, pods, render

VERSIONS = ("1.31", "1.34", "1.37")
CUSTOM = {
    "ScaledObject": "keda.v1alpha1",
    "TriggerAuthentication": "keda.v1alpha1",
    "PodMonitor": "prometheus_operator.v1",
    "PrometheusRule": "prometheus_operator.v1",
}
"""Modules of the models of custom objects, whose import takes seconds."""
EXTERNAL = {"gigavqa-redis", "gigavqa-objects", "gigavqa-fleet", "gigavqa-metrics", "gigavqa-hub"}
BESIDE = ("jobs", "loader", "backup")
"""What is applied beside an overlay."""

of_each_overlay = pytest.mark.parametrize("overlay", OVERLAYS)


def custom(kind: str) -> Any:
    """The model of a custom object."""
    return getattr(import_module(f"cloudcoil.models.{CUSTOM[kind]}"), kind)


def with_jobs(overlay: str) -> tuple[Object, ...]:
    """All objects of an overlay, and of what is run beside it."""
    objects = render(overlay)
    own = {each["metadata"]["name"] for each in of_kind(objects, "PersistentVolumeClaim")}
    beside = [build(folder) for folder in BESIDE]
    # A loader of weights has no place where there are none, nor a backup of a bucket.
    return (*objects, *(each for some in beside if _claims(some) <= own for each in some))


def _claims(objects: tuple[Object, ...]) -> set[str]:
    """The volumes that these objects mount and do not make."""
    volumes = [volume for _, template in pods(objects) for volume in template["spec"]["volumes"]]
    mounted = {each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each}
    return mounted - {each["metadata"]["name"] for each in of_kind(objects, "PersistentVolumeClaim")}


@pytest.mark.parametrize("overlay", ["one-gpu", "eight-gpus"])
def test_an_overlay_with_volumes_is_loaded_and_backed_up(overlay: str) -> None:
    """By what stands beside it."""
    names = {name for name, _ in pods(with_jobs(overlay))}
    assert {"gigavqa-first-key", "gigavqa-loader", "gigavqa-backup"} <= names


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_has_the_form_of_its_kind(version: str) -> None:
    """Strictly: a field that the API does not know is an error. All overlays together, each object once."""
    kinds: dict[tuple[str, str], list[Object]] = {}
    for overlay in OVERLAYS:
        objects = with_jobs(overlay)
        spanning = [template for where, template in pods(objects) if "(" in where]
        within = [{"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": each["spec"]} for each in spanning]
        for each in (*objects, *within):
            group = each["apiVersion"].partition("/")[0]
            same = kinds.setdefault((each["apiVersion"], each["kind"]), [])
            if each not in same and (group in {"v1", "apps", "batch", "policy"} or group == "networking.k8s.io"):
                same.append(each)
    lists = [(api, f"{kind}List", found) for (api, kind), found in kinds.items() if found]
    for api, kind, found in lists:
        items = {"apiVersion": api, "kind": kind, "metadata": {}, "items": found}
        kubernetes_validate.validate(items, version, strict=True)
    assert len(lists) >= 10


@of_each_overlay
def test_every_custom_object_has_the_form_of_its_kind(overlay: str) -> None:
    """Their models drop what they do not know, so what they give back is compared with what they got."""
    for each in of_kind(render(overlay), *CUSTOM):
        kept = custom(each["kind"]).model_validate(each).model_dump(mode="json", by_alias=True, exclude_none=True)
        assert _without_extras(kept, each) == each


def _without_extras(kept: Any, given: Any) -> Any:
    """What was kept of the given, without defaults that were added."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return {key: _without_extras(kept[key], given[key]) for key in given if key in kept}
    if isinstance(given, list) and isinstance(kept, list):
        return [_without_extras(*pair) for pair in zip(kept, given, strict=True)]
    return kept


@of_each_overlay
def test_everything_that_is_named_is_there(overlay: str) -> None:
    """Settings, volumes, accounts and services; of Secrets only those that the README tells to make."""
    objects = with_jobs(overlay)
    readme = (Path(__file__).parents[2] / "deploy/k8s/README.md").read_text(encoding="utf-8")
    for where, container, template in containers(objects):
        spec = template["spec"]
        volumes = {volume["name"] for volume in spec["volumes"]}
        volumes |= _claimed(objects, where)
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted <= volumes, where
        for volume in spec["volumes"]:
            if "persistentVolumeClaim" in volume:
                named(objects, "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"])
            if "configMap" in volume and not volume["configMap"].get("optional"):
                named(objects, "ConfigMap", volume["configMap"]["name"])
        named(objects, "ServiceAccount", spec["serviceAccountName"])
        for source in container.get("envFrom", []):
            named(objects, "ConfigMap", source["configMapRef"]["name"])
    secrets = {name for each in objects for name in _secrets(each)}
    assert secrets <= EXTERNAL
    assert [name for name in secrets if f"create secret generic {name}" not in readme] == []


def _claimed(objects: tuple[Object, ...], where: str) -> set[str]:
    sets = [each for each in of_kind(objects, "StatefulSet") if each["metadata"]["name"] == where.partition("/")[0]]
    return {claim["metadata"]["name"] for each in sets for claim in each["spec"]["volumeClaimTemplates"]}


def _secrets(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for each in value for name in _secrets(each)}
    if not isinstance(value, dict):
        return set()
    found = {value[key]["name"] for key in ("secretKeyRef", "credentials") if key in value}
    found |= {each["name"] for each in value.get("secretTargetRef", [])}
    return found | {name for each in value.values() for name in _secrets(each)}


@of_each_overlay
def test_no_secret_is_in_the_manifests(overlay: str) -> None:
    """They are named, and never made."""
    objects = with_jobs(overlay)
    assert of_kind(objects, "Secret") == []
    for where, container, _ in containers(objects):
        for variable in container.get("env", []):
            if variable["name"] == "REDIS_URL" or variable["name"].endswith(("_KEY", "_PASSWORD", "_KEY_ID")):
                assert "secretKeyRef" in variable["valueFrom"], where


@of_each_overlay
def test_every_pod_is_confined(overlay: str) -> None:
    """As the namespace's level `restricted` wants it, with a read-only root and bounds of its own on top."""
    for where, container, template in containers(with_jobs(overlay)):
        pod, own = template["spec"]["securityContext"], container["securityContext"]
        assert pod["runAsNonRoot"] and pod["runAsUser"] == 10001, where
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}, where
        assert own["readOnlyRootFilesystem"] and not own["allowPrivilegeEscalation"], where
        assert own["capabilities"] == {"drop": ["ALL"]}, where
        assert template["spec"]["automountServiceAccountToken"] is False, where
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys() & container["resources"]["limits"].keys()
        assert container["image"].count(":") == 1 and not container["image"].endswith(":latest"), where
        assert any(mount["mountPath"] == "/tmp" for mount in container["volumeMounts"]), where


@of_each_overlay
def test_every_policy_is_about_pods_that_there_are(overlay: str) -> None:
    """A network policy, a budget or a service that selects nothing would protect and reach nothing."""
    objects = render(overlay)
    labels = [template["metadata"]["labels"] for _, template in pods(objects)]
    labels += [
        {**template["metadata"]["labels"], "leaderworkerset.sigs.k8s.io/name": where.partition(" ")[0]}
        for where, template in pods(objects)
    ]
    for each in of_kind(objects, "NetworkPolicy", "PodDisruptionBudget", "Service", "PodMonitor"):
        spec = each["spec"]
        selector = spec.get("podSelector", spec.get("selector", {}))
        if "matchLabels" in selector or each["kind"] == "Service":
            wanted = selector.get("matchLabels", selector).items()
            assert any(wanted <= have.items() for have in labels), each["metadata"]["name"]
    closed = named(objects, "NetworkPolicy", "gigavqa-closed")["spec"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@of_each_overlay
def test_the_first_key_is_made_beside_any_overlay(overlay: str) -> None:
    """By the gateway's own image, where the policies let it reach the state store, again until that answers."""
    objects = render(overlay)
    ((_, container, template),) = containers(build("jobs"))
    gateways = {each["image"] for where, each, _ in containers(objects) if where.startswith("gigavqa-gateway/")}
    assert {container["image"]} == gateways
    to_store = named(objects, "NetworkPolicy", "gigavqa-names-and-state")["spec"]["podSelector"]["matchLabels"]
    assert to_store.items() <= template["metadata"]["labels"].items()
    (job,) = build("jobs")
    assert (template["spec"]["restartPolicy"], job["spec"]["backoffLimit"] > 0) == ("OnFailure", True)
    assert job["metadata"]["namespace"] == named(objects, "ConfigMap", "gigavqa-settings")["metadata"]["namespace"]


@of_each_overlay
def test_every_deployment_has_a_budget_of_its_own(overlay: str) -> None:
    """One whose selector has all of its labels, so that models do not share one."""
    objects = render(overlay)
    budgets = [each["spec"]["selector"]["matchLabels"] for each in of_kind(objects, "PodDisruptionBudget")]
    for each in of_kind(objects, "Deployment", "StatefulSet"):
        assert each["spec"]["selector"]["matchLabels"] in budgets, json.dumps(budgets)


def test_the_rules_of_the_cluster_are_those_of_every_installation() -> None:
    """`scripts/rules` changes nothing, and every group has a name of its own, as the operator's object wants it."""
    (rule,) = of_kind(render("eight-gpus"), "PrometheusRule")
    groups = [
        group
        for name in ("recording.yml", "alerts.yml")
        for group in yaml.safe_load((K8S.parent / "prometheus" / name).read_text("utf-8"))["groups"]
    ]
    assert rule["spec"]["groups"] == groups
    assert len({group["name"] for group in groups}) == len(groups) == 2


def test_the_dashboards_of_the_cluster_are_those_of_every_installation() -> None:
    """Each a ConfigMap that Grafana's sidecar finds by its label."""
    maps = [each for each in of_kind(render("eight-gpus"), "ConfigMap") if "-dashboard-" in each["metadata"]["name"]]
    assert {each["metadata"]["labels"]["grafana_dashboard"] for each in maps} == {"1"}
    shown = {name: text for each in maps for name, text in each["data"].items()}
    assert shown == {path.name: path.read_text("utf-8") for path in (K8S.parent / "grafana").glob("*.json")}


def test_the_ingress_of_the_readme_sends_to_services_that_there_are() -> None:
    """As kubectl makes it, without a cluster."""
    if (kubectl := find_kubectl()) is None:
        pytest.skip("kubectl is not installed: scripts/kubectl")
    text = (K8S / "README.md").read_text("utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^ +kubectl (.* create ingress .*)$", text, re.MULTILINE)
    command = [kubectl, *shlex.split(line), "--dry-run=client", "-o", "yaml"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    for rule in yaml.safe_load(made.stdout)["spec"]["rules"]:
        (path,) = rule["http"]["paths"]
        told = path["backend"]["service"]
        service = named(render("eight-gpus"), "Service", told["name"])
        assert told["port"]["number"] in [port["port"] for port in service["spec"]["ports"]]


def test_one_machine_s_volumes_are_its_own() -> None:
    """What a storage class of one node can bind."""
    for overlay in ("one-gpu", "cpu-trial"):
        for claim in of_kind(render(overlay), "PersistentVolumeClaim"):
            assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]


@of_each_overlay
def test_what_a_pod_writes_to_its_node_is_asked_for(overlay: str) -> None:
    """Folders that are no memory fit into what the scheduler knows of."""
    for where, container, template in containers(render(overlay)):
        folders = [volume["emptyDir"] for volume in template["spec"]["volumes"] if "emptyDir" in volume]
        sizes = [int(each.get("sizeLimit", "0").removesuffix("Gi")) for each in folders if "medium" not in each]
        told = container["resources"]["limits"].get("ephemeral-storage")
        if sum(sizes) > 1 and told:
            assert int(told.removesuffix("Gi")) > sum(sizes), where
