"""Writes gigavqa/client/client.py, the client of programs that wait, from asynchronous.py; --check only compares.

What awaits is renamed. Comments that begin with `# sync:` hold what stands there instead of the statement before them,
with its body: docstrings, signatures, and what is not the same without an event loop.
"""

import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TARGET = "gigavqa/client/asynchronous.py", "gigavqa/client/client.py"
COMMAND = ".venv/bin/python scripts/sync_client.py"
HEADER = f"# Made of {SOURCE}: change that file, and run {COMMAND}\n"
NAMES = {
    "async ": "", "await ": "", "asyncio": "time", "asynccontextmanager": "contextmanager",
    "AsyncClient": "Client", "AsyncIterator": "Iterator", "__aenter__": "__enter__", "__aexit__": "__exit__",
    "aclose": "close", "aread": "read", "aiter_bytes": "iter_bytes", "aiter_sse": "iter_sse",
}  # fmt: skip
_NAME, _SYNC = re.compile(r"\basync |\bawait |\w+"), re.compile(r" *# sync: ?(.*)")


def make_sync_client() -> str:
    """Return the synchronous module, as ruff formats it."""
    made: list[tuple[int, str]] = []
    in_place_of: int | None = None
    for column, text in _statements():
        if not (told := _SYNC.match(text)):
            in_place_of = None
            made.append((column, _NAME.sub(lambda found: NAMES.get(found[0], found[0]), text)))
            continue
        while in_place_of is None or in_place_of > column:
            in_place_of, _ = made.pop()
        made.append((in_place_of, " " * in_place_of + told[1]))
    text = HEADER + "\n".join(text for _, text in made)
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", TARGET, "-"]
    return subprocess.run(ruff, cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def _statements() -> Iterator[tuple[int, str]]:
    """Yield the columns and texts of statements, of compound ones' heads, of comments and of empty lines."""
    lines, begins = (ROOT / SOURCE).read_text(encoding="utf-8").splitlines(), 0
    for token in tokenize.generate_tokens((f"{line}\n" for line in lines).__next__):
        row = token.start[0]
        is_apart = token.type == tokenize.NL and lines[begins].strip()[:1] in ("", "#")
        if is_apart or token.type == tokenize.NEWLINE:
            text = "\n".join(lines[begins:row])
            yield len(text) - len(text.lstrip()) if text else sys.maxsize, text
            begins = row


if __name__ == "__main__":
    made = make_sync_client()
    if sys.argv[1:] == ["--check"]:
        stale = made != (ROOT / TARGET).read_text(encoding="utf-8")
        sys.exit(f"{TARGET} is not what {SOURCE} makes: run {COMMAND}" if stale else 0)
    (ROOT / TARGET).write_text(made, encoding="utf-8")
