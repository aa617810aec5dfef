"""Runs a backup or a restore again and again, in a process that dies one step later each time, until one is through.

`python -m tests.backup.dying backup URL HOME FOLDER` or `restore FOLDER HOME [URL]`. A step is whatever makes
something last: a file synced, a name given, a script run. After each death it says `died`, and waits for a line.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from redis import Redis

from gigavqa.backup.archives import Archive
from gigavqa.backup.backups import back_up
from gigavqa.backup.restoring import restore
from gigavqa.runtime.home import Home

DIED = 9


def die_before(step: int) -> None:
    """Let this process end before it takes so many steps."""
    left = [step]

    def stepping(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                os._exit(DIED)  # no handler runs
            return act(*arguments, **named)

        return acting

    os.fsync, os.replace = stepping(os.fsync), stepping(os.replace)
    Redis.eval = stepping(Redis.eval)  # type: ignore[method-assign]


def run(act: Callable[[], object]) -> None:
    """Die at every step once."""
    step = 0
    while True:
        child = os.fork()
        if child == 0:
            die_before(step)
            act()
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended != DIED:
            sys.exit(ended)
        print("died", flush=True)
        sys.stdin.readline()
        step += 1


def main(role: str, *given: str) -> None:
    """Play one role."""
    if role == "backup":
        url, home, folder = given
        run(partial(back_up, url, Home(folder=Path(home)), Path(folder)))
    folder, home, *url_of_own = given
    target = Home(folder=Path(home), redis_url=url_of_own[0] if url_of_own else None)
    run(lambda: restore(Archive(Path(folder)), target, overwrite=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
