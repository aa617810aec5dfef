"""Traffic shape: chat clients of OpenAI's API, half of whom read the answer as it grows."""

import random
import time

from locust import HttpUser, between, task

from loadtests.shape import MODEL, authenticate, record_duration, time_whole_stream
from loadtests.thresholds import Threshold, require

require(
    Threshold("a chat", 3000), Threshold("a chat, streamed", 3000), Threshold("first piece of a streamed chat", 2000)
)


class ChatUser(HttpUser):
    """Asks short questions, one after the other."""

    wait_time = between(0.1, 0.5)

    def on_start(self) -> None:
        authenticate(self)
        self._random = random.Random(7)

    @task
    def ask(self) -> None:
        """One question, answered at once."""
        with self.client.post("/v1/chat/completions", json=self._body(), name="a chat", catch_response=True) as answer:
            if answer.ok and not answer.json()["choices"][0]["message"]["content"]:
                answer.failure("it says nothing")

    @task
    def hear(self) -> None:
        """One question, answered piece by piece; the last piece must come."""
        body, began, lines = {**self._body(), "stream": True}, time.perf_counter(), []
        with self.client.post(
            "/v1/chat/completions", json=body, name="a chat, streamed", stream=True, catch_response=True
        ) as answer:
            with time_whole_stream(answer):
                for line in answer.iter_lines(chunk_size=None):
                    if not lines:
                        record_duration(self, "first piece of a streamed chat", time.perf_counter() - began)
                    lines.append(line)
            if b"data: [DONE]" not in lines:
                answer.failure(f"it ended with {lines[-1:]}")

    def _body(self) -> dict[str, object]:
        question = f"Which is larger, {self._random.random()} or {self._random.random()}?"
        return {"model": MODEL, "max_tokens": 16, "messages": [{"role": "user", "content": question}]}
