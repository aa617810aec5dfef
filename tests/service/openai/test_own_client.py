"""The house's own client plays chats and batches, and keeps files."""

import json
from pathlib import Path

import pytest

from gigavqa import Client, NotFoundError
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import png
from tests.service.openai.workers import RunningWorker
from tests.waiting import wait_until


def test_a_batch_is_sent_found_by_its_metadata_and_read(
    gateway: RunningGateway, worker: RunningWorker, tmp_path: Path
) -> None:
    """About a picture that was uploaded before; a chat of the same body is answered alike, and files can be deleted."""
    path = tmp_path / "a.png"
    path.write_bytes(png(1))
    with Client(gateway.url) as client:
        picture = client.upload(path, purpose="vision")
        shown = {"type": "image_url", "image_url": {"url": f"gigavqa:{picture['id']}?region=pct:0,0,50,50"}}
        content = [shown, {"type": "text", "text": "Which one?\nA. One\nB. Two"}]
        body = {"model": MODEL, "messages": [{"role": "user", "content": content}], "seed": 1}
        line = {"custom_id": "q", "method": "POST", "url": "/v1/chat/completions", "body": body}
        file = client.upload(json.dumps(line).encode(), purpose="batch", filename="q.jsonl", keep_seconds=3600)
        assert client.file(file["id"])["expires_at"] > file["created_at"]
        started = client.start_batch(file["id"], {"run": "one"})
        wait_until(lambda: client.batch(started["id"])["status"] == "completed", what="the batch's end")
        (found,) = client.batches()
        assert (found["id"], found["metadata"]) == (started["id"], {"run": "one"})
        (answer,) = map(json.loads, client.file_lines(found["output_file_id"]))
        said = client.chat(body)["choices"][0]["message"]["content"]
        assert answer["response"]["body"]["choices"][0]["message"]["content"] == said != ""
        client.delete_file(picture["id"])
        with pytest.raises(NotFoundError):
            client.file(picture["id"])
