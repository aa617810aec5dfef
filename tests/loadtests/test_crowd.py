"""Chats are answered in a crowd as they are alone, as `make chaos` has it with two models and many more."""

import importlib.util

import pytest

from loadtests.chaos.crowd import crowd


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_answers_in_a_crowd_are_those_given_alone() -> None:
    """Beside chats that overflow and that are left, through a killed worker; and none is without a token."""
    outcome = crowd(20, ["demo-qwen3-vl"])
    assert outcome.sound, (outcome.row(), outcome.missed, outcome.why)
    assert outcome.hurt["too long chat"] > 0
    assert outcome.hurt["left chat"] > 0
