"""`gigavqa up`: the whole service on this machine, until Ctrl-C."""

import asyncio
import json as json_text
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import typer

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.completion import complete_models
from gigavqa.cli.console import err
from gigavqa.launcher import preflight
from gigavqa.launcher.machine import format_cpus
from gigavqa.launcher.placement import WorkerPlan
from gigavqa.launcher.served_entries import served_entries, written_entries
from gigavqa.launcher.stack import Stack, StackOptions, running_stack
from gigavqa.launcher.worker_plans import PlacementOptions, describe_plan, plan_workers
from gigavqa.runtime.home import Home
from gigavqa.runtime.private_files import require_writable
from gigavqa.store.worker_registry import WorkerStatus

Models = Annotated[
    list[str],
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        autocompletion=complete_models,
        help="One worker for each, unless --workers is given: a catalogue id, a local checkpoint folder, or a "
        "Hugging Face id of a supported family (repeatable; twice the same makes two workers).",
    ),
]
Host = Annotated[str, typer.Option(help="Address that the gateway listens on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Its port; 0 takes any free one.")]
Unauthenticated = Annotated[
    bool,
    typer.Option(
        "--allow-unauthenticated",
        envvar="GIGAVQA_ALLOW_UNAUTHENTICATED",
        help="Let --host be reached from other machines without keys, though whoever connects may do everything.",
    ),
]
Engine = Annotated[
    Literal["vllm", "remote", "simulated"],
    typer.Option(
        help="`remote` asks a server that runs already; `simulated` answers nothing real: for tests of scale only."
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(metavar="URL", help="With --engine remote: any OpenAI-compatible server, `/v1` included."),
]
RemoteModels = Annotated[
    list[str] | None,
    typer.Option("--remote-model", metavar="[ID=]NAME", help="What that server calls a model (repeatable)."),
]
ApiKeyVariable = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The variable that has the key for it (OPENAI_API_KEY, if that is set)."),
]
EngineArguments = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="An argument of vLLM's AsyncEngineArgs for every worker, before those of the catalogue (repeatable).",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="So many workers instead of one per model, each serving all models in time slices, one in memory at once. "
        "Use it where there are fewer GPUs than models: 1 on a machine with one. One worker per model, the "
        "default, is faster where each has a GPU of its own: nothing is ever loaded twice.",
    ),
]
Gpus = Annotated[
    str | None,
    typer.Option(
        metavar="all|0,1",
        help="As many workers as these GPUs hold, the models taking turns: `all` that are visible, or numbers or UUIDs "
        "as `nvidia-smi -L` lists them. Left out, each worker gets GPUs, and those that are left stay idle.",
    ),
]
SkipGpuChecks = Annotated[
    bool,
    typer.Option(
        "--skip-gpu-checks",
        help="Take GPUs though a repair of their memory is pending, their driver is too old, others hold their "
        "memory, or the model is too large for them.",
    ),
]
Viewer = Annotated[bool, typer.Option(help="Start the evidence viewer, too, to which reports link.")]
ViewerPort = Annotated[
    int | None,
    typer.Option(
        min=0, max=65535, help="Its port; 0 takes any free one. Left out, 8471, or any free one if it is taken."
    ),
]
Shift = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="SECONDS", help="With --workers: the longest shift of a model while another waits (600)."
    ),
]


