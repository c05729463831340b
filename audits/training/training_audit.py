"""The audit of one training run, in four checks.

    conformance    noise, clipping, sampling and steps against the declaration (`dpaudit.training`)
    one step       was a canary in this batch? Against noise of the declared size
    whole run      was a canary trained on? Many canaries, one run, against the claim
    canaries apart the same question, where each canary was seen to have a row of its own, against the declared run

The training loop is user-supplied, in any framework: it gets the records and calls back once a step with numpy arrays.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from audits.training.apart import check_apart
from audits.training.check import TrainingCheck, TrainingVerdict, quiet_verdict
from audits.training.membership import check_run, without_direction
from audits.training.step import check_step
from dpaudit import Claim, Conformity, Finding, Planted, Training, Watch, conform, plant
from dpaudit.model.mechanism import Array

MOST_CHECKS = 4
"""Checks of one run, each at the significance that is given: conformance, one step, the whole run, canaries apart."""

Train = Callable[[Array, Array, Watch, np.random.Generator], None]
"""train(features, labels, watch, rng): trains on the records and calls `watch.step` once for each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAudit:
    """The results of the checks of one run.

    `verdict` is a violation if any check finds one; else that of conformance, which detects the least missing noise,
    and is *more_noise* where the loop adds more than it declares.

    >>> from audits.examples import TRAINING, TRAINING_CLAIM, train_with_little_noise, training_records
    >>> rng = np.random.default_rng(0)
    >>> features, labels = training_records(rng)
    >>> audit = audit_training(
    ...     train_with_little_noise, features, labels,
    ...     training=TRAINING, claim=TRAINING_CLAIM, rng=rng, canaries=200,
    ... )
    >>> audit.findings[0].rule
    'DPA320'
    """

    verdict: TrainingVerdict
    checks: tuple[TrainingCheck, ...]
    conformance: Conformity
    canaries: int
    significance: float
    claim: Claim
    seconds: float

    @property
    def layers(self) -> tuple[TrainingCheck, ...]:
        """The former name of `checks`. Deprecated."""
        return self.checks

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: those of conformance first, then bounds above what is declared or claimed."""
        leaks = (Finding(rule=c.rule, where=c.name, message=c.sentence) for c in self.checks if c.rule)
        return (*self.conformance.findings, *leaks)

    def text(self) -> str:
        """Return the audit in lines of plain text."""
        lines = [f"{self.verdict}: {self.canaries} canaries, significance {self.significance:g} a check"]
        lines += [f"  {check.name}: {check.verdict}. {check.sentence}" for check in self.checks]
        lines += [f"  {finding.rule}: {finding.message}" for finding in self.conformance.findings]
        return "\n".join(lines)


def audit_training(
    train: Train,
    features: Array,
    labels: Array,
    *,
    training: Training,
    claim: Claim,
    rng: np.random.Generator,
    outputs: int = 2,
    width: int | None = None,
    canaries: int = 1000,
    significance: float = 1e-3,
) -> TrainingAudit:
    """Return what one watched run of `train` shows, check by check.

    Canaries are added to the records in feature columns of their own (see `dpaudit.plant`), so that the model's first
    layer must be linear in its features, without normalisation over a batch. `outputs` is the number of classes of a
    linear softmax model; for any other network `width` is the number of units of its first layer, and the loop reports
    that layer's gradient. `training.records` need not count the canaries.
    `claim` is the claim for the whole run, under add_remove or replace_one. Canaries are left out, not replaced; a
    claim under replace_one is about the larger change.
    Guarantee: a run that keeps its declaration and its claim is accused by a check with probability at most
    `significance`. The check of one step assumes Gaussian noise, as declared; that of the whole run assumes nothing.
    Raises: ValueError: shapes that do not fit, or a loop that never called back.

    >>> from audits.examples import TRAINING, TRAINING_CLAIM, train_with_little_noise, training_records
    >>> rng = np.random.default_rng(0)
    >>> features, labels = training_records(rng)
    >>> audit = audit_training(
    ...     train_with_little_noise, features, labels,
    ...     training=TRAINING, claim=TRAINING_CLAIM, rng=rng, canaries=200,
    ... )
    >>> audit.verdict
    'violation'
    """
    started = time.perf_counter()
    planting, training_rng, powers = rng.spawn(3)
    planted = plant(features, labels, outputs=outputs, canaries=canaries, rng=planting, width=width)
    watch = Watch(records=planted.records, slots=planted.slots)
    train(planted.features, planted.labels, watch, training_rng)
    audit = judge(watch, planted, training=training, claim=claim, rng=powers, significance=significance)
    return replace(audit, seconds=time.perf_counter() - started)


def judge(
    watch: Watch,
    planted: Planted,
    *,
    training: Training,
    claim: Claim,
    rng: np.random.Generator,
    significance: float = 1e-3,
) -> TrainingAudit:
    """Return what a run that was already watched shows; errors and guarantee as for `audit_training`.

    >>> from dpaudit import Watch, plant
    >>> from audits.examples import TRAINING, TRAINING_CLAIM, train_with_little_noise, training_records
    >>> rng = np.random.default_rng(0)
    >>> features, labels = training_records(rng)
    >>> planted = plant(features, labels, outputs=2, canaries=200, rng=rng)
    >>> watch = Watch(records=planted.records, slots=planted.slots)
    >>> train_with_little_noise(planted.features, planted.labels, watch, rng)
    >>> judge(watch, planted, training=TRAINING, claim=TRAINING_CLAIM, rng=rng).verdict
    'violation'
    """
    if not watch.steps:
        raise ValueError("The loop never called watch.step; call it once for each step, with the noisy gradient sum.")
    declared = replace(training, records=watch.records)
    conformance = conform(declared, watch, significance=significance)
    whole = check_run(watch.scores(), planted.included, declared, claim, significance, rng)
    checks = (
        _conformance_check(conformance),
        *check_step(watch, declared, claim.delta, significance, rng),
        whole if watch.slots.directed else without_direction(whole),
    )
    if watch.slots.directed and len(planted.included) > 1:
        checks += (check_apart(watch, planted.included, declared, claim, significance),)
    return TrainingAudit(
        verdict="violation" if any(check.verdict == "violation" for check in checks) else checks[0].verdict,
        checks=checks,
        conformance=conformance,
        canaries=len(planted.included),
        significance=significance,
        claim=claim,
        seconds=0.0,
    )


def _conformance_check(conformance: Conformity) -> TrainingCheck:
    """Return the check of conformance."""
    caught = conformance.noise_caught
    if conformance.findings:
        verdict: TrainingVerdict = "violation"
        sentence = " ".join(finding.message for finding in conformance.findings)
    elif conformance.remarks:
        verdict, sentence = "more_noise", " ".join(conformance.remarks)
    else:
        verdict = quiet_verdict(caught)
        sentence = (
            f"Noise below {caught:.4g} times the declared would have been caught."
            if caught
            else "No noise was seen: report `summed`, or leave blank columns in the features."
        )
    return TrainingCheck(name="conformance", verdict=verdict, noise_caught=caught, sentence=sentence)
