"""Clients that nobody here wrote, unchanged: each asks for text, for an object and for calls, where it is installed.

They have an environment of their own, `~/.cache/gigavqa/peers/clients`, made by `python -m venv` and `pip install
pydantic-ai-slim[openai]==2.68.0 langchain-openai==1.7.4 litellm==1.110.2 instructor==1.17.0`, then `openai==3.54.0`.
"""

import os
import subprocess
from pathlib import Path

import pytest

from performance.peers.scenario import cache_folder
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.workers import RunningWorker

CLIENTS = cache_folder() / "clients" / "bin" / "python"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not CLIENTS.is_file(), reason="the clients have no environment"),
]
BEGIN = f"""
from typing import Literal
from pydantic import BaseModel

MODEL, TOOL = "{MODEL}", {{"type": "function", "function": {{"name": "now"}}}}
ASKED = [{{"role": "user", "content": "Which one?"}}]


class Finding(BaseModel):
    letter: Literal["A", "B"]
    sure: bool


FOUND = Finding(letter="A", sure=False)
"""
SCRIPTS = {
    "pydantic_ai": """
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
for model in (OpenAIChatModel(MODEL), OpenAIResponsesModel(MODEL)):
    assert Agent(model).run_sync("Which one?").output.startswith("The answer is")
    assert Agent(model, output_type=Finding).run_sync("Which one?").output == FOUND
    assert Agent(model, output_type=NativeOutput(Finding)).run_sync("Which one?").output == FOUND
""",
    "langchain_openai": """
from langchain_openai import ChatOpenAI
for model in (ChatOpenAI(model=MODEL), ChatOpenAI(model=MODEL, use_responses_api=True)):
    assert model.invoke("Which one?").text.startswith("The answer is")
    assert "".join(part.text for part in model.stream("Which one?")).startswith("The answer is")
    assert model.with_structured_output(Finding).invoke("Which one?") == FOUND
    assert model.with_structured_output(Finding, method="function_calling").invoke("Which one?") == FOUND
    assert model.bind_tools([TOOL], tool_choice="required").invoke("Which one?").tool_calls[0]["name"] == "now"
""",
    "litellm": """
import litellm
answer = litellm.completion(model=f"openai/{MODEL}", messages=ASKED, tools=[TOOL], tool_choice="required")
assert answer.choices[0].message.tool_calls[0].function.name == "now"
assert litellm.responses(model=f"openai/{MODEL}", input="Which one?").output[0].content[0].text
""",
    "instructor": """
import instructor, openai
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    chats = instructor.from_openai(openai.OpenAI(), mode=mode).chat.completions
    found = chats.create(model=MODEL, response_model=Finding, max_retries=0, messages=ASKED)
    assert found.model_dump() == FOUND.model_dump()  # the class is instructor's own
""",
}


@pytest.mark.parametrize("client", SCRIPTS)
def test_a_client_works_unchanged(gateway: RunningGateway, worker: RunningWorker, client: str, tmp_path: Path) -> None:
    """By chats and by responses, as far as it has both."""
    if subprocess.run([CLIENTS, "-c", f"import {client}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{client} is not in the environment of clients")
    known = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{gateway.url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [CLIENTS, "-c", BEGIN + SCRIPTS[client]]
    done = subprocess.run(
        command, cwd=tmp_path, env={**here, **known}, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
