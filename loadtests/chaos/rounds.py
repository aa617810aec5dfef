"""Two workers play chats of ten rounds, with searches and zooms, and one of them is killed every few seconds.

The engine is the simulated one, and what it writes is scripted; the source of the searches is a server of this process,
which counts what it is asked and never says the same twice.
"""

import json
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from gigavqa.store.searches import search_key
from loadtests.chaos.kills import JobProgress
from loadtests.chaos.outcome import ChaosOutcome, inspect_job
from loadtests.installation import Installation, running_installation
from performance.installation import MODEL

_DATASET = "deep"
_IMAGES = 100
_ROUNDS = 10
_SCRIPTS = 40
_ANSWER_SECONDS = 0.05
_WORKER = ("--lease", "3", "--max-requests", "16", "--speed", "10")
_SOURCE, _VERSION, _SUMMARIZER, _TOP_K = "town", "1", "extractive/1", 3
_READY = ": ready for"
_AGAIN = re.compile(r"search (\w+) of \S+ is made again: who made it is gone")


class SearchServer(ThreadingHTTPServer):
    """A source of searches on loopback."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _SearchHandler)
        self.asked = Counter[str]()
        self._lock = threading.Lock()

    def count(self, query: str) -> int:
        """Count a question, and return how many there were."""
        with self._lock:
            self.asked[query] += 1
            return self.asked.total()


class _SearchHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["query"]
        assert isinstance(self.server, SearchServer)
        number = self.server.count(query)
        time.sleep(_ANSWER_SECONDS)
        page = {"title": query, "url": "https://pages.invalid/", "snippet": f"This is answer {number}."}
        body = json.dumps({"status": 0, "data": {"results": [page]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _search_server() -> Iterator[SearchServer]:
    town = SearchServer()
    thread = threading.Thread(target=town.serve_forever, daemon=True)
    thread.start()
    try:
        yield town
    finally:
        town.shutdown()
        thread.join()
        town.server_close()


def rounds(chats: int, kill_seconds: float, most_kills: float = inf) -> ChaosOutcome:
    """Play so many chats of ten rounds, and kill one of two workers every so many seconds, in turn.

    One that takes longer to start holds up the next kill, so that one of them always plays. A chat whose worker dies
    four times in a row while it plays alone is given up, so kills that follow each other faster than a chat takes are
    to be fewer.
    """
    outcome = ChaosOutcome("chats of ten rounds", chats)
    with TemporaryDirectory(prefix="gigavqa-rounds-") as folder, _search_server() as town:
        sources, script = Path(folder) / "sources.toml", Path(folder) / "script.json"
        address = f"http://127.0.0.1:{town.server_address[1]}/search"
        named = f'[{_SOURCE}]\nversion = "{_VERSION}"\nsummarizer = "{_SUMMARIZER}"\n'
        sources.write_text(f'{named}shape = "adapter"\naddress = "{address}"\nprivate = true\n')
        script.write_text(json.dumps([_answers(number) for number in range(_SCRIPTS)]))
        with running_installation(2, *_WORKER, "--script", str(script), "--search", str(sources)) as installation:
            _write_dataset(installation.home / "data" / _DATASET, chats)
            began = time.monotonic()
            job_id = installation.submit_spec(_spec())
            _kill_until_done(installation, JobProgress(installation, job_id), outcome, kill_seconds, most_kills)
            outcome.seconds = time.monotonic() - began
            found = inspect_job(installation, job_id, outcome)
            again = Counter(key for worker in installation.workers for key in _AGAIN.findall(worker.log))
            _inspect_rounds(found, town.asked, again, outcome)
    return outcome


def _kill_until_done(
    installation: Installation, progress: JobProgress, outcome: ChaosOutcome, seconds: float, most: float
) -> None:
    """Kill the workers in turn, each at its time, or as soon as the other one is there again."""
    due, lives = time.monotonic() + seconds, [1, 1]
    while progress.look() < outcome.requests:
        time.sleep(0.05)
        kills = outcome.hurt["SIGKILL worker"]
        at = kills % 2
        if kills >= most or time.monotonic() < due or installation.workers[1 - at].log.count(_READY) < lives[1 - at]:
            continue
        installation.workers[at].kill()
        installation.workers[at].start()
        lives[at] += 1
        outcome.hurt["SIGKILL worker"] += 1
        due = time.monotonic() + seconds
    if not outcome.hurt["SIGKILL worker"]:
        outcome.missed.append("no worker was killed")


def _inspect_rounds(
    found: Iterable[Mapping[str, Any]], asked: Counter[str], again: Counter[str], outcome: ChaosOutcome
) -> None:
    """Count rounds and searches, and what of them is wrong; `again` are those by name that a kill interrupted."""
    searches, shown, rounds_played = 0, defaultdict[str, set[str]](set), 0
    for response in found:
        turns = response["turns"]
        rounds_played += len(turns)
        stop = response.get("stop")
        if len(turns) != _ROUNDS or stop != "answered":
            outcome.missed.append(f"{response['request_id']} has {len(turns)} rounds and ended by {stop}")
        for call in (turn["call"] for turn in turns if turn.get("call")):
            if call["name"] == "text_search_tool":
                searches += 1
                shown[json.loads(call["arguments"])["query"]].add(call["result"])
    outcome.notes.append(
        f"{rounds_played:,} rounds; {searches:,} searches for {len(shown):,} things, asked {asked.total():,} times; "
        f"{again.total():,} were begun again in place of a worker that was killed"
    )
    for query, times in asked.items():
        outcome.twice += max(0, times - 1 - again[search_key(_SOURCE, _VERSION, _SUMMARIZER, query, _TOP_K)])
    outcome.lost += len(shown.keys() - asked.keys())
    if differing := sum(len(results) > 1 for results in shown.values()):
        outcome.missed.append(f"{differing} searches were shown with more than one result")


def _answers(number: int) -> list[str]:
    """Return what is written in a chat: searches and zooms in turn, some searches of its own, and an answer."""
    said = []
    for at in range(_ROUNDS - 1):
        query = f"{{chat}} {at}" if at % 8 == 0 else f"script {number}, round {at}"
        box = [at * 10, number * 10, at * 10 + 500, number * 10 + 500]
        call = (
            {"name": "image_zoom_in_tool", "arguments": {"bbox_2d": box, "label": "", "img_idx": 0}}
            if at % 2
            else {"name": "text_search_tool", "arguments": {"query": query}}
        )
        said.append(f"<thinking>Step {at}.</thinking>\n<tool_call>\n{json.dumps(call)}\n</tool_call>")
    return [*said, "<thinking>So it is.</thinking>\n<answer>1911</answer>"]


def _spec() -> dict[str, Any]:
    cell = {"protocol": "search_crop", "condition": "V2", "rounds": _ROUNDS}
    return {
        "dataset": _DATASET,
        "models": [MODEL],
        "cells": [cell],
        "options": {"source": _SOURCE, "top_k": _TOP_K},
        "sampling": {"max_tokens": 256},
        "seed": 7,
    }


def _write_dataset(folder: Path, questions: int) -> None:
    (folder / "samples").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "vistahop"\n')
    for number in range(_IMAGES):
        Image.new("RGB", (640, 480), (number, 90, 90)).save(folder / f"images/{number}.png")
    with (folder / "samples/all.jsonl").open("w") as lines:
        for number in range(questions):
            record = {
                "id": f"q-{number:05d}",
                "images": [f"images/{number % _IMAGES}.png"],
                "question": f"In which year was firm {number} founded, whose mark is on the crane?",
                "answers": ["1911"],
                "hops": 5 + number % 10,
            }
            lines.write(json.dumps(record) + "\n")
