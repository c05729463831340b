"""The bound of a finished audit at another significance, from the guesses that it counted."""

from audits.bounds.guessing import guessing_bound
from dpaudit.model.audit_result import AuditResult


def epsilon_at(result: AuditResult, significance: float) -> float:
    """Return the bound on epsilon of an audit of fixed size without a certificate, at another significance.

    Guarantee: wrong with probability at most `significance`, if that number was fixed before the runs. The bound that
    decides keeps its share of the significance. What replays show holds at their own significance alone.
    """
    deciding = next(bound for bound in result.bounds if bound.name == result.bound)
    if result.bound == "replay":
        return deciding.epsilon if significance >= deciding.significance else 0.0
    share = deciding.significance / result.significance
    return guessing_bound(result.counts, result.delta, share * significance).epsilon
