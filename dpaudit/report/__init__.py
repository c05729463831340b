"""Reports: one object, written as a self-contained HTML page, as Markdown and as JSON."""

from dpaudit.report.document import Report, System
from dpaudit.report.writing import render, write

__all__ = ["Report", "System", "render", "write"]
