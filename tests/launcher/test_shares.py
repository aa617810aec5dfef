"""What workers on one machine get of its cores and of its memory adds up to what it has."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.catalogue.load import load_catalogue
from gigavqa.launcher.machine import HostMachine
from gigavqa.launcher.placement import WorkerPlan, plans_for_models
from gigavqa.launcher.worker_plans import PlacementOptions, add_shares, divide_cores, place_workers
from gigavqa.runtime.memory import usable_bytes
from gigavqa.workers.settings import WorkerSettings
from tests.cli.installation import MODEL
from tests.launcher.machines import DGX, GIB, machine

ENTRY = load_catalogue()[MODEL]


def staffed(
    described: HostMachine, *, told: Mapping[str, str] | None = None, gpus: str = "all"
) -> tuple[WorkerPlan, ...]:
    """One worker a GPU of a described machine, with what the operator's environment says."""
    plans = place_workers(plans_for_models([MODEL], None), [ENTRY], PlacementOptions(gpus=gpus), {}, described, {})
    return add_shares(plans, described, WorkerSettings.from_environment(told or {}), [ENTRY], {})


def bounds(plans: Sequence[WorkerPlan], name: str) -> list[int]:
    """One bound of each worker, as its environment has it."""
    return [int(dict(plan.variables)[f"GIGAVQA_WORKER_{name}"]) for plan in plans]


def test_workers_at_a_node_divide_its_cores() -> None:
    """Eight GPUs at two nodes of 56 cores: 14 cores each, with both threads, of the node that the GPU hangs at."""
    plans = staffed(DGX)
    assert [len(plan.cpus) for plan in plans] == [28] * 8
    assert plans[0].cpus == (*range(14), *range(112, 126))
    assert plans[4].cpus == (*range(56, 70), *range(168, 182))


@given(
    nodes=st.lists(st.integers(1, 8), min_size=1, max_size=3),
    cores=st.integers(1, 24),
    threads=st.integers(1, 2),
)
def test_cores_are_given_once_and_whole(nodes: list[int], cores: int, threads: int) -> None:
    """No CPU is two workers', none is idle, and siblings stay together while there is a core for each GPU."""
    described = machine(nodes, cores, threads=threads)
    plans = [WorkerPlan(device.id, (MODEL,), (device,)) for device in described.devices]
    given_ = divide_cores(plans, described.nodes)
    for node, num_gpus in zip(described.nodes, nodes, strict=True):
        here = [set(given_[plan.name]) for plan in plans if plan.devices[0].node == node.number]
        assert set().union(*here) == set(node.cpus)
        if num_gpus <= len(node.cpus):
            assert sum(map(len, here)) == len(node.cpus)
        else:
            assert all(cpus == set(node.cpus) for cpus in here)
        if num_gpus <= len(node.cores):
            assert all(any(set(core) <= cpus for cpus in here) for core in node.cores)


def test_a_worker_of_more_gpus_gets_more_cores() -> None:
    """Cores go by GPU: one with three of four gets three quarters of the node."""
    wide, small = WorkerPlan("wide", (), DGX.devices[:3]), WorkerPlan("small", (), DGX.devices[3:4])
    given_ = divide_cores([wide, small], DGX.nodes)
    assert (len(given_["wide"]), len(given_["small"])) == (84, 28)


def test_a_worker_across_nodes_gets_cores_of_each() -> None:
    """All of both, when it has all GPUs."""
    given_ = divide_cores([WorkerPlan("huge", (), DGX.devices)], DGX.nodes)
    assert given_["huge"] == tuple(range(224))


def test_workers_together_take_no_more_memory_than_one_would() -> None:
    """Sleeping weights: half of the memory among eight, where each would have taken half for itself."""
    memory = usable_bytes()
    assert bounds(staffed(HostMachine(DGX.devices, DGX.nodes, memory)), "SLEEP_BYTES") == [memory // 2 // 8] * 8
    assert sum(bounds(staffed(DGX), "AHEAD_BYTES")) == 16 * GIB  # 2 GiB each, as alone: far below the machine's eighth
    small = HostMachine(DGX.devices, DGX.nodes, 64 * GIB)
    assert bounds(staffed(small), "AHEAD_BYTES") == [GIB] * 8
    assert bounds(staffed(small), "CACHE_BYTES") == [GIB // 2] * 8


def test_what_the_operator_allows_is_divided() -> None:
    """Bounds that are set are the machine's, whether they are large or small."""
    told = {
        "GIGAVQA_WORKER_SLEEP_BYTES": "800GiB",
        "GIGAVQA_WORKER_CACHE_BYTES": "80GiB",
        "GIGAVQA_WORKER_RENDER_THREADS": "40",
    }
    plans = staffed(DGX, told=told)
    assert bounds(plans, "SLEEP_BYTES") == [100 * GIB] * 8
    assert bounds(plans, "CACHE_BYTES") == [10 * GIB] * 8
    assert bounds(plans, "RENDER_THREADS") == [5] * 8


@pytest.mark.parametrize(("cores", "threads"), [(56, 8), (16, 6), (8, 2), (2, 1)])
def test_rendering_leaves_cores_to_the_engine(cores: int, threads: int) -> None:
    """One CPU for the front end and one for each GPU's engine stay free; one thread there always is."""
    assert bounds(staffed(machine([4], cores)), "RENDER_THREADS") == [threads] * 4


def test_a_worker_alone_has_the_machines_bounds() -> None:
    """Nothing is divided, and it runs on the cores of its GPU's node."""
    (plan,) = staffed(DGX, gpus="6")
    assert plan.cpus == DGX.nodes[1].cpus
    assert "GIGAVQA_WORKER_SLEEP_BYTES" not in dict(plan.variables)


def test_pinned_memory_for_evicted_blocks_is_divided() -> None:
    """200 GiB, asked for by the entry or by the command line, are 25 GiB for each of eight."""
    entry = ENTRY.model_copy(update={"engine": {"kv_offloading_size": 200}})
    plans = place_workers(plans_for_models([MODEL], None), [ENTRY], PlacementOptions(gpus="all"), {}, DGX, {})
    by_entry = add_shares(plans, DGX, WorkerSettings(), [entry], {})
    by_argument = add_shares(plans, DGX, WorkerSettings(), [ENTRY], {"kv_offloading_size": 200})
    assert {plan.arguments for plan in (*by_entry, *by_argument)} == {("kv_offloading_size=25",)}
    assert {plan.arguments for plan in add_shares(plans, DGX, WorkerSettings(), [ENTRY], {})} == {()}
