"""What ends lines in Unicode and no line of JSON may stand in answers, and changes nothing, wherever they go."""

import json
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

import gigavqa
from gigavqa.benchmarks.mmcr.sidecars import read_labels
from gigavqa.benchmarks.vistahop.sidecars import FAILURES, read_sidecars
from gigavqa.evaluation.response_files import read_replies
from gigavqa.service.settings import GatewaySettings
from gigavqa.workers.engines.simulation.answers import AnswerScript
from gigavqa.workers.engines.simulation.engine import SimulatedEngine
from tests.service.gateways import MODEL, RunningGateway
from tests.service.openai.conftest import wait_for_worker
from tests.service.openai.pictures import asking
from tests.service.openai.test_batches import end_of, lines, read, start_batch
from tests.service.openai.workers import ENTRY, RunningWorker, working
from tests.waiting import wait_until

ENDS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r"
"""Each ends a line for str.splitlines; none but \\r does for bytes, and JSON escapes that."""
SAID = f"The{ENDS}answer " + " ".join(f"is{end}A" for end in ENDS)


@pytest.fixture
def worker(settings: GatewaySettings, gateway: RunningGateway) -> Iterator[RunningWorker]:
    """A worker whose every answer holds them all."""
    with working(settings, lambda: SimulatedEngine(ENTRY, speed=0, script=AnswerScript([[SAID]]))) as worker:
        wait_for_worker(gateway)
        yield worker


@pytest.mark.slow
def test_answers_come_whole_by_every_way_out(
    gateway: RunningGateway, worker: RunningWorker, client: openai.OpenAI, tmp_path: Path
) -> None:
    """Results, by the client and as a file that is scored; verdicts; chats, whole and growing; batches."""
    job_id = gateway.submit().json()["id"]
    wait_until(lambda: gateway.job(job_id)["status"] == "completed", what="the job's end")
    with gigavqa.Client(gateway.url) as own:
        responses = list(own.responses(job_id))
        assert [response.turns[-1].text for response in responses] == [SAID] * 4
        file = tmp_path / "responses.ndjson"
        file.write_bytes("".join(f"{line}\n" for line in own.result_lines(job_id)).encode())
    assert [reply.text for reply in read_replies([file], "S0")] == [SAID] * 4
    verdicts = gateway.client.get(f"/v1/jobs/{job_id}/verdicts?format=jsonl&texts=true").content.split(b"\n")
    assert [json.loads(line)["text"] for line in filter(None, verdicts)] == [SAID] * 4

    ask = client.chat.completions.create
    whole = ask(model=MODEL, messages=asking())  # type: ignore[call-overload]
    growing = ask(model=MODEL, messages=asking(), stream=True)  # type: ignore[call-overload]
    grown = "".join(chunk.choices[0].delta.content or "" for chunk in growing if chunk.choices)
    assert [whole.choices[0].message.content, grown] == [SAID] * 2

    body = {"messages": [{"role": "user", "content": f"Which?{ENDS}"}]}
    ended = end_of(client, start_batch(client, lines(body, body)))
    answers = read(client, ended.output_file_id).values()
    assert [each["response"]["body"]["choices"][0]["message"]["content"] for each in answers] == [SAID] * 2


def test_what_people_wrote_beside_a_data_set_is_read_by_line_feeds() -> None:
    """Names hold what they hold, and lines are counted as editors count them."""
    sample = f"sample{ENDS}1"
    label = {"sample_id": sample, "model": f"m{ENDS}", "category": "perceptual"}
    failure = {"job": f"j{ENDS}", "request": sample, "type": "drift"}
    written = [json.dumps(line, ensure_ascii=False) + "\n" for line in (label, failure)]
    assert set(read_labels(written[0])) == {(sample, f"m{ENDS}")}
    assert set(read_sidecars({FAILURES: written[1]})["failures"]) == {(f"j{ENDS}", sample)}
    with pytest.raises(ValueError, match="line 2: is not JSON"):
        read_labels(written[0] + "no\n")
