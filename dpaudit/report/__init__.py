"""The report of a certificate and its audits (HTML, Markdown, JSON), and that of one training run for a model card."""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports

if TYPE_CHECKING:
    from dpaudit.model.deployment import System as System
    from dpaudit.report.document import Report as Report
    from dpaudit.report.training.report import TrainingReport as TrainingReport
    from dpaudit.report.writing import render as render
    from dpaudit.report.writing import write as write
else:
    __getattr__, __dir__ = lazy_exports(__name__)
