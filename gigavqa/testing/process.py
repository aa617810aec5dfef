"""Measure what this process holds: memory and files."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt
_LARGE, _LARGEST = 2**20, 2**25  # above the latter glibc maps every block, whatever was freed before


def resident_bytes() -> int:
    """Return what this process holds, without what the allocator keeps of what was freed."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # which glibc alone has
    if trim:
        trim(0)
    return int(psutil.Process().memory_info().rss)


@contextmanager
def new_pages() -> Iterator[None]:
    """Let large blocks of this thread be of pages that nobody has used, as they are in a process that begins.

    A large block that is set to zero, and not used, is resident where it is handed out again after others, and is not
    where it is new. So what is measured would depend on what was freed before. Where the allocator is another than
    glibc's, nothing is changed.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        yield
        return
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes, libc.mallinfo2.restype = [ctypes.c_void_p], _Allocated
    libc.mallopt(_MMAP_THRESHOLD, _LARGE)
    kept = [*_free_blocks(libc)]
    try:
        yield
    finally:
        for block in kept:
            libc.free(block)
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST)  # where glibc's own, which move, end in a process that frees much
        libc.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST)


class _Allocated(ctypes.Structure):
    """Of glibc's mallinfo2: bytes of its heaps and of blocks that are mapped are the first and the fifth."""

    _fields_ = (
        ("heaps", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 3),
        ("mapped", ctypes.c_size_t),
        ("rest", ctypes.c_size_t * 5),
    )


def _free_blocks(libc: ctypes.CDLL) -> Iterator[int]:
    """Take each large block that was freed; one that had to be made anew says that there is none of its size."""
    size = _LARGEST
    while size >= _LARGE:
        before = libc.mallinfo2()
        block = libc.malloc(size)
        after = libc.mallinfo2()
        if block and (after.heaps, after.mapped) == (before.heaps, before.mapped):
            yield block
        else:
            libc.free(block)
            size //= 2


def is_open(path: Path) -> bool:
    """Return whether this process holds a file open."""
    return str(path.resolve()) in {each.path for each in psutil.Process().open_files()}
