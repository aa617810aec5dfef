"""How what is optional is installed."""


def install_advice(*extras: str) -> str:
    """Say how one of some extras is installed: from a checkout, since on an index others could take the name."""
    ways = " or ".join(f"`pip install '.[{extra}]'`" for extra in extras)
    return f"in a checkout of gigavqa run {ways}"
