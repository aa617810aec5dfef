"""Ask about a region of a large image, which is never sent: python examples/openai_chat.py IMAGE MODEL."""

import os
import sys

from openai import OpenAI


def main(image: str, model: str) -> None:
    url = os.environ.get("GIGAVQA_URL", "http://127.0.0.1:8470")
    client = OpenAI(base_url=f"{url}/v1", api_key=os.environ.get("GIGAVQA_API_KEY", "none"))
    region = {"type": "image_url", "image_url": {"url": f"gigavqa:{image}?region=pct:10,10,50,50"}}
    question = {"type": "text", "text": "What is shown here?"}
    reply = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": [region, question]}], max_tokens=32
    )
    print(reply.choices[0].message.content)


if __name__ == "__main__":
    main(*sys.argv[1:3])
