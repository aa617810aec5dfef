"""Traffic shape: chat clients of OpenAI's API, half of whom read the answer as it grows."""

import random

from locust import HttpUser, between, task

from loadtests.shape import MODEL, Threshold, require

require(Threshold("a chat", 3000), Threshold("a chat, streamed", 3000))


class Chatter(HttpUser):
    """Asks short questions, one after the other."""

    wait_time = between(0.1, 0.5)

    def on_start(self) -> None:
        self._random = random.Random(7)

    @task
    def ask(self) -> None:
        """One question, answered at once."""
        self.client.post("/v1/chat/completions", json=self._body(), name="a chat")

    @task
    def hear(self) -> None:
        """One question, answered piece by piece; the last piece must come."""
        body = {**self._body(), "stream": True}
        with self.client.post(
            "/v1/chat/completions", json=body, name="a chat, streamed", stream=True, catch_response=True
        ) as answer:
            lines = list(answer.iter_lines())
            if b"data: [DONE]" not in lines:
                answer.failure(f"it ended with {lines[-1:]}")

    def _body(self) -> dict[str, object]:
        question = f"Which is larger, {self._random.random()} or {self._random.random()}?"
        return {"model": MODEL, "max_tokens": 16, "messages": [{"role": "user", "content": question}]}
