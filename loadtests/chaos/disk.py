"""A disk under the server that is slow, or that a power cut leaves with what was synchronized alone."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static volatile int busy = -1;
static pid_t server;
__attribute__((constructor)) static void begin(void) { server = getpid(); }
static int synchronize(const char *name, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    struct stat file;
    if (getpid() != server) return real(fd);
    if (fstat(fd, &file)) return -1;
    pthread_mutex_lock(&disk);
    busy = fd;
    sleep(atoi(getenv("DISK_SECONDS")));
    int failed = real(fd);
    FILE *log = failed ? NULL : fopen(getenv("DISK_LOG"), "a");
    if (log) {
        fprintf(log, "%lu %lu\\n", (unsigned long)file.st_ino, (unsigned long)file.st_size);
        fclose(log);
    }
    pthread_mutex_unlock(&disk);
    return failed;
}
int fsync(int fd) { return synchronize("fsync", fd); }
int fdatasync(int fd) { return synchronize("fdatasync", fd); }
ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (fd == busy && getpid() == server) {
        pthread_mutex_lock(&disk);
        pthread_mutex_unlock(&disk);
    }
    return real(fd, bytes, count);
}
"""


class FaultyDisk:
    """The disk that a server started with `environment` writes to; `seconds` is how long a synchronization takes.

    What is written to a file waits while it is synchronized. What the server forks may lack its locks, and has another
    disk. Raises FileNotFoundError where there is no C compiler.
    """

    def __init__(self, folder: Path, *, seconds: int = 0) -> None:
        source, library, self._log = folder / "disk.c", folder / "disk.so", folder / "disk.log"
        source.write_text(_SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl", "-pthread"], check=True)
        self._log.touch()
        self.environment: Mapping[str, str] = {
            "LD_PRELOAD": str(library),
            "DISK_SECONDS": str(seconds),
            "DISK_LOG": str(self._log),
        }

    @classmethod
    @contextmanager
    def below_a_server(cls, *, seconds: int = 0) -> Iterator["FaultyDisk | None"]:
        """One for the length of a block; None where there is no C compiler."""
        with TemporaryDirectory(prefix="gigavqa-disk-") as folder:
            try:
                disk = cls(Path(folder), seconds=seconds)
            except FileNotFoundError:
                disk = None
            yield disk

    def lose_power(self, server_folder: Path) -> int:
        """Take from the append-only file of a server that was killed what was not synchronized; returns its bytes."""
        file = max(server_folder.glob("appendonlydir/*.incr.aof"), key=lambda path: path.stat().st_ctime)
        written = file.stat()
        os.truncate(file, min(written.st_size, self._synchronized(written.st_ino)))
        return written.st_size - file.stat().st_size

    def _synchronized(self, inode: int) -> int:
        told = (line.split() for line in self._log.read_text().splitlines())
        return max((int(size) for number, size in told if int(number) == inode), default=0)
