"""Quantities in words."""


def say_seconds(seconds: float) -> str:
    """A duration as people say it: `0.42 s`, `12 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds >= 0.01 else "no time"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
