"""The protocols that can be asked for, by name."""

from evaluation.ultravr.protocols.base import Protocol
from evaluation.ultravr.protocols.direct import DirectQuestion

PROTOCOLS: dict[str, Protocol] = {"S0": DirectQuestion()}
