"""Exit codes of verdicts, read from the one table of their words."""

from dpaudit.cli.common.exits import Exit
from dpaudit.model.audit_result import AuditResult
from dpaudit.wording.verdicts import VERDICTS, verdict_label


def verdict_exit(verdict: str) -> Exit:
    """Return the exit code of a verdict by its name in data; an unknown word is a finding.

    >>> verdict_exit("certified"), verdict_exit("stated"), verdict_exit("not_proved")
    (<Exit.PASS: 0>, <Exit.INCONCLUSIVE: 4>, <Exit.FINDING: 1>)
    """
    try:
        return Exit(VERDICTS[verdict_label(verdict)].exit_code)
    except KeyError:
        return Exit.FINDING


def audit_exit(result: AuditResult, *, require_consistent: bool = False) -> Exit:
    """Return the exit code of an audit; *not_refuted* passes unless consistency is required."""
    short = require_consistent and result.verdict == "not_refuted"
    return Exit.INCONCLUSIVE if short else verdict_exit(result.verdict)


def worst(*codes: Exit) -> Exit:
    """Return the most severe of several codes: FINDING before INCONCLUSIVE before PASS."""
    order = (Exit.PASS, Exit.INCONCLUSIVE, Exit.FINDING)
    return max(codes, key=order.index, default=Exit.PASS)
