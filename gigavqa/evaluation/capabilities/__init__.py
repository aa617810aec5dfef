"""Capabilities of benchmarks beyond the interface, one class a thought: its class line names those that it does."""

from gigavqa.evaluation.capabilities.answer_forms import AnswerForms
from gigavqa.evaluation.capabilities.capability import Capability
from gigavqa.evaluation.capabilities.cell_rules import CellRules, explain_unfit
from gigavqa.evaluation.capabilities.chat_details import ChatDetails
from gigavqa.evaluation.capabilities.dataset_files import DatasetFiles
from gigavqa.evaluation.capabilities.job_options import JobOptions
from gigavqa.evaluation.capabilities.model_judging import ModelJudging, judgement_reader
from gigavqa.evaluation.capabilities.paper_settings import PaperSettings
from gigavqa.evaluation.capabilities.program_files import ConfiguredDataset, ProgramFiles
from gigavqa.evaluation.capabilities.reader_versions import ReaderVersions
from gigavqa.evaluation.capabilities.record_layout import RecordLayout, whole_record
from gigavqa.evaluation.capabilities.reply_labels import LabelKind, LabelPlace, ReplyLabels
from gigavqa.evaluation.capabilities.sample_display import Evidence, SampleDisplay

CAPABILITIES: tuple[type[Capability], ...] = (
    AnswerForms,
    CellRules,
    ChatDetails,
    DatasetFiles,
    JobOptions,
    ModelJudging,
    PaperSettings,
    ProgramFiles,
    ReaderVersions,
    RecordLayout,
    ReplyLabels,
    SampleDisplay,
)

__all__ = [
    "CAPABILITIES",
    "AnswerForms",
    "Capability",
    "CellRules",
    "ChatDetails",
    "ConfiguredDataset",
    "DatasetFiles",
    "Evidence",
    "JobOptions",
    "LabelKind",
    "LabelPlace",
    "ModelJudging",
    "PaperSettings",
    "ProgramFiles",
    "ReaderVersions",
    "RecordLayout",
    "ReplyLabels",
    "SampleDisplay",
    "explain_unfit",
    "judgement_reader",
    "whole_record",
]
