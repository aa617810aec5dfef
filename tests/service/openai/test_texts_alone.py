"""Models that take texts alone, such as summarizers: asked about texts, and refused every picture by name."""

from typing import Any

import openai
import pytest

from tests.service.datasets import NAME
from tests.service.gateways import RunningGateway
from tests.service.openai.pictures import asking, data_url, png

SUMMARIZER = "Qwen3-32B"
"""The name by which the authors' program asks it."""


def test_a_text_is_for_whoever_serves_it(client: openai.OpenAI, gateway: RunningGateway) -> None:
    """Nothing is wrong with the chat but that no worker is there; the list says that no picture fits."""
    with pytest.raises(openai.InternalServerError, match="no worker serves 'qwen3-32b' now"):
        client.chat.completions.create(model=SUMMARIZER, messages=asking(text="Sum it up."))
    assert gateway.client.get("/v1/models/qwen3-32b").json()["max_visual_tokens"] == 0


def test_a_picture_is_refused_where_it_stands(client: openai.OpenAI) -> None:
    """In one sentence, before anybody is asked."""
    shown: Any = asking(data_url(png(1)))
    with pytest.raises(openai.BadRequestError, match="takes texts alone") as raised:
        client.chat.completions.create(model=SUMMARIZER, messages=shown)
    assert raised.value.param == "messages[0].content[0].image_url"


def test_a_job_with_pictures_is_refused_and_one_without_is_not(gateway: RunningGateway) -> None:
    """The cause stands once, with the number of requests that have it."""
    shown = gateway.submit(dataset=NAME, models=[SUMMARIZER])
    (finding,) = shown.json()["errors"]
    assert shown.status_code == 422
    assert finding["detail"].startswith("qwen3-32b takes texts alone, and V2 shows pictures; ask it under V0")
    assert finding["requests"] > 1
    without = gateway.submit(dataset=NAME, models=[SUMMARIZER], cells=[{"protocol": "S0", "condition": "V0"}])
    assert without.status_code == 201, without.text
