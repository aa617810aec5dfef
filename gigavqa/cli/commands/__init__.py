"""The list of commands, by purpose; their modules are not imported for it."""

from gigavqa.cli.lazy import CommandEntry

_HERE = "gigavqa.cli.commands"


def _entry(panel: str, module: str, told: str) -> CommandEntry:
    return CommandEntry(f"{_HERE}.{module}", panel, told)


COMMANDS = {
    "demo": _entry("Start", "demo", "Run whole evaluations on this machine"),
    "ask": _entry("Start", "ask", "Ask your own questions about your own pictures"),
    "up": _entry("Start", "up", "Run the whole service on this machine"),
    "doctor": _entry("Start", "doctor", "Check the installation"),
    "submit": _entry("Evaluate", "submit", "Submit a job, and print its id"),
    "watch": _entry("Evaluate", "watch", "Follow a job until it ends"),
    "report": _entry("Evaluate", "report", "Print one report over jobs, also while they run"),
    "verdicts": _entry("Evaluate", "verdicts", "Write the verdicts on jobs, one row a response"),
    "results": _entry("Evaluate", "results", "Write the raw responses of a job"),
    "judge": _entry("Evaluate", "judge", "Have models judge what finished jobs were answered"),
    "score": _entry("Evaluate", "score", "Score responses against samples, from files alone"),
    "jobs": _entry("Jobs", "jobs", "List the jobs of the gateway, newest first"),
    "cancel": _entry("Jobs", "jobs", "Cancel a job"),
    "retry": _entry("Jobs", "jobs", "Ask again what is not answered"),
    "delete": _entry("Jobs", "jobs", "Delete a job that has ended, with all its responses"),
    "models": _entry("Look", "models", "List the models of the catalogue"),
    "view": _entry("Look", "view", "Write what a model will see of an image"),
    "show": _entry("Look", "show", "Print what an image's samples are"),
    "prompt": _entry("Look", "prompt", "Print what a model is shown and told"),
    "budget": _entry("Look", "budget", "Print which rasters a model makes of a picture of a size"),
    "plan": _entry("Look", "plan", "Say what a model needs of GPUs, and what that costs"),
    "viewer": _entry("Look", "viewer", "Serve the pictures"),
    "dataset": _entry("Data", "dataset", "Draw, import, check, list, show and delete data sets"),
    "build": _entry("Data", "build", "Make questions of annotated pictures"),
    "workers": _entry("Operate", "workers", "List the workers"),
    "load": _entry("Operate", "load", "Measure a service under load"),
    "logs": _entry("Operate", "logs", "Print the ends of the logs"),
    "admin": _entry("Operate", "admin", "Keys, backups, checks, corpora, pyramids, room on the disk"),
}
"""By name: each begins as its own help does."""

ADMIN = {
    "keys": _entry("", "keys", "Make API keys, list them, and revoke them."),
    "backup": _entry("", "backup", "Back up what the installation keeps, also while jobs run"),
    "restore": _entry("", "restore", "Restore a backup into an installation that does not run"),
    "fsck": _entry("", "fsck", "Find what is damaged in what the installation keeps"),
    "prune": _entry("", "prune", "Delete what is left over"),
    "corpus": _entry("", "corpus", "Make the index of a corpus, and search it as models do"),
    "ingest": _entry("", "ingest", "Make lossless tiled pyramids of flat images"),
    "pyramids": _entry("", "pyramids", "List the pyramids that were made of flat images, and delete those of no use."),
}
"""What few need, and rarely: below `gigavqa admin`, and by their own names as they were called before."""
