"""The rasters that vLLM's front end believes its core to have: taken back, to the order, where a prompt fails.

Both sides put out what was used longest ago when they are full, so they agree as long as they see the same prompts in
the same order. One that fails on its way was seen by the front end alone (0.32: multimodal/cache/lru.py).
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def restore_on_failure(cache: Any, keys: Collection[str]) -> Iterator[None]:
    """Leave `cache`, vLLM's `mm_processor_cache` or None, as it was where the block fails, which makes `keys` ready."""
    if not keys:  # such prompts do not wait for each other
        yield
        return
    lru = getattr(cache, "_cache", None)
    undone = _restore_order(lru) if hasattr(lru, "order") else _forget_new_keys(cache, keys)
    with undone:
        yield


@contextmanager
def _restore_order(lru: Any) -> Iterator[None]:
    order, put_out = list(lru.order), dict[str, Any]()
    lru._on_remove = put_out.setdefault  # the first value of each key is that of before
    try:
        yield
    except BaseException:
        gone = {key: put_out[key] for key in order if key in put_out}
        for key in {*lru.order} - ({*order} - gone.keys()):
            lru.pop(key)
        for key, value in gone.items():
            lru.put(key, value)
        for key in order:
            lru.touch(key)
        raise
    finally:
        del lru._on_remove


@contextmanager
def _forget_new_keys(cache: Any, keys: Collection[str]) -> Iterator[None]:
    """Forget what is new: of caches in shared memory, whose order both sides see."""
    new = [key for key in keys if cache is not None and not cache.is_cached_item(key)]
    try:
        yield
    except BaseException:
        for key in new:
            cache.invalidate(key)
        raise
