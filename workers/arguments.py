"""The arguments of `python -m workers`, and what they say about bounds."""

import argparse

from workers.settings import WorkerSettings

_LOOPBACK = "127.0.0.1"
_GIB = 2**30
_DEFAULTS = WorkerSettings()


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m workers",
        description="Plays the queued requests of one model, or of several in shifts.",
    )
    _add_models(parser)
    parser.add_argument("--engine", choices=["vllm", "simulated"], default="vllm")
    parser.add_argument(
        "--engine-arg",
        default=[],
        action="append",
        metavar="NAME=VALUE",
        help="an argument of vLLM's AsyncEngineArgs, before those of the entries (repeatable)",
    )
    parser.add_argument("--speed", type=float, default=1.0, help="of the simulated engine; 0 takes no time")
    parser.add_argument("--metrics-host", default=_LOOPBACK, metavar="ADDRESS")
    parser.add_argument("--metrics-port", type=int, default=0, metavar="PORT", help="0 takes any")
    parser.add_argument("--max-requests", type=int, metavar="N", help="chats that are played at once")
    parser.add_argument("--grace", type=float, default=_DEFAULTS.grace_seconds, metavar="SECONDS", help="at SIGTERM")
    parser.add_argument("--lease", type=float, default=_DEFAULTS.lease_seconds, metavar="SECONDS")
    parser.add_argument("--no-previews", action="store_true", help="write no small pictures of what the model saw")
    _add_shifts(parser)
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> WorkerSettings:
    """Return the bounds that the arguments ask for."""
    return WorkerSettings(
        max_requests=arguments.max_requests or _DEFAULTS.max_requests,
        lease_seconds=arguments.lease,
        grace_seconds=arguments.grace,
        shift_seconds=arguments.shift,
        shift_bundles=arguments.shift_bundles,
        interactive_shift_seconds=min(arguments.shift, _DEFAULTS.interactive_shift_seconds),
        sleep_bytes=int(arguments.sleep_memory * _GIB),
    )


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        required=True,
        action="append",
        metavar="ID",
        help="whose bundles are claimed (repeatable: several models share the device, one in its memory at a time)",
    )
    parser.add_argument(
        "--model-from",
        default=[],
        action="append",
        metavar="[ID=]NAME",
        help="catalogue id, checkpoint folder or Hugging Face id to serve under ID (repeatable, then with ID=)",
    )


def _add_shifts(parser: argparse.ArgumentParser) -> None:
    shifts = parser.add_argument_group("with several models")
    shifts.add_argument(
        "--shift",
        type=float,
        default=_DEFAULTS.shift_seconds,
        metavar="SECONDS",
        help="for so long at most one model is played while another one waits (%(default)g)",
    )
    shifts.add_argument(
        "--shift-bundles", type=int, default=_DEFAULTS.shift_bundles, metavar="N", help="or for so many of its bundles"
    )
    shifts.add_argument(
        "--sleep-memory",
        type=float,
        default=_DEFAULTS.sleep_bytes / _GIB,
        metavar="GIB",
        help="host memory for the weights of engines that sleep meanwhile, on a GPU (default: half of the machine's); "
        "those that do not fit, and all with 0, are ended and started again",
    )
