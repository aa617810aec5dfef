"""Advice on installing what is optional."""


def install_advice(*extras: str) -> str:
    """Say how one of some extras is installed: from a checkout, since on an index others could take the name."""
    ways = " or ".join(f"`pip install '.[{extra}]'`" for extra in extras)
    return f"in a checkout of gigavqa run {ways}"


def plugin_advice() -> str:
    """Say how the plugins that lie beside the product are installed."""
    return "plugins bring more: in a checkout of gigavqa `pip install ./plugins/NAME` installs one of its own"
