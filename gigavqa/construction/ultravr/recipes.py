"""The recipes that make UltraVR's records."""

from gigavqa.construction.ultravr.rs_verification import OrientationVerification

RECIPES = (OrientationVerification,)
