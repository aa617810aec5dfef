"""Prompts as vLLM takes them: a chat written by the model's own template, its rasters under their keys."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.workers.engines.engine import Message, PromptRaster


async def render_prompt(
    llm: Any, entry: CatalogueEntry, chat: Sequence[Message], asked: Mapping[str, JsonValue] | None = None
) -> Any:
    """Write a chat up to where the model is to answer; a raster that vLLM knows by its key is not processed again.

    `asked` goes to the template beside what the entry says. The prompt holds the pixels of rasters that the engine has
    not got yet, and prompts that are rendered after it rely on its being sent: `engines.vllm.delivery` sees to that.
    """
    from vllm.renderers.params import ChatParams

    # Without add_generation_prompt the assistant's header would be missing, silently.
    template = {"add_generation_prompt": True, **entry.chat_template, **(asked or {})}
    picture = _pillow if entry.visual_budget.pillow_only else _tensor
    messages = [_message(message, picture) for message in chat]
    _, (prompt,) = await llm.renderer.render_chat_async([messages], ChatParams(chat_template_kwargs=template))
    if salt := chat[0].salt:
        prompt["cache_salt"] = salt
    return prompt


def visual_tokens(prompt: Any) -> tuple[int, ...]:
    """Tokens of the prompt that stand for each of its pictures, in their order; without those that enclose them."""
    return tuple(place.get_num_embeds() for place in _placeholders(prompt))


def end_of_views(prompt: Any) -> int:
    """Return how many of the prompt's tokens there are up to the last one of its last picture; 0 without one."""
    return max((place.offset + place.length for place in _placeholders(prompt)), default=0)


def _placeholders(prompt: Any) -> Sequence[Any]:
    places: Sequence[Any] = (prompt.get("mm_placeholders") or {}).get("image", ())
    return places


def _message(message: Message, picture: Callable[[PromptRaster], Any]) -> dict[str, Any]:
    if not message.rasters:
        return {"role": message.role, "content": message.text}
    return {"role": message.role, "content": [_content(part, picture) for part in message.parts]}


def _content(part: str | PromptRaster, picture: Callable[[PromptRaster], Any]) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_pil", "image_pil": picture(part), "uuid": part.key}


def _tensor(raster: PromptRaster) -> Any:
    """Return the pixels as a tensor 3 x H x W, which costs the fewest copies."""
    import torch

    return torch.from_numpy(raster.pixels).permute(2, 0, 1)


def _pillow(raster: PromptRaster) -> Any:
    from PIL import Image

    return Image.fromarray(raster.pixels)
