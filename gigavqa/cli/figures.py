"""Write computed figures with as many digits as mean something."""


def range_text(least: float, most: float) -> str:
    """Write both ends of a range."""
    return f"{figure_text(least)} to {figure_text(most)}"


def figure_text(number: float) -> str:
    """Write two digits at least of what is small, and none behind the point of what is large."""
    return f"{number:.2g}" if number < 0.1 else f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"
