"""Events of the streams that OpenAI's clients read."""

import json

from sse_starlette import ServerSentEvent


def stream_event(data: object, name: str | None = None) -> ServerSentEvent:
    """Return an event of a stream, by its name where events have one."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(text, event=name, sep="\n")