def up(
    model: Models,
    host: Host = "127.0.0.1",
    port: Port = 8470,
    allow_unauthenticated: Unauthenticated = False,
    engine: Engine = "vllm",
    engine_arg: EngineArguments = None,
    endpoint: Endpoint = None,
    remote_model: RemoteModels = None,
    api_key_env: ApiKeyVariable = None,
    workers: Workers = None,
    gpus: Gpus = None,
    skip_gpu_checks: SkipGpuChecks = False,
    shift: Shift = None,
    viewer: Viewer = True,
    viewer_port: ViewerPort = None,
    json: JsonOption = False,
) -> None:
    """Run the whole service on this machine: the embedded server, the gateway, the viewer and the workers.

    What dies is started again, and Ctrl-C ends all.

    Each worker gets a GPU of its own, or as many as its model is spread over, of one NUMA node where that can be, and
    its share of that node's cores. Bounds that are set for workers (GIGAVQA_WORKER_SLEEP_BYTES and the like) are the
    machine's and divided among them. --gpus or CUDA_VISIBLE_DEVICES choose among GPUs.
    On another address than 127.0.0.1 gateway and viewer ask for keys (`gigavqa admin keys create` makes the first).
    Everything is kept in GIGAVQA_HOME (default ~/.gigavqa): data sets, state, results, logs. With REDIS_URL set, that
    server is used instead of the embedded one. With --json, one line of JSON is printed when every worker is ready.

    \b
    gigavqa up --model demo-qwen3-vl
    gigavqa up --model qwen3-vl-8b --gpus all
    gigavqa up --model qwen3-vl-8b --model glm-4.5v --gpus 0,1,4,5,6,7
    gigavqa up --model qwen3-vl-8b --model qwen2.5-vl-7b --host 0.0.0.0
    gigavqa up --model qwen3-vl-8b --model glm-4.5v --workers 1
    gigavqa up --model qwen3-vl-8b --engine-arg gpu_memory_utilization=0.8 --engine-arg tensor_parallel_size=2
    gigavqa up --model qwen3-vl-8b --engine remote --endpoint http://10.0.0.7:8000/v1
    gigavqa up --model gpt-4.1 --engine remote --endpoint https://api.openai.com/v1
    gigavqa up --model Qwen/Qwen3-VL-4B-Instruct
    gigavqa up --model ~/checkpoints/my-qwen3-vl --port 0 --json
    """
    home = Home.from_environment()
    preflight.require_packages(engine)
    asks = preflight.require_protected(host, allow_unauthenticated)
    arguments = preflight.engine_arguments(engine, engine_arg or [])
    preflight.require_free_port(host, port)
    entries = served_entries(home, model)
    remote = preflight.remote_arguments(
        engine, entries, preflight.RemoteOptions(endpoint, remote_model or [], api_key_env)
    )
    plans = plan_workers(entries, PlacementOptions(workers, gpus, engine, skip_gpu_checks), arguments)
    if unused := preflight.find_cpu_build_fault(engine):
        _announce(unused)
    for line in describe_plan(plans) if any(plan.devices for plan in plans) else ():
        _announce(line)
    options = StackOptions(
        home,
        entries,
        plans,
        host=host,
        port=port or preflight.free_port(host),
        allow_unauthenticated=allow_unauthenticated,
        engine=engine,
        engine_arguments=tuple(engine_arg or ()),
        remote_arguments=remote,
        shift_seconds=shift,
        viewer_port=preflight.viewer_port(host, viewer_port, taken=port) if viewer else None,
        viewer_requires_keys=preflight.viewer_requires_keys(asks),
    )
    require_writable(home.folder)
    with written_entries(home, entries, _announce) as keep:
        asyncio.run(_serve(options, json, keep))


async def _serve(options: StackOptions, json: bool, on_ready: Callable[[], None]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running_stack(options, _announce) as (stack, running):
        loop.add_signal_handler(signal.SIGINT, lambda: stack.kill() if stop.is_set() else stop.set())
        starting = asyncio.create_task(_report_start(stack, options, json, on_ready))
        stopped = asyncio.create_task(stop.wait())
        watched: set[asyncio.Future[Any]] = {stopped, running}
        await asyncio.wait({starting, *watched}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        starting.cancel()
        _announce("ending; the workers finish or hand back what they have begun (Ctrl-C again ends them at once)")
    _announce("ended")


async def _report_start(stack: Stack, options: StackOptions, json: bool, on_ready: Callable[[], None]) -> None:
    models = ", ".join(entry.id for entry in options.entries)
    await stack.wait_for_gateway()
    _announce(f"gateway  {stack.url}   API {stack.url}/docs   watch {stack.url}/watch   metrics {stack.url}/metrics")
    if stack.viewer_url:
        _announce(f"viewer   {stack.viewer_url}")
    _announce(f"logs     {options.home.logs}")
    with _start_display(models) as look:
        await stack.wait_for_workers(look)
    on_ready()
    _announce(f"ready    {models}. Ctrl-C ends everything.")
    _announce(f"open     {stack.url}/ in a browser: jobs, reports, data sets, models")
    if json:
        ready = {
            "url": stack.url,
            "viewer_url": stack.viewer_url,
            "redis_url": stack.redis_url,
            "models": [entry.id for entry in options.entries],
            "home": str(options.home.folder),
            "logs": str(options.home.logs),
            "gateway_pid": stack.gateway.pid,
            "viewer_pids": [viewer.pid for viewer in stack.viewers],
            "worker_pids": [worker.pid for worker in stack.workers],
            "workers": [_plan_fields(plan) for plan in options.plans],
        }
        sys.stdout.write(json_text.dumps(ready) + "\n")
        sys.stdout.flush()


def _plan_fields(plan: WorkerPlan) -> dict[str, Any]:
    devices = [device.id for device in plan.devices]
    return {"name": plan.name, "models": plan.models, "gpus": devices, "cpus": format_cpus(plan.cpus)}


@contextmanager
def _start_display(models: str) -> Iterator[Callable[[Sequence[WorkerStatus]], None]]:
    """Give what shows how far the engines are: one changing line at a terminal, elsewhere a line for every change."""
    if err.is_terminal:
        with err.status(f"loading  {models}") as status:
            yield lambda workers: status.update(
                "\n         ".join([f"loading  {models}", *map(_describe_start, workers)])
            )
        return
    _announce(f"loading  {models}")
    said: dict[str, str] = {}

    def say(workers: Sequence[WorkerStatus]) -> None:
        for worker in workers:
            # Shares change all the time; a log needs the phases.
            phase = worker.phase.name if worker.phase else worker.state
            if said.get(worker.worker) != phase:
                said[worker.worker] = phase
                _announce(f"         {_describe_start(worker)}")

    yield say


def _describe_start(worker: WorkerStatus) -> str:
    return f"{', '.join(worker.models)}: {worker.phase or worker.state}"


def _announce(line: str) -> None:
    err.print(line)
