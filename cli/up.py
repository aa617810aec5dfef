"""`gigavqa up`: the whole service on this machine, until Ctrl-C."""

import json as json_text
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.arguments import Json
from cli.console import err

if TYPE_CHECKING:
    from cli.stack import Stack, StackOptions


def up(
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="One worker for each, unless --workers is given: a catalogue id, a local checkpoint folder, or a "
            "Hugging Face id of a supported family (repeatable; twice the same makes two workers).",
        ),
    ],
    host: Annotated[str, typer.Option(help="Address that the gateway listens on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Its port; 0 takes any free one.")] = 8470,
    engine: Annotated[
        str | None,
        typer.Option(metavar="vllm|simulated", help="`simulated` answers nothing real: for tests of scale only."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="So many workers instead of one per model, each serving all models in turn, one in memory at a time. "
            "Use it where the models do not fit side by side: 1 on a machine with one GPU. One worker per model, the "
            "default, is faster where they do fit: nothing is ever loaded twice.",
        ),
    ] = None,
    turn: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="With --workers: the longest turn of a model while another waits (600)."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Start the embedded server, the gateway and the workers; restart what dies; end all on Ctrl-C.

    Everything is kept in GIGAVQA_HOME (default ~/.gigavqa): data sets, state, results, logs. With REDIS_URL set, that
    server is used instead of the embedded one. With --json, one line of JSON is printed when every worker is ready.

    \b
    gigavqa up --model demo-qwen3-vl
    gigavqa up --model qwen3-vl-8b --model qwen2.5-vl-7b --host 0.0.0.0
    gigavqa up --model qwen3-vl-8b --model glm-4.5v --workers 1
    gigavqa up --model Qwen/Qwen3-VL-4B-Instruct
    gigavqa up --model ~/checkpoints/my-qwen3-vl --port 0 --json
    """
    import asyncio

    from cli.ports import free_port
    from cli.served import served_entries
    from cli.stack import StackOptions
    from jobs.home import Home

    home = Home.from_environment()
    entries = served_entries(home, model, _announce)
    options = StackOptions(home, entries, host, port or free_port(host), engine, workers, turn)
    asyncio.run(_serve(options, json))


async def _serve(options: "StackOptions", json: bool) -> None:
    import asyncio
    import signal

    from cli.stack import running_stack

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running_stack(options, _announce) as (stack, running):
        loop.add_signal_handler(signal.SIGINT, lambda: stack.kill() if stop.is_set() else stop.set())
        starting = asyncio.create_task(_report_start(stack, options, json))
        stopped = asyncio.create_task(stop.wait())
        watched: set[asyncio.Future[Any]] = {stopped, running}
        await asyncio.wait({starting, *watched}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        starting.cancel()
        _announce("ending; the workers finish or hand back what they have begun (Ctrl-C again ends them at once)")
    _announce("ended")


async def _report_start(stack: "Stack", options: "StackOptions", json: bool) -> None:
    models = ", ".join(entry.id for entry in options.entries)
    await stack.wait_for_gateway()
    _announce(f"gateway  {stack.url}   pages {stack.url}/docs   metrics {stack.url}/metrics")
    _announce(f"logs     {options.home.logs}")
    _announce(f"loading  {models}")
    await stack.wait_for_workers()
    _announce(f"ready    {models}. Ctrl-C ends everything.")
    if json:
        ready = {
            "url": stack.url,
            "redis_url": stack.redis_url,
            "models": [entry.id for entry in options.entries],
            "home": str(options.home.folder),
            "logs": str(options.home.logs),
            "gateway_pid": stack.gateway.pid,
            "worker_pids": [worker.pid for worker in stack.workers],
        }
        sys.stdout.write(json_text.dumps(ready) + "\n")
        sys.stdout.flush()


def _announce(line: str) -> None:
    err.print(line, markup=False)
