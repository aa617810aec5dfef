"""A client that behaves as the authors' program does, written from what is known of it: it asks chat completions alone.

Tools are text: results are messages of the user, every round sends all pictures again as PNG, each already of the size
that it will keep, and the client itself crops, searches and counts. What that program does not survive ends a sample.
"""

import asyncio
import io
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from tests.service.openai.pictures import data_url

AT_ONCE = 64
SECONDS = 300
_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_FACTOR, _LEAST, _LARGEST, _LEAST_SIDE, _LONGEST = 32, 65_536, 8_294_400, 28, 200
_DECODING = {
    "max_tokens": 4096,
    "temperature": 0.7,
    "top_p": 0.8,
    "top_k": 20,
    "presence_penalty": 1.5,
    "repetition_penalty": 1.0,
}

Search = Callable[[str], Awaitable[str]]
"""The summary of what was found for a query; empty where nothing was."""
Part = dict[str, Any]


class SampleError(Exception):
    """The program loses the sample, which then counts as wrong."""


@dataclass
class Played:
    """What became of a sample: what the model wrote, what it was shown, and how it ended."""

    texts: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    finish_reason: str = "max_turns"
    counted: int = 0


def fitted(size: tuple[int, int]) -> tuple[int, int]:
    """The size at which a picture is sent."""
    if max(size) / min(size) > _LONGEST:
        raise SampleError(f"{size} is too long")
    width, height = (max(_FACTOR, round(side / _FACTOR) * _FACTOR) for side in size)
    if width * height > _LARGEST:
        scale = math.sqrt(size[0] * size[1] / _LARGEST)
        width, height = (max(_FACTOR, int(side / scale) // _FACTOR * _FACTOR) for side in size)
    elif width * height < _LEAST:
        scale = math.sqrt(_LEAST / (size[0] * size[1]))
        width, height = (math.ceil(int(side * scale) / _FACTOR) * _FACTOR for side in size)
    return width, height


def shown(picture: Image.Image) -> Part:
    """A picture as the program sends it."""
    file = io.BytesIO()
    picture.convert("RGB").resize(fitted(picture.size), Image.Resampling.BICUBIC).save(file, "png")
    return {
        "type": "image_url",
        "image_url": {"url": data_url(file.getvalue())},
    }


def cropped(picture: Image.Image, box: Sequence[Any]) -> Image.Image:
    """A box of thousandths of the picture's sides; sides below 28 pixels become 28."""
    if not all(isinstance(side, int | float) and math.isfinite(side) for side in box):
        raise SampleError(f"{box} is no box")
    left, top, right, bottom = max(0, box[0]), max(0, box[1]), min(1000, box[2]), min(1000, box[3])
    (width, height) = picture.size
    edges = int(left / 1000 * width), int(top / 1000 * height), int(right / 1000 * width), int(bottom / 1000 * height)
    if not (edges[0] < edges[2] and edges[1] < edges[3]):
        raise SampleError(f"{box} shows nothing")
    crop = picture.crop(edges)
    return crop.resize((max(_LEAST_SIDE, crop.width), max(_LEAST_SIDE, crop.height)), Image.Resampling.BICUBIC)


class AuthorsRunner:
    """Plays samples of records, in at most `rounds` rounds, with tools or without."""

    def __init__(
        self, client: httpx.AsyncClient, model: str, root: Path, search: Search, *, rounds: int, most_tokens: int = 4096
    ) -> None:
        self._client = client
        self._model = model
        self._root = root
        self._search = search
        self._rounds = rounds
        self._decoding = {**_DECODING, "max_tokens": most_tokens}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def ready(self) -> bool:
        """Whether the service answers at all, which is asked before anything."""
        return (await self._client.get("/v1/models", timeout=10)).status_code == httpx.codes.OK

    async def play(self, record: Mapping[str, Any], system: str, seed: int) -> Played:
        """Play one sample."""
        question = record["prompt"][0]["content"].replace("<image>", "")
        picture = Image.open(self._root / record["image"][0])
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": [shown(picture), {"type": "text", "text": question}]},
        ]
        played = Played()
        async with self._places:
            try:
                await self._rounds_of(messages, picture, record, seed, played)
            except SampleError:
                played.finish_reason = "error"
        return played

    async def _rounds_of(
        self, messages: list[dict[str, Any]], picture: Image.Image, record: Mapping[str, Any], seed: int, played: Played
    ) -> None:
        for _ in range(self._rounds):
            text = await self.ask(messages, seed)
            played.texts.append(text)
            messages.append({"role": "assistant", "content": text})
            call = _call_of(text)
            if call is None:
                played.finish_reason = "no_tool_calls"
                return
            parts, valid = await self._answer(call, picture, record)
            played.counted += valid
            played.results.append("".join(part.get("text", "[IMAGE]") for part in parts))
            messages.append({"role": "user", "content": parts})

    async def ask(self, messages: Sequence[Mapping[str, Any]], seed: int) -> str:
        """What the model writes to a chat."""
        body = {
            "model": self._model,
            "messages": messages,
            **self._decoding,
            "seed": seed,
            "chat_template_kwargs": {"enable_thinking": False},
        }
        answer = await self._client.post("/v1/chat/completions", json=body, timeout=SECONDS)
        told = answer.json()
        if answer.status_code != httpx.codes.OK:
            raise AssertionError(told["error"]["message"])
        content = told["choices"][0]["message"]["content"]
        assert isinstance(content, str)
        assert told["choices"][0]["finish_reason"] in ("stop", "length")
        return content

    async def _answer(
        self, call: Mapping[str, Any], picture: Image.Image, record: Mapping[str, Any]
    ) -> tuple[list[Part], bool]:
        name, arguments = call.get("name"), call.get("arguments", {})
        if name == "image_search_tool":
            return self._hits(record), True
        if name not in ("image_zoom_in_tool", "text_search_tool"):
            return _told(f"Error: Unknown tool '{name}'."), False
        if not isinstance(arguments, dict):
            raise SampleError("no arguments")
        if name == "text_search_tool":
            return await self._found(arguments.get("query"))
        box = arguments.get("bbox_2d", arguments.get("bbox"))
        if not box or len(box) != 4:
            return _told("Error: Invalid bbox format."), False
        crop = shown(cropped(picture, box))
        return [_text("<tool_response>\nHere is the zoomed image:"), crop, _text("\n</tool_response>")], True

    async def _found(self, query: Any) -> tuple[list[Part], bool]:
        if not query:
            return _told("Error: Search not available."), False
        summary = await self._search(query)
        nothing = f"No search results found for query: {query}"
        return _told(f"Final summary generated for query: {query}\n{summary}" if summary else nothing), True

    def _hits(self, record: Mapping[str, Any]) -> list[Part]:
        titles, thumbnails = record.get("image_search_title_list"), record.get("image_search_thumbnail_list")
        if not titles or not thumbnails:
            return _told("No matching images were found.")
        parts = [_text("<tool_response>\nReverse Image Search Results:")]
        for number, (title, name) in enumerate(zip(titles[:5], thumbnails[:5], strict=False), start=1):
            parts += [_text(f"\n\nTitle {number}: {title}\nThumbnail {number}: "), shown(Image.open(self._root / name))]
        return [*parts, _text("\n</tool_response>")]


def system_of(task: str, declarations: Sequence[Mapping[str, Any]]) -> str:
    """The task prompt, and what the model is told of tools."""
    return f"""{task}

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{chr(10).join(json.dumps(one, ensure_ascii=False) for one in declarations)}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""


def line_of(number: int, dataset: str, system: str, record: Mapping[str, Any], played: Played) -> dict[str, Any]:
    """What the program writes of a sample into `results.jsonl`."""
    said = [text for pair in zip(played.texts, [*played.results, ""], strict=False) for text in pair]
    said = said[: len(played.texts) + len(played.results)]
    marked = (f"<|im_start|>{('assistant', 'user')[at % 2]}\n{text}<|im_end|>\n" for at, text in enumerate(said))
    asked = [{"role": "system", "content": system}, {"role": "user", "content": record["prompt"][0]["content"]}]
    return {
        "sample_id": f"{dataset}-{number}",
        "dataset": dataset,
        "input": asked,
        "output": "".join(marked).removeprefix("<|im_start|>assistant\n"),
        "gts": record["reward_model"]["ground_truth"],
        "finish_reason": played.finish_reason,
        "num_round": len(played.texts),
    }


def _call_of(text: str) -> Mapping[str, Any] | None:
    found = _CALL.search(text)
    try:
        call = json.loads(found[1]) if found else None
    except ValueError:
        return None
    if not call:
        return None
    if not isinstance(call, dict):
        raise SampleError("no object")
    return call


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _told(text: str) -> list[Part]:
    return [_text(f"<tool_response>\n{text}\n</tool_response>")]
