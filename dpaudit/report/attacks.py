"""Attacks as a report and a gate list them: audits of code, and audits of scores that a configuration names."""

from dataclasses import dataclass

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.claim import Claim
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.scores_result import ScoresResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEvidence:
    """An audit of scores, the name of the file that it was read from, and the file's SHA-256."""

    file: str
    digest: str
    result: ScoresResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An audit of code, or of scores whose sampling is stated.

    `subject` is what issues call it, `test` its name among other tests; `looked_at` is the number of runs, or of scores
    of both sides; `provision` is what the bound takes for granted, in short.
    """

    subject: str
    test: str
    result: AuditResult | ScoresResult
    looked_at: int
    provision: str

    @property
    def claimed(self) -> float:
        """The claimed epsilon."""
        return self.result.claimed_epsilon if isinstance(self.result, AuditResult) else self.result.claim.epsilon


def attack_of(evidence: AuditResult | ScoreEvidence) -> Attack:
    """Return the attack of an audit of code, or of an audit of scores."""
    if isinstance(evidence, AuditResult):
        provision, test = "assumed" if evidence.assumption else "", f"audit: {evidence.name}"
        return Attack(subject=evidence.name, test=test, result=evidence, looked_at=evidence.runs, provision=provision)
    name, number = f"scores: {evidence.file}", evidence.result.members + evidence.result.others
    return Attack(subject=name, test=name, result=evidence.result, looked_at=number, provision="sampling as stated")


def attacks_of(audits: tuple[AuditResult, ...], scores: tuple[ScoreEvidence, ...]) -> tuple[Attack, ...]:
    """Return all attacks: those of audits of code first."""
    return (*map(attack_of, audits), *map(attack_of, scores))


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
