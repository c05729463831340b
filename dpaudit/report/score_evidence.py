"""Audits of scores that a configuration names: what a file says of the certificate's claim."""

from dataclasses import dataclass

from dpaudit.model.claim import Claim
from dpaudit.model.measures.claims import MeasuredClaim
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


def difference_between(other: Claim, claim: Claim) -> str:
    """Return in which number, neighbours or model a claim is another than `claim`; empty where it is the same.

    >>> mine = Claim(epsilon=1.0, neighbours="add_remove")
    >>> difference_between(mine, mine), difference_between(mine, Claim(epsilon=1.0, neighbours="replace_one"))
    ('', "its neighbours is 'add_remove', the certificate's 'replace_one'")
    >>> difference_between(mine, Claim(rho=1.0, neighbours="add_remove"))
    "its rho is None, the certificate's 1.0"
    """
    here, there = _terms(other), _terms(claim)
    for name in (*there, *here):
        if here.get(name) != there.get(name):
            return f"its {name} is {here.get(name)!r}, the certificate's {there.get(name)!r}"
    return ""


def _terms(claim: Claim) -> dict[str, object]:
    """Return what decides of a claim whether another one is the same."""
    numbers = claim.numbers if isinstance(claim, MeasuredClaim) else ("epsilon", "delta")
    return {name: getattr(claim, name) for name in (*numbers, "neighbours", "model")}
