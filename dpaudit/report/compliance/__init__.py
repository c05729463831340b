"""The numbered sections of the compliance report: plain fields and tables, each with what its value rests on."""

from dpaudit.report.compliance.fields import Field, Grid, Section, Status

__all__ = ["Field", "Grid", "Section", "Status"]
