"""The visual budgets of all families, as one type that a catalogue entry can hold."""

from tiling.budgets.qwen import QwenBudget

AnyBudget = QwenBudget
"""Discriminated by `kind`; a union once there is a second family."""
