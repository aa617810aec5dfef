"""What holds of the product's own tests holds here, too."""

from tests.conftest import _environment

__all__ = ["_environment"]
