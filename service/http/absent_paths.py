"""Addresses that clients ask for and that are not here, and what to ask instead."""

from collections.abc import Mapping

_CHATS = "ask /v1/chat/completions, or /v1/responses"
_AZURE = "Azure's addresses are not spoken: give OpenAI's own client the base address that ends in /v1"
_ABSENT: Mapping[str, str] = {
    "/v1/completions": f"texts are continued by chats alone: {_CHATS} (LlamaIndex: is_chat_model=True; AI SDK: .chat)",
    "/v1/embeddings": "models here answer, and embed nothing",
    "/v1/uploads": "files come whole: send them to /v1/files",
    "/v1/responses": "no response is kept: send the whole chat to POST /v1/responses each time",
    "/v1/conversations": f"no conversation is kept: {_CHATS} with the whole chat",
    "/v1/assistants": f"nothing is kept of assistants: {_CHATS}",
    "/v1/threads": f"nothing is kept of threads: {_CHATS} with the whole chat",
    "/v1/images": "no pictures are made here; they are shown to models within chats",
    "/v1/audio": "sound is neither heard nor spoken here",
    "/v1/moderations": "nothing is moderated here",
    "/v1/messages": f"Anthropic's API is not spoken: {_CHATS}",
    "/openai": _AZURE,
    "/v1/deployments": _AZURE,
    "/chat/completions": "the base address ends in /v1",
    "/responses": "the base address ends in /v1",
    "/models": "the base address ends in /v1",
}


def advice_on(path: str) -> str:
    """Return what to ask instead of an address that is not there; empty where nobody knows."""
    if "//" in path:
        return "it has two slashes; look at how the base address ends"
    return next((told for start, told in _ABSENT.items() if path == start or path.startswith(f"{start}/")), "")
