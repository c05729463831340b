"""The numbered sections of the compliance report: fields and tables, each with the status of its value."""

from dpaudit.report.compliance.fields import Field, Grid, Section, Status

__all__ = ["Field", "Grid", "Section", "Status"]
