"""What an engine's processes do first: end with whoever owns the engine, and keep their signals to themselves."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import wait_until

PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
LISTENING_OWNER = """
import asyncio, multiprocessing, signal, sys, threading, time
from gigavqa.workers.engines.parent_death import become_engine_owner

def work(ready):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    ready.set()
    time.sleep(60)

async def main(method):
    heard, made = [], []
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: heard.append("SIGTERM"))
    become_engine_owner()
    context = multiprocessing.get_context(method)
    ready = context.Event()
    engine = context.Process(target=work, args=(ready,), daemon=True)
    thread = threading.Thread(target=engine.start)  # as a worker loads its engine in one
    thread.start(); thread.join()
    await asyncio.to_thread(ready.wait)
    engine.terminate()
    await asyncio.to_thread(engine.join)
    await asyncio.sleep(0.1)
    print(engine.exitcode, heard)

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
"""
FORKING_OWNER = """
import multiprocessing, time
from gigavqa.workers.engines.parent_death import become_engine_owner, tie_to_owner

def work():
    tie_to_owner()  # a second time
    time.sleep(60)

become_engine_owner()
tie_to_owner()  # as vLLM's plugin does in the owner, too
engine = multiprocessing.get_context("fork").Process(target=work)
engine.start()
print(engine.pid, flush=True)
time.sleep(60)
"""
OTHER_CHILD = """
import subprocess, sys
from gigavqa.workers.engines.parent_death import become_engine_owner
become_engine_owner()
subprocess.run([sys.executable, "-c", "print('ran')"], start_new_session=True, preexec_fn=lambda: None, check=True)
"""


def test_who_leads_a_session_is_tied_like_any_other() -> None:
    """It may not leave its process group, and needs not."""
    code = "from gigavqa.workers.engines.parent_death import tie_to_owner; tie_to_owner(); print('tied')"
    environment = {**os.environ, "GIGAVQA_ENGINE_OWNER": str(os.getpid())}
    argv = [sys.executable, "-c", code]
    ended = subprocess.run(
        argv, env=environment, start_new_session=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.returncode) == ("tied\n", 0), ended.stderr


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_the_owners_loop_does_not_hear_signals_of_the_engine(method: str, tmp_path: Path) -> None:
    """vLLM ends an engine by SIGTERM, which would tell the worker to drain; an operator may want it to fork."""
    script = tmp_path / "owner.py"
    script.write_text(LISTENING_OWNER)
    ended = subprocess.run(
        [sys.executable, str(script), method], env=PATHS, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout == "7 []\n", ended.stderr


def test_an_engine_that_was_forked_ends_with_its_owner_too() -> None:
    """Even when the owner is killed and can tell nobody."""
    with subprocess.Popen([sys.executable, "-c", FORKING_OWNER], env=PATHS, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        engine = psutil.Process(int(owner.stdout.readline()))
        owner.kill()
    wait_until(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE, what="the engine's end")


def test_other_children_of_an_owner_may_lead_a_session_of_their_own() -> None:
    """They are no engine: nothing runs in them between fork and exec."""
    ended = subprocess.run(
        [sys.executable, "-c", OTHER_CHILD], env=PATHS, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.returncode) == ("ran\n", 0), ended.stderr
