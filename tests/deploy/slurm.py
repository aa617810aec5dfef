"""A Slurm cluster of this machine: a real controller and two nodes with two GPUs each, which are /dev/null."""

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gigavqa.launcher.preflight import free_port
from tests.waiting import wait_until

PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}
"""Debian's packages, by their programs."""
_CONFIGURATION = """\
ClusterName=gigavqa
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmdParameters=config_overrides
ProctrackType={proctrack}
TaskPlugin=task/none
SwitchType=switch/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=30
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8 RealMemory=400000 Gres=gpu:2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8 RealMemory=400000 Gres=gpu:2
PartitionName=batch Nodes=ALL Default=YES PriorityTier=1
PartitionName=urgent Nodes=ALL PriorityTier=10
"""


def lack() -> str:
    """Why no cluster can be started here; nothing where one can."""
    if missing := [package for program, package in PROGRAMS.items() if not shutil.which(program)]:
        return f"no {', '.join(missing)}"
    return "" if os.getuid() == 0 else "slurmd starts jobs as root alone"


@dataclass
class SlurmCluster:
    """Starts the daemons below `folder`, and ends each by its process id; `run` asks them."""

    folder: Path
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Start controller and nodes, and wait until both nodes are idle."""
        frozen = Path("/sys/fs/cgroup/freezer")
        proctrack = "proctrack/cgroup" if os.access(frozen, os.W_OK) else "proctrack/linuxproc"
        ports = [free_port("127.0.0.1") for _ in range(3)]
        for name in ("state", "spool-n1", "spool-n2"):
            (self.folder / name).mkdir(parents=True)
        for number in range(2):
            (self.folder / f"gpu{number}").symlink_to("/dev/null")  # Slurm binds devices alone
        text = _CONFIGURATION.format(host=socket.gethostname(), folder=self.folder, ports=ports, proctrack=proctrack)
        self._write("slurm.conf", text)
        self._write("gres.conf", f"AutoDetect=off\nName=gpu File={self.folder}/gpu[0-1] Flags=nvidia_gpu_env\n")
        self._write("cgroup.conf", "CgroupAutomount=yes\nCgroupPlugin=cgroup/v1\n")
        self._daemon("slurmctld", "slurmctld", "-D")
        for node in ("n1", "n2"):
            self._daemon(node, "slurmd", "-D", "-N", node)
        wait_until(lambda: self._ask("sinfo", "-h", "-o", "%D %t") == "2 idle", what="two idle nodes")

    def stop(self) -> None:
        """Cancel what runs, wait until it has ended, and end the daemons."""
        for job in self._ask("squeue", "-h", "-o", "%A").split():
            self.run("scancel", "--full", "--signal=KILL", job)
            self.run("scancel", job)
        wait_until(lambda: not self._ask("squeue", "-h"), what="the end of every job")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(30)

    def run(self, *command: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
        """What one of Slurm's commands says; fails the test where it fails."""
        ended = subprocess.run(
            command, env=self._environ(environ or {}), cwd=cwd, capture_output=True, text=True, check=False, timeout=60
        )
        assert ended.returncode == 0, f"{command}: {ended.stderr}"
        return ended.stdout.strip()

    def job(self, number: str) -> dict[str, str]:
        """A job as the controller tells it."""
        shown = self.run("scontrol", "show", "job", "-o", number)
        return dict(pair.split("=", 1) for pair in shown.split() if "=" in pair)

    def _ask(self, *command: str) -> str:
        asked = subprocess.run(command, env=self._environ({}), capture_output=True, text=True, check=False, timeout=60)
        return asked.stdout.strip()

    def _environ(self, added: Mapping[str, str]) -> dict[str, str]:
        return {**os.environ, **added, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def _daemon(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons.append(subprocess.Popen(command, env=self._environ({}), stdout=log, stderr=log))
