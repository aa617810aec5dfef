"""The recipes that make UltraVR's records."""

from gigavqa.construction.ultravr.ad_anomaly import AnomalousCell
from gigavqa.construction.ultravr.cctv_comparison import BundleComparison
from gigavqa.construction.ultravr.cctv_relation import PersonRelation
from gigavqa.construction.ultravr.cctv_verification import ClaimVerification
from gigavqa.construction.ultravr.rs_comparison import ConditionedComparison
from gigavqa.construction.ultravr.rs_relation import ExtremeRelation
from gigavqa.construction.ultravr.rs_verification import OrientationVerification
from gigavqa.construction.ultravr.wsi_comparison import SlideComparison
from gigavqa.construction.ultravr.wsi_relation import SlideRelation
from gigavqa.construction.ultravr.wsi_verification import SlideSummary, SlideVerification

RECIPES = (
    BundleComparison,
    ClaimVerification,
    PersonRelation,
    ConditionedComparison,
    OrientationVerification,
    ExtremeRelation,
    SlideComparison,
    SlideVerification,
    SlideSummary,
    SlideRelation,
    AnomalousCell,
)
