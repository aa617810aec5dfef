"""Details of chats: a benchmark that tells clients, or counts in its report, how a chat was asked."""

from collections.abc import Hashable, Mapping

from pydantic import JsonValue

from gigavqa.evaluation.capabilities.capability import DefaultCapability
from gigavqa.evaluation.replies import Reply


class ChatDetails(DefaultCapability):
    """Says what is to be known of a chat by its details."""

    def remark(self, details: Mapping[str, JsonValue]) -> str:
        """Say what a client should know of a chat with these details ('' of most); a submission counts those alike."""
        return ""

    def trait(self, reply: Reply) -> Hashable:
        """Return what of a reply's details the report needs counted by cell, judged or failed; None counts nothing."""
        return None
