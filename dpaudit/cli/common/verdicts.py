"""Exit codes of certificates and of audits."""

from dpaudit.certification.certificate import Certificate
from dpaudit.cli.common.exits import Exit
from dpaudit.model.audit_result import AuditResult


def certificate_exit(certificate: Certificate) -> Exit:
    """Return the exit code of a certificate."""
    return Exit.PASS if certificate.verdict == "certified" else Exit.FINDING


def audit_exit(result: AuditResult, *, require_consistent: bool = False) -> Exit:
    """Return the exit code of an audit; *not_refuted* passes unless consistency is required."""
    ends = {
        "violation": Exit.FINDING,
        "inconclusive": Exit.INCONCLUSIVE,
        "not_refuted": Exit.INCONCLUSIVE if require_consistent else Exit.PASS,
        "consistent": Exit.PASS,
    }
    return ends[result.verdict]


def worst(*codes: Exit) -> Exit:
    """Return the most severe of several codes: FINDING before INCONCLUSIVE before PASS."""
    order = (Exit.PASS, Exit.INCONCLUSIVE, Exit.FINDING)
    return max(codes, key=order.index, default=Exit.PASS)
