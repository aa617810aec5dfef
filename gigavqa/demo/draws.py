"""Seeded draws: every part of the data set has its own stream, so that one part's change moves no other."""

import zlib

import numpy as np


def stream(seed: int, *words: str) -> np.random.Generator:
    """Return the random stream of the part that `words` name; the same words give the same draws on every machine."""
    return np.random.default_rng([seed, zlib.crc32("/".join(words).encode())])
