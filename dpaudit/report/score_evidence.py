"""Audits of scores that a configuration names: what a file says of the certificate's claim."""

from dataclasses import dataclass

from dpaudit.model.claim import Claim
from dpaudit.model.scores_result import ScoresResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEvidence:
    """An audit of scores, the name of the file that it was read from, and the file's SHA-256."""

    file: str
    digest: str
    result: ScoresResult


def scores_name(held: ScoreEvidence) -> str:
    """Return the name of an audit of scores among other tests."""
    return f"scores: {held.file}"


def difference_of(result: ScoresResult, claim: Claim) -> str:
    """Return in which field an audit of scores is about another claim than `claim`; empty where it is about this one.

    >>> from dpaudit.model.claim import Claim
    >>> from audits import audit_scores
    >>> import numpy as np
    >>> mine = Claim(epsilon=1.0, neighbours="add_remove")
    >>> result = audit_scores([2.0, 1.0], [0.0, 1.0], mine, sampling="runs", rng=np.random.default_rng(0))
    >>> difference_of(result, mine), difference_of(result, Claim(epsilon=1.0, neighbours="replace_one"))
    ('', "its neighbours is 'add_remove', the certificate's 'replace_one'")
    """
    for name in ("epsilon", "delta", "neighbours", "model"):
        if getattr(result.claim, name) != getattr(claim, name):
            return f"its {name} is {getattr(result.claim, name)!r}, the certificate's {getattr(claim, name)!r}"
    return ""
