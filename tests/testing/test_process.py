"""What a process holds is measured alike, whatever it did before."""

import ctypes
import multiprocessing

import pytest

from gigavqa.testing.process import new_pages, resident_bytes

MIB = 2**20
LIBC = ctypes.CDLL(None)


@pytest.mark.skipif(not hasattr(LIBC, "mallinfo2"), reason="the allocator is not glibc's")
def test_a_block_that_is_not_used_is_not_held_though_another_was_freed_there() -> None:
    """As one that is set to zero is, where it is handed out again.

    In a process of its own: what this one allocated before decides which blocks glibc hands out again.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        of_new_pages, of_used_ones = pool.apply(held_after_large_blocks)
    assert of_new_pages < MIB
    assert of_used_ones > 15 * MIB


def held_after_large_blocks() -> tuple[int, int]:
    leave_large_blocks()
    with new_pages():
        of_new_pages = held_by_a_block_of_zeros()
    return of_new_pages, held_by_a_block_of_zeros()


def leave_large_blocks() -> None:
    """Use and free four of 24 MiB between others that stay, so that malloc has them to hand out again."""
    LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    LIBC.calloc.restype, LIBC.calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
    LIBC.free.argtypes = [ctypes.c_void_p]
    LIBC.free(LIBC.malloc(31 * MIB))  # from then on glibc maps no smaller block
    blocks = [LIBC.malloc(24 * MIB) for _ in range(4)]
    LIBC.malloc(MIB)  # above all of them, and never freed
    for block in blocks:
        ctypes.memset(block, 1, 24 * MIB)
        LIBC.free(block)


def held_by_a_block_of_zeros() -> int:
    """How many bytes more are resident while there is one of 16 MiB that nobody looks at."""
    before = resident_bytes()
    block = LIBC.calloc(16 * MIB, 1)
    held = resident_bytes() - before
    LIBC.free(block)
    return held
