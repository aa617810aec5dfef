"""Each worker of `up` gets GPUs of its own, of one NUMA node where that can be, out of those that it may take."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import load_catalogue
from gigavqa.launcher.errors import DevicesTooFewError, DevicesUnusableError
from gigavqa.launcher.machine import GpuDevice, HostMachine, read_machine
from gigavqa.launcher.placement import WorkerPlan, assign_devices, device_environment, devices_needed, plans_for_models
from gigavqa.launcher.worker_plans import PlacementOptions, add_shares, describe_plan, place_workers
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.workers.settings import WorkerSettings
from tests.cli.installation import MODEL
from tests.launcher.machines import DGX, DRIVER, H100, machine, write_driver, write_kernel

ENTRY = load_catalogue()[MODEL]
TWO_KINDS = HostMachine((GpuDevice("0", "GPU-a", "A100"), GpuDevice("1", "GPU-b", H100)), DGX.nodes, DGX.memory_bytes)


def spread(model: str, number: int) -> CatalogueEntry:
    """An entry that asks for tensor parallelism over so many GPUs."""
    return ENTRY.model_copy(update={"id": model, "engine": {"tensor_parallel_size": number}})


def staffed(
    described: HostMachine,
    *entries: CatalogueEntry,
    gpus: str | None = None,
    workers: int | None = None,
    visible: str = "",
) -> dict[str, list[str]]:
    """The numbers of each worker's GPUs on a described machine."""
    environment = {"CUDA_VISIBLE_DEVICES": visible} if visible else {}
    plans = plans_for_models([entry.id for entry in entries], workers)
    placed = place_workers(plans, entries, PlacementOptions(workers, gpus), {}, described, environment)
    return {plan.name: [device.number for device in plan.devices] for plan in placed}


@given(needs=st.lists(st.integers(1, 4), min_size=1, max_size=6), spare=st.integers(0, 3))
def test_every_worker_gets_what_it_needs_and_none_shares(needs: list[int], spare: int) -> None:
    """As many devices as asked for, each once, all of them visible."""
    visible = machine([sum(needs) + spare], 8).devices
    given_ = assign_devices(needs, visible)
    assert [len(devices) for devices in given_] == needs
    taken = [device for devices in given_ for device in devices]
    assert len(set(taken)) == len(taken) and set(taken) <= set(visible)


def test_too_few_devices_are_refused_with_both_numbers() -> None:
    """The sentence says what is needed, what there is, and what to do."""
    with pytest.raises(DevicesTooFewError, match=r"2 workers need 3 GPUs.*are 2 to take \(0, 1\).*--workers"):
        assign_devices([1, 2], machine([2], 8).devices)
    with pytest.raises(DevicesTooFewError, match=r"the worker needs 16 GPUs.*are 8 to take.*lower its parallel sizes"):
        assign_devices([16], DGX.devices)


def test_without_gpus_asked_for_each_model_has_one_worker() -> None:
    """What is left of the GPUs stays idle."""
    assert staffed(DGX, ENTRY) == {f"worker-{MODEL}": ["0"]}


def test_all_gpus_have_a_worker_each() -> None:
    """One model on eight GPUs makes eight workers, each with another GPU."""
    workers = staffed(DGX, ENTRY, gpus="all")
    assert list(workers.values()) == [[str(number)] for number in range(8)]
    assert list(workers)[:2] == [f"worker-{MODEL}", f"worker-{MODEL}-2"]


def test_groups_of_gpus_lie_within_a_node() -> None:
    """Tensor parallelism over four GPUs makes two workers, one at each node; over three, one GPU a node is left."""
    assert list(staffed(DGX, spread("wide", 4), gpus="all").values()) == [["0", "1", "2", "3"], ["4", "5", "6", "7"]]
    assert list(staffed(DGX, spread("odd", 3), gpus="all").values()) == [["0", "1", "2"], ["4", "5", "6"]]


def test_a_model_that_no_node_can_hold_takes_gpus_of_several() -> None:
    """Eight GPUs of two nodes are one worker then, rather than none."""
    assert list(staffed(DGX, spread("huge", 8), gpus="all").values()) == [[str(number) for number in range(8)]]


