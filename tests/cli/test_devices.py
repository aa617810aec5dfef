"""Each worker of `up` gets GPUs of its own, among those that the operator leaves visible."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue.load import load_catalogue
from cli.crews import assign_devices, crews_of, device_environment, devices_needed, visible_devices, with_devices
from cli.errors import DevicesTooFewError
from cli.stack import StackOptions, _workers
from jobs.home import Home
from tests.cli.installation import MODEL

ENTRY = load_catalogue()[MODEL]


@given(needs=st.lists(st.integers(1, 4), min_size=1, max_size=6), spare=st.integers(0, 3))
def test_every_worker_gets_what_it_needs_and_none_shares(needs: list[int], spare: int) -> None:
    """As many devices as asked for, each once, all of them visible."""
    visible = [str(number) for number in range(sum(needs) + spare)]
    given_ = assign_devices(needs, visible)
    assert [len(devices) for devices in given_] == needs
    taken = [device for devices in given_ for device in devices]
    assert len(set(taken)) == len(taken) and set(taken) <= set(visible)


def test_too_few_devices_are_refused_with_both_numbers() -> None:
    """The sentence says what is needed, what there is, and what to do."""
    with pytest.raises(DevicesTooFewError, match=r"2 workers need 3 GPUs.*shows 2 \(0, 1\).*--workers"):
        assign_devices([1, 2], ["0", "1"])


@pytest.mark.parametrize(
    ("variable", "visible"),
    [("2,5", ("2", "5")), ("GPU-8f3a", ("GPU-8f3a",)), ("", ()), ("-1", ()), ("1,-1,2", ("1",))],
)
def test_what_the_operator_hides_stays_hidden(variable: str, visible: tuple[str, ...]) -> None:
    """CUDA_VISIBLE_DEVICES is read as CUDA reads it."""
    assert visible_devices({"CUDA_VISIBLE_DEVICES": variable}) == visible


def test_the_driver_names_the_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variable, nvidia-smi says which GPUs there are; without a driver there are none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert visible_devices({}) == ()
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 0\necho 1\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert visible_devices({}) == ("0", "1")


def test_a_model_that_is_spread_needs_a_device_for_each_part() -> None:
    """The command line goes before the entry."""
    spread = ENTRY.model_copy(update={"engine": {"tensor_parallel_size": 2}})
    assert devices_needed(ENTRY, {}) == 1
    assert devices_needed(spread, {}) == 2
    assert devices_needed(spread, {"tensor_parallel_size": 4, "pipeline_parallel_size": 2}) == 8


def test_two_models_on_two_devices_see_one_each(tmp_path: Path) -> None:
    """Each worker's process is started with the GPU that is its own, out of those that were visible."""
    other = ENTRY.model_copy(update={"id": "other"})
    crews = with_devices(crews_of([MODEL, "other"], None), [ENTRY, other], {}, {"CUDA_VISIBLE_DEVICES": "3,1"})
    programs = list(_workers(StackOptions(Home(folder=tmp_path), (ENTRY, other), crews), {}))
    assert [program.environment["CUDA_VISIBLE_DEVICES"] for program in programs] == ["3", "1"]


def test_a_worker_that_serves_models_in_turn_needs_the_most_of_them() -> None:
    """One that is spread over two GPUs takes both, and the other one is in neither's way."""
    wide = ENTRY.model_copy(update={"id": "wide", "engine": {"tensor_parallel_size": 2}})
    crews = with_devices(crews_of([MODEL, "wide"], 1), [ENTRY, wide], {}, {"CUDA_VISIBLE_DEVICES": "0,1"})
    assert [crew.devices for crew in crews] == [("0", "1")]


def test_without_devices_nothing_is_assigned() -> None:
    """On a machine without GPUs workers see what they saw before."""
    crews = crews_of([MODEL, MODEL], None)
    assert with_devices(crews, [ENTRY], {}, {"CUDA_VISIBLE_DEVICES": ""}) == crews
    assert device_environment((), {}) == {}
