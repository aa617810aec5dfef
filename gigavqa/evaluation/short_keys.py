"""Short keys: what tells things apart that are too many to keep their names."""

import hashlib

_BYTES = 16  # two of a billion billion things share one with a chance of one in a thousand


def short_key(*parts: str) -> bytes:
    """Return a key of a few bytes for texts: other texts have another one."""
    told = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(told.encode(errors="surrogatepass"), digest_size=_BYTES).digest()
