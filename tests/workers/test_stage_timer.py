"""What the engine's seconds say: each belongs to one state, and all together are the worker's life."""

import time

from prometheus_client import CollectorRegistry

from gigavqa.workers.stage_timer import StageTimer


def test_the_engine_waits_for_pixels_only_while_it_plays_nothing() -> None:
    """Requests that wait for theirs beside one that is played cost no second of the engine."""
    stages, registry, begun = StageTimer(), CollectorRegistry(), time.monotonic()
    registry.register(stages)
    stages.model = "m"

    def state() -> str:
        """The state whose seconds grow."""
        before = _seconds(registry)
        while (after := _seconds(registry)) == before:
            time.sleep(0.001)
        return max(after, key=lambda name: after[name] - before[name])

    states = [state()]
    stages.set_loaded(True)
    states.append(state())
    with stages.request() as first, stages.request():
        states.append(state())
        first("place")
        states.append(state())
        first("engine")
        states.append(state())
        assert registry.get_sample_value("gigavqa_worker_stage_requests", {"stage": "pixels"}) == 1
    states.append(state())
    assert states == ["loading", "idle", "pixels", "pixels", "busy", "idle"]
    assert sum(_seconds(registry).values()) <= time.monotonic() - begun


def _seconds(registry: CollectorRegistry) -> dict[str, float]:
    name, states = "gigavqa_worker_engine_seconds_total", ("busy", "pixels", "idle", "loading")
    return {state: registry.get_sample_value(name, {"model": "m", "state": state}) or 0.0 for state in states}
