"""The recipes that make UltraVR's records."""

from gigavqa.construction.ultravr.cctv_comparison import BundleComparison
from gigavqa.construction.ultravr.cctv_relation import PersonRelation
from gigavqa.construction.ultravr.cctv_verification import ClaimVerification
from gigavqa.construction.ultravr.rs_comparison import ConditionedComparison
from gigavqa.construction.ultravr.rs_relation import ExtremeRelation
from gigavqa.construction.ultravr.rs_verification import OrientationVerification

RECIPES = (
    BundleComparison,
    ClaimVerification,
    PersonRelation,
    ConditionedComparison,
    OrientationVerification,
    ExtremeRelation,
)
