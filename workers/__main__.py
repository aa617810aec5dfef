"""`python -m workers --model ID`: one worker, until it is told to end."""

import os
import sys

if __name__ == "__main__":
    from workers.command import main

    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # all is stopped by now, and taking vLLM's modules apart would take seconds
else:  # one of the engine's processes: multiprocessing imports the main module again in what it spawns
    from workers.compat.tie import tie_to_parent

    tie_to_parent()
