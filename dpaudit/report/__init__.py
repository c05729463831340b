"""Reports: one object, written as a self-contained HTML page, as Markdown and as JSON."""

from dpaudit.report.document import Report
from dpaudit.report.writing import render, write
from dpaudit.system import System

__all__ = ["Report", "System", "render", "write"]
