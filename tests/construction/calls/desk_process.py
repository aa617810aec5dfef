"""A run of a build that asks calls, as a process that can be killed: `FOLDER URL NUMBER`."""

import sys
from pathlib import Path

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.calls.call_desk import CallDesk
from tests.construction.calls.asking import call
from tests.workers.examples import ENTRY

if __name__ == "__main__":
    folder = BuildFolder(Path(sys.argv[1]), "chains")
    with folder.locked(), CallDesk(folder, lambda _: ENTRY, url=sys.argv[2]) as desk:
        for _ in desk.ask(call(number) for number in range(int(sys.argv[3]))):
            pass
