"""The report of a certificate and its audits (HTML, Markdown, JSON), and that of one training run for a model card."""

from dpaudit.model.deployment import System
from dpaudit.report.document import Report
from dpaudit.report.training_report import TrainingReport
from dpaudit.report.writing import render, write

__all__ = ["Report", "System", "TrainingReport", "render", "write"]
