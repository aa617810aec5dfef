"""Examples that the OpenAPI document shows of what OpenAI's clients are answered; a test checks each."""

from typing import Any

from gigavqa.service.http.examples import MODEL

COMPLETION: dict[str, Any] = {
    "id": "chatcmpl-5f0c9a",
    "object": "chat.completion",
    "created": 1795253412,
    "model": MODEL,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Upper left.", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 16452,
        "completion_tokens": 4,
        "total_tokens": 16456,
        "prompt_tokens_details": {"cached_tokens": 16400, "image_tokens": 16384},
    },
    "system_fingerprint": "vllm-0.32.0",
}
RESPONSE: dict[str, Any] = {
    "id": "resp_5f0c9a",
    "object": "response",
    "created_at": 1795253412,
    "status": "completed",
    "model": MODEL,
    "output": [
        {
            "id": "msg_5f0c9a",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Upper left.", "annotations": [], "logprobs": []}],
        }
    ],
    "temperature": 0.7,
    "top_p": 0.95,
    "text": {"format": {"type": "text"}},
    "usage": {
        "input_tokens": 16452,
        "input_tokens_details": {"cached_tokens": 16400, "image_tokens": 16384},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 16456,
    },
}
FILE: dict[str, Any] = {
    "id": "file-1d5a",
    "object": "file",
    "bytes": 6291456,
    "created_at": 1795253400,
    "filename": "plaza.png",
    "purpose": "vision",
    "status": "processed",
    "expires_at": None,
}
FILES: dict[str, Any] = {
    "object": "list",
    "data": [FILE],
    "first_id": "file-1d5a",
    "last_id": "file-1d5a",
    "has_more": False,
}
FILE_DELETION: dict[str, Any] = {"id": "file-1d5a", "object": "file", "deleted": True}
BATCH: dict[str, Any] = {
    "id": "batch_77ce",
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "model": MODEL,
    "input_file_id": "file-9b01",
    "completion_window": "24h",
    "status": "in_progress",
    "created_at": 1795253400,
    "in_progress_at": 1795253402,
    "expires_at": 1795339800,
    "request_counts": {"total": 500, "completed": 120, "failed": 0},
    "metadata": {"run": "one"},
}
BATCHES: dict[str, Any] = {
    "object": "list",
    "data": [BATCH],
    "first_id": "batch_77ce",
    "last_id": "batch_77ce",
    "has_more": False,
}