def test_models_take_turns_for_the_gpus() -> None:
    """The wide model gets a whole node, and the small one every GPU of the other."""
    workers = staffed(DGX, ENTRY, spread("wide", 4), gpus="all")
    assert workers.pop("worker-wide") == ["0", "1", "2", "3"]
    assert list(workers.values()) == [["4"], ["5"], ["6"], ["7"]]


def test_a_number_of_workers_stays_that_number() -> None:
    """`--workers 2 --gpus all` are two workers for all models, each with as many GPUs as the largest needs."""
    assert staffed(machine([4], 16), ENTRY, spread("wide", 2), gpus="all", workers=2) == {
        "worker-1": ["0", "1"],
        "worker-2": ["2", "3"],
    }


def test_gpus_are_chosen_by_number_or_uuid() -> None:
    """In the order in which they are named, as the driver names them."""
    assert list(staffed(DGX, ENTRY, gpus="5,GPU-0002").values()) == [["5"], ["2"]]


@pytest.mark.parametrize(
    ("gpus", "visible", "says"),
    [
        ("0,9", "", "there is no GPU 9; this machine shows 0, 1, 2, 3"),
        ("1,1", "", "names GPU 1 twice"),
        ("first", "", "'first' is neither"),
        ("2", "0,1", "GPU 2 is hidden by CUDA_VISIBLE_DEVICES; visible are 0, 1"),
    ],
)
def test_a_wrong_choice_is_named(gpus: str, visible: str, says: str) -> None:
    """What was asked for, and what there is."""
    with pytest.raises(SettingsInvalidError, match=says):
        staffed(machine([4], 16), ENTRY, gpus=gpus, visible=visible)


def test_gpus_that_are_not_there_are_refused() -> None:
    """A machine without GPUs, and one whose operator hides them all."""
    with pytest.raises(DevicesUnusableError, match="no GPU that its driver shows"):
        staffed(HostMachine((), DGX.nodes, DGX.memory_bytes), ENTRY, gpus="all")
    with pytest.raises(DevicesUnusableError, match="CUDA_VISIBLE_DEVICES hides every GPU"):
        staffed(DGX, ENTRY, gpus="all", visible="-1")


def test_a_gpu_that_mig_has_split_is_refused_and_others_are_not() -> None:
    """The sentence names the GPU and the ways out; whoever takes other GPUs is not stopped."""
    described = machine([4], 16, split=[1])
    with pytest.raises(DevicesUnusableError, match=r"GPU 1 is split by MIG.*-mig 0.*--gpus"):
        staffed(described, ENTRY, gpus="all")
    assert list(staffed(described, ENTRY, gpus="0,2").values()) == [["0"], ["2"]]
    with pytest.raises(DevicesUnusableError, match="slice of a GPU"):
        staffed(described, ENTRY, visible="MIG-77aa")


@pytest.mark.parametrize(
    ("variable", "numbers"),
    [("2,5", ["2", "5"]), ("GPU-0003", ["3"]), ("", []), ("-1", []), ("1,-1,2", ["1"]), ("1,99,2", ["1"])],
)
def test_what_the_operator_hides_stays_hidden(variable: str, numbers: list[str]) -> None:
    """CUDA_VISIBLE_DEVICES is read as CUDA reads it."""
    visible = DGX.visible({"CUDA_VISIBLE_DEVICES": variable})
    assert [device.number for device in visible] == numbers


