"""What an engine's processes do first: end with whoever owns the engine."""

import os
import subprocess
import sys


def test_who_leads_a_session_is_tied_like_any_other() -> None:
    """It may not leave its process group, and needs not."""
    code = "from workers.engines.tie import tie_to_owner; tie_to_owner(); print('tied')"
    environment = {**os.environ, "GIGAVQA_ENGINE_OWNER": str(os.getpid())}
    argv = [sys.executable, "-c", code]
    ended = subprocess.run(
        argv, env=environment, start_new_session=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.returncode) == ("tied\n", 0), ended.stderr
