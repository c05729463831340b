"""The report: a self-contained HTML page, Markdown and JSON of one certificate and its audits."""

from dpaudit.model.deployment import System
from dpaudit.report.document import Report
from dpaudit.report.writing import render, write

__all__ = ["Report", "System", "render", "write"]
