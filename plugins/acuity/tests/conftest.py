"""What holds of the product's own tests holds here, too."""

from tests.conftest import _engines_forked, _environment

__all__ = ["_engines_forked", "_environment"]
