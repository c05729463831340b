"""What the audit of a training loop showed, check by check, and as conditions and evidence of a report."""

from dataclasses import dataclass, replace

from audits.training.check import without_result
from audits.training.replayed import FOLLOWS
from dpaudit import Claim
from dpaudit.model.condition import Condition
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.model.trace import Finding
from dpaudit.training import Conformity
from dpaudit.training.evidence import LoopAudit, LoopCheck, TrainingVerdict

_MOST_NAMED = 12

_SHOWN: dict[str, tuple[ConditionKind, str]] = {
    "noise": ("fresh_noise", "size, law and repetition of the noise in each watched step"),
    "clipping norm": (
        "sensitivity",
        "sums of watched steps against the clipping norm, and replays on other records",
    ),
    "number of steps": ("declared_times", "the watched steps, and all that the loop published in replays"),
}
"""For each group of checks of conformance: the condition that it and the replays show, and what was looked at."""

_BY_CANARIES = ("one step", "whole run", "canaries apart")
_NOT_MADE = "It was not made: no canary was planted, or the direction in which one moves the sums is not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAudit:
    """The results of the checks of a loop.

    `verdict` is a violation if any check finds one; else *inconclusive* if something in `unseen` could not be looked
    at; else that of conformance, which detects the least missing noise, and is *more_noise* where the loop adds more
    than it declares. `without_result` names the other checks that showed nothing, or were not run; they change no
    verdict. `watched` lists parameters, settings and published values that were watched, by name, and
    `untrained` the parameters of a watched model that no step moved, or noise alone, such as the layers of an adapter
    that the optimizer does not hold: those that are trainable, and frozen matrices of zeros, which do nothing. The
    audit says nothing of a run that trains them.

    >>> from audits import audit_training
    >>> import numpy as np
    >>> from audits.examples import TRAINING, TRAINING_CLAIM, train_with_little_noise, training_records
    >>> from audits.training.training_audit import audit_training
    >>> rng = np.random.default_rng(0)
    >>> features, labels = training_records(rng)
    >>> audit = audit_training(
    ...     train_with_little_noise, features, labels,
    ...     training=TRAINING, claim=TRAINING_CLAIM, rng=rng, canaries=200,
    ... )
    >>> audit.findings[0].rule
    'DPA212'
    """

    verdict: TrainingVerdict
    checks: tuple[LoopCheck, ...]
    conformance: Conformity
    canaries: int
    significance: float
    claim: Claim
    seconds: float
    replayed: tuple[Finding, ...] = ()
    watched: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    untrained: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: of replays, which name causes, then of conformance, then bounds above what is declared."""
        wrong = (check for check in self.checks if check.name in _BY_CANARIES and check.verdict == "violation")
        leaks = (Finding(rule="DPA301", where=check.name, message=check.sentence) for check in wrong)
        return (*self.replayed, *self.conformance.findings, *leaks)

    @property
    def without_result(self) -> tuple[str, ...]:
        """The checks by canaries that could not have found anything, or were not run."""
        decided = {check.name for check in self.checks if check.verdict != "inconclusive"}
        return tuple(name for name in _BY_CANARIES if name not in decided)

    def conditions(self) -> tuple[Condition, ...]:
        """Return what was looked at as conditions of a certificate: checked, violated, or assumed if not observed."""
        named = ", ".join(self.watched[:_MOST_NAMED]) + (" and others" if len(self.watched) > _MOST_NAMED else "")
        said = f"With other records and the same noisy sums a replayed loop gave the same {named}."
        replays = Condition(kind="training_loop", about=("replays",), text=said)
        holds = not any(finding.rule == FOLLOWS for finding in self.replayed)
        looked = self.watched and not (holds and self.unseen)
        blind = Condition(kind="training_loop", about=("replays",))
        shown = [_SHOWN[name] for name in _SHOWN if name not in self.conformance.unseen]
        looked_at = [(Condition(kind=kind), clause) for kind, clause in shown if looked and not self.findings]
        general = (replace(c, text=f"{c.text} Looked at: {clause}.").seen(holds=True) for c, clause in looked_at)
        return (*self.conformance.conditions(), replays.seen(holds=holds) if looked else blind, *general)

    def evidence(self) -> LoopAudit:
        """Return what a `TrainingReport` states of the audit."""
        made = {check.name for check in self.checks}
        not_made = (without_result(name, _NOT_MADE) for name in _BY_CANARIES if name not in made)
        return LoopAudit(
            verdict=self.verdict,
            significance=self.significance,
            watched=self.watched,
            not_observed=self.unseen,
            not_trained=self.untrained,
            findings=self.findings,
            checks=(*self.checks, *not_made),
            conditions=self.conditions(),
        )

    def text(self) -> str:
        """Return the audit in lines of plain text."""
        lines = [f"{self.verdict}: {self.canaries} canaries, significance {self.significance:g} a check"]
        lines += [f"  {check.name}: {check.verdict}. {check.sentence}" for check in self.checks]
        lines += [f"  {f.rule}: {f.message}" for f in (*self.replayed, *self.conformance.findings)]
        lines += [f"  watched: {', '.join(self.watched)}"] if self.watched else []
        lines += (
            [f"  not trained: {', '.join(self.untrained)} (no step moved it, or noise alone)"] if self.untrained else []
        )
        lines += [f"  not observed: {what}" for what in self.unseen]
        lines += [f"  without a result: {', '.join(self.without_result)}"] if self.without_result else []
        return "\n".join(lines)
