"""lmms-eval and inspect_ai, unchanged, over ten questions; each in an environment of its own, where there is one.

`~/.cache/gigavqa/peers/lmms-eval` is made by `python -m performance.peers --install-peers`, and
`~/.cache/gigavqa/peers/inspect` by `python -m venv` and `pip install inspect_ai==0.3.285 openai==3.54.0` in it.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from performance.peers.scenario import cache_folder
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.pictures import png
from tests.service.openai.workers import RunningWorker

LMMS, INSPECT = (cache_folder() / name / "bin" / "python" for name in ("lmms-eval", "inspect"))
QUESTIONS = 10
ROOT = Path(__file__).parents[3]
LMMS_EVAL = (  # it imports torchvision, which needs its companion where an index serves no build for the CPU
    f"import sys; sys.path.append({str(ROOT)!r}); "
    "from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions as repair; repair(); "
    "import runpy; runpy.run_module('lmms_eval', run_name='__main__', alter_sys=True)"
)
pytestmark = pytest.mark.timeout(300)


def write_questions(folder: Path) -> Path:
    """Ten questions about two pictures."""
    for number in range(2):
        (folder / f"{number}.png").write_bytes(png(number, (128, 96)))
    path = folder / "questions.jsonl"
    with path.open("w") as file:
        for number in range(QUESTIONS):
            question = f"Number {number}: which?\nA. one\nB. two"
            told = {"id": number, "picture": str(folder / f"{number % 2}.png"), "question": question, "answer": "A"}
            file.write(json.dumps(told) + "\n")
    return path


def run(command: list[str], folder: Path, **environ: str) -> None:
    """Run a tool to its end; what it says is shown when it fails."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "HOME": str(folder)}
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**here, **offline, **environ},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.skipif(not LMMS.is_file(), reason="lmms-eval has no environment")
def test_lmms_eval_asks_ten_questions(gateway: RunningGateway, worker: RunningWorker, tmp_path: Path) -> None:
    """Its OpenAI-style model gets an answer to each, and encodes each picture once for the engine."""
    questions = write_questions(tmp_path)
    (tmp_path / "local_vqa.yaml").write_text(
        f"""task: local_vqa
dataset_path: json
dataset_kwargs: {{data_files: {{test: {questions}}}}}
test_split: test
output_type: generate_until
doc_to_messages: !function utils.messages
doc_to_visual: !function utils.visual
doc_to_text: !function utils.text
process_results: !function utils.score
doc_to_target: answer
generation_kwargs: {{max_new_tokens: 16, temperature: 0}}
metric_list: [{{metric: acc, aggregation: mean, higher_is_better: true}}]
"""
    )
    (tmp_path / "utils.py").write_text(
        """from PIL import Image


def messages(doc, lmms_eval_specific_kwargs=None):
    shown = {"type": "image", "url": doc["picture"]}
    return [{"role": "user", "content": [shown, {"type": "text", "text": doc["question"]}]}]


def visual(doc):
    return [Image.open(doc["picture"]).convert("RGB")]


def text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"]


def score(doc, results):
    return {"acc": float("The answer is A" in results[0])}
"""
    )
    arguments = f"model={MODEL},base_url={gateway.url}/v1,num_concurrent=4"
    command = [str(LMMS), "-c", LMMS_EVAL, "--model", "openai", "--model_args", arguments, "--tasks", "local_vqa"]
    command += ["--include_path", str(tmp_path), "--batch_size", "1", "--output_path", "out", "--log_samples"]
    run(command, tmp_path, OPENAI_API_KEY="none")
    (log,) = (tmp_path / "out").rglob("*samples*.jsonl")
    answers = [json.loads(line)["filtered_resps"] for line in log.read_text().splitlines()]
    assert len(answers) == QUESTIONS
    assert all("The answer is" in str(answer) for answer in answers)
    assert worker.encoder_runs == 2


TASK = """
import json
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import includes


@task
def local_vqa():
    samples = []
    for line in open("questions.jsonl"):
        told = json.loads(line)
        content = [ContentImage(image=told["picture"]), ContentText(text=told["question"])]
        samples.append(Sample(input=[ChatMessageUser(content=content)], target=told["answer"]))
    return Task(dataset=MemoryDataset(samples), scorer=includes())
"""


@pytest.mark.skipif(not INSPECT.is_file(), reason="inspect_ai has no environment")
@pytest.mark.parametrize("batch", [False, True])
def test_inspect_ai_asks_ten_questions(
    gateway: RunningGateway, worker: RunningWorker, tmp_path: Path, batch: bool
) -> None:
    """Its providers get an answer to each: chat by chat, and all in one batch."""
    write_questions(tmp_path)
    (tmp_path / "task.py").write_text(TASK)
    model = f"openai/{MODEL}" if batch else f"openai-api/gigavqa/{MODEL}"
    keys = {f"{name}_{part}": value for name in ("OPENAI", "GIGAVQA") for part, value in key_of(gateway).items()}
    command = [str(INSPECT), "-m", "inspect_ai", "eval", "task.py", "--model", model, "--display", "plain"]
    command += ["--log-format", "json", "--log-dir", "logs", "--temperature", "0", "--max-tokens", "16"]
    command += ["-M", "responses_api=false", "--batch", str(QUESTIONS)] if batch else []
    run(command, tmp_path, **keys)
    (log,) = (tmp_path / "logs").glob("*.json")
    told: dict[str, Any] = json.loads(log.read_text())
    assert told["status"] == "success"
    answers = [sample["output"]["choices"][0]["message"]["content"] for sample in told["samples"]]
    assert len(answers) == QUESTIONS
    assert all("The answer is" in str(answer) for answer in answers)
    assert worker.encoder_runs == 2


def key_of(gateway: RunningGateway) -> dict[str, str]:
    """What the tools want to be told of the server."""
    return {"BASE_URL": f"{gateway.url}/v1", "API_KEY": "none"}
