"""Exit codes of certificates and of audits."""

from dpaudit.certification.certificate import Certificate
from dpaudit.cli.common.exits import Exit
from dpaudit.model.audit_result import AuditResult


def certificate_exit(certificate: Certificate) -> Exit:
    """Return the exit code of a certificate: of a stated claim, that nothing was concluded."""
    return verdict_exit(certificate.verdict)


def verdict_exit(verdict: str) -> Exit:
    """Return the exit code of a verdict on paper; an unknown word is a finding.

    >>> verdict_exit("certified"), verdict_exit("stated"), verdict_exit("not_proved")
    (<Exit.PASS: 0>, <Exit.INCONCLUSIVE: 4>, <Exit.FINDING: 1>)
    """
    return {"certified": Exit.PASS, "stated": Exit.INCONCLUSIVE}.get(verdict, Exit.FINDING)


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
