"""`python -m workers --model ID`: one worker, until it is told to end."""

import sys

if __name__ == "__main__":
    from workers.command import main

    sys.exit(main())
else:  # one of the engine's processes: multiprocessing imports the main module again in what it spawns
    from workers.compat.tie import tie_to_parent

    tie_to_parent()
