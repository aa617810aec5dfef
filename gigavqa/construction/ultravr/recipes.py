"""The recipes that make UltraVR's records."""

from gigavqa.construction.ultravr.ad_anomaly import AnomalousCell
from gigavqa.construction.ultravr.rs_verification import OrientationVerification
from gigavqa.construction.ultravr.wsi_comparison import SlideComparison
from gigavqa.construction.ultravr.wsi_relation import SlideRelation
from gigavqa.construction.ultravr.wsi_verification import SlideSummary, SlideVerification

RECIPES = (
    OrientationVerification,
    SlideComparison,
    SlideVerification,
    SlideSummary,
    SlideRelation,
    AnomalousCell,
)
