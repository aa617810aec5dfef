"""How many chats an engine has room for at once, where more of them would put out each other's prefixes."""

from catalogue.entry import CatalogueEntry


def places(entry: CatalogueEntry, kv_tokens: int) -> int | None:
    """As many as the KV cache's tokens hold views of the largest size; None where the family needs no bound.

    Recurrent states take whole blocks, several for each sequence and for each prefix that is to be found again. With
    as many chats as fit, states of chats between two turns, and of views, are gone before they are asked for:
    docs/decisions/2026-11-22-engine-caches.md has the figures.
    """
    family = entry.known_family
    if family is None or not family.linear_attention:
        return None
    return max(1, kv_tokens // entry.visual_budget.max_visual_tokens)