def test_numbers_among_several_kinds_of_gpu_are_refused_unless_the_order_is_said() -> None:
    """CUDA numbers the fastest first, the driver by slot: which one was meant is not guessed."""
    variable = {"CUDA_VISIBLE_DEVICES": "1"}
    with pytest.raises(DevicesUnusableError, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        TWO_KINDS.visible(variable)
    assert TWO_KINDS.visible(variable | {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == TWO_KINDS.devices[1:]
    assert TWO_KINDS.visible({"CUDA_VISIBLE_DEVICES": "GPU-b"}) == TWO_KINDS.devices[1:]


def test_driver_and_kernel_name_devices_and_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UUIDs, kinds, memory and nodes; without a driver there are no GPUs, with a broken one its own words."""
    cpus = sorted(os.sched_getaffinity(0))
    folder = write_kernel(tmp_path, [",".join(map(str, cpus)), "4000-4007"], [("0000:0f:00.0", 0), ("0000:10:00.0", 0)])
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert read_machine(folder).devices == ()
    lines = [
        f"0, GPU-a, {H100}, 81559, 00000000:0F:00.0, Disabled, {DRIVER}, 9.0",
        f"1, GPU-b, {H100}, 81559, 00000000:10:00.0, [N/A], {DRIVER}, 9.0",
    ]
    write_driver(tmp_path, lines)
    found = read_machine(folder)
    assert found.devices == (
        GpuDevice("0", "GPU-a", H100, 81559, 0, False, DRIVER, "9.0"),
        GpuDevice("1", "GPU-b", H100, 81559, 0, False, DRIVER, "9.0"),
    )
    assert [node.cpus for node in found.nodes] == [tuple(cpus)]  # those of node 1 are not for this process
    write_driver(tmp_path, ["Failed to initialize NVML: Driver/library version mismatch"], status=18)
    with pytest.raises(DevicesUnusableError, match="Driver/library version mismatch"):
        read_machine(folder)


def test_devices_of_unknown_nodes_hang_at_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Firmware that does not tell (-1) makes one pool of all GPUs, whatever the other one says."""
    folder = write_kernel(tmp_path, ["0-4000"], [("0000:0f:00.0", 0), ("0000:10:00.0", -1)])
    write_driver(
        tmp_path,
        [
            f"{n}, GPU-{n}, {H100}, 81559, 00000000:{bus}:00.0, [N/A], {DRIVER}, 9.0"
            for n, bus in ((0, "0F"), (1, "10"))
        ],
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert [device.node for device in read_machine(folder).devices] == [None, None]


def test_a_model_that_is_spread_needs_a_device_for_each_part() -> None:
    """The command line goes before the entry."""
    assert devices_needed(ENTRY, {}) == 1
    assert devices_needed(spread("wide", 2), {}) == 2
    assert devices_needed(spread("wide", 2), {"tensor_parallel_size": 4, "pipeline_parallel_size": 2}) == 8


def test_a_process_sees_its_gpus_by_uuid_and_the_operators_threads() -> None:
    """Numbers would mean others where CUDA orders by speed; OMP_NUM_THREADS stays where somebody set it."""
    devices = DGX.devices[2:4]
    named = {"CUDA_VISIBLE_DEVICES": "GPU-0002-uuid,GPU-0003-uuid"}
    assert device_environment(devices, {}) == named | {"OMP_NUM_THREADS": "1"}
    assert device_environment(devices, {"OMP_NUM_THREADS": "4"}) == named
    assert device_environment((), {}) == {}


def test_without_a_driver_the_operators_names_are_passed_on() -> None:
    """In a container that shows GPUs and no nvidia-smi, two models get one each, out of those that were visible."""
    bare = HostMachine((), DGX.nodes, DGX.memory_bytes)
    other = ENTRY.model_copy(update={"id": "other"})
    plans = place_workers(
        plans_for_models([MODEL, "other"], None),
        [ENTRY, other],
        PlacementOptions(),
        {},
        bare,
        {"CUDA_VISIBLE_DEVICES": "3,1"},
    )
    assert [device_environment(plan.devices, {})["CUDA_VISIBLE_DEVICES"] for plan in plans] == ["3", "1"]


def test_without_devices_nothing_is_assigned() -> None:
    """On a machine without GPUs workers see what they saw before, and run where the kernel puts them."""
    bare = HostMachine((), DGX.nodes, DGX.memory_bytes)
    plans = plans_for_models([MODEL, MODEL], None)
    assert place_workers(plans, [ENTRY], PlacementOptions(), {}, bare, {}) == plans
    assert [plan.cpus for plan in add_shares(plans, bare, WorkerSettings(), [ENTRY], {})] == [(), ()]


def test_who_gets_what_is_told_in_the_order_of_the_gpus() -> None:
    """A line for each worker: GPUs, name, models, nodes, CPUs."""
    plans = (
        WorkerPlan("worker-b", ("b",), DGX.devices[1:2], (4, 5, 6)),
        WorkerPlan("worker-a", ("a",), DGX.devices[:1], (0, 1)),
    )
    assert list(describe_plan(plans)) == [
        "devices  GPU 0 -> worker-a -> a (node 0, CPUs 0-1)",
        "devices  GPU 1 -> worker-b -> b (node 0, CPUs 4-6)",
    ]
