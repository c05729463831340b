"""What the audits measured, a line for each view: the strongest bound stands for those that agree with it."""

from dpaudit.model.audit_result import AuditResult
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.audits import position


def strongest(audits: tuple[AuditResult, ...]) -> tuple[tuple[AuditResult, str], ...]:
    """Return the audit with the largest bound of each view, verdict and assumption, and the name of what it stands for.

    Guarantee: every audit is one of a group, and no group mixes verdicts or assumptions.
    """
    groups: dict[tuple[str, str, str], list[AuditResult]] = {}
    for audit in audits:
        groups.setdefault((audit.view, audit.verdict, audit.assumption), []).append(audit)
    return tuple((max(group, key=lambda audit: audit.epsilon_lower), _named(group)) for group in groups.values())


def _named(group: list[AuditResult]) -> str:
    """Return the name of an audit, or how many audits of a view the strongest stands for."""
    return group[0].name if len(group) == 1 else f"strongest of {len(group)}, view {group[0].view}"


def measured_lines(report: ReportInputs) -> list[str]:
    """Return a sentence for each group of audits."""
    return [f"{position(audit)[:-1]} ({name})." for audit, name in strongest(report.audits)]
