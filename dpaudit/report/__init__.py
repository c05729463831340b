"""Reports: one object, written as a self-contained HTML page, as Markdown and as JSON."""

from dpaudit.model.system import System
from dpaudit.report.document import Report
from dpaudit.report.writing import render, write

__all__ = ["Report", "System", "render", "write"]
