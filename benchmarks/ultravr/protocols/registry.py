"""The protocols that can be asked for, by name."""

from benchmarks.ultravr.protocols.base import Protocol
from benchmarks.ultravr.protocols.direct import DirectQuestion
from benchmarks.ultravr.protocols.few_shot import FewShot
from benchmarks.ultravr.protocols.generic import GenericReasoning
from benchmarks.ultravr.protocols.given import GivenAnswers
from benchmarks.ultravr.protocols.schema import SchemaCompletion
from benchmarks.ultravr.protocols.sequential import OwnAnswers

PROTOCOLS: dict[str, Protocol] = {
    "S0": DirectQuestion(),
    "S1": GenericReasoning(),
    "S2": SchemaCompletion(),
    "S3": FewShot(),
    "S4": OwnAnswers(),
    "S5": GivenAnswers(),
}

TELLS_EXAMPLES = frozenset(name for name, protocol in PROTOCOLS.items() if protocol.needs_examples)
"""Protocols whose prompts tell trajectories of other samples."""
