"""`python -m gigavqa.workers --model ID`: one worker, until it is told to end."""

import os
import sys

if __name__ == "__main__":
    from gigavqa.workers.command import main

    # Without a spec, multiprocessing runs this file again in what it spawns; a package's __main__ it would leave out.
    sys.modules["__main__"].__spec__ = None
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # all is stopped by now, and taking vLLM's modules apart would take seconds
else:  # first thing in each of the engine's processes
    from gigavqa.workers.engines.parent_death import tie_to_owner

    tie_to_owner()
