"""Streams of random draws, one for each part of a build: one part's draws move no other's."""

import zlib

import numpy as np


def stream(seed: int, *words: str) -> np.random.Generator:
    """Return the stream of a part: the same for the same seed and words, on every machine."""
    return np.random.default_rng([seed, zlib.crc32("/".join(words).encode())])
