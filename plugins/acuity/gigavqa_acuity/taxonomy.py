"""The chart's words: what is asked of a sign, which answers there are, and where signs stand."""

from collections.abc import Mapping
from typing import Literal, get_args

Attribute = Literal["colour", "direction"]
Colour = Literal["red", "green", "blue", "yellow"]
Direction = Literal["up", "right", "down", "left"]
SceneKind = Literal["board", "plate", "wall", "field"]
RingPlace = Literal["centre", "edge", "corner", "seam"]

ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)
COLOURS: tuple[Colour, ...] = get_args(Colour)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
"""Clockwise, so that a rotation of the picture is a shift among them."""
WORDS: Mapping[Attribute, tuple[str, ...]] = {"colour": COLOURS, "direction": DIRECTIONS}
"""The options of every question about an attribute."""
SCENES: tuple[SceneKind, ...] = get_args(SceneKind)
PLACES: tuple[RingPlace, ...] = get_args(RingPlace)
LETTERS = "ABCD"
CHANCE = 1 / len(LETTERS)
