"""A training run audited in three layers: what it does, what one step leaks, what the whole run leaks.

    layer 0    conformance: noise, clipping, sampling and steps against the declaration (`dpaudit.training`)
    layer 1    one step's mechanism: was a canary in this batch? Against noise of the declared size
    layer 2    the whole run: was a canary trained on? Many canaries, one run, against the claim

The loop is the user's own, in any framework: it is handed records and calls back once a step with numpy arrays.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from audits.training.canaries import Layer, run_layer, step_layer
from dpaudit import Claim, Conformity, Finding, Planted, Training, Watch, conform, plant
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.mechanism import Array

Train = Callable[[Array, Array, Watch, np.random.Generator], None]
"""train(features, labels, watch, rng): trains on the records and calls `watch.step` once for each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAudit:
    """What three layers say about one run.

    `verdict` is a violation if any layer shows one; else that of conformance, which sees the least missing noise.

    >>> from dpaudit import Training
    >>> def loop(features, labels, watch, rng):
    ...     for _ in range(20):
    ...         batch = np.flatnonzero(rng.random(len(labels)) < 0.1)
    ...         errors = np.eye(2)[1 - labels[batch]] - np.eye(2)[labels[batch]]
    ...         norms = np.linalg.norm(features[batch], axis=1) * np.linalg.norm(errors, axis=1)
    ...         summed = features[batch].T @ (errors * np.minimum(1, 0.1 / norms)[:, None])
    ...         watch.step(summed + 0.05 * rng.standard_normal(summed.shape), summed, batch)  # 0.4 is declared
    >>> rng = np.random.default_rng(0)
    >>> features, labels = rng.uniform(-1, 1, (200, 4)), rng.integers(0, 2, 200)
    >>> declared = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=20, records=200)
    >>> claim = Claim(epsilon=1.0, delta=1e-9, neighbours="add_remove")
    >>> audit = audit_training(loop, features, labels, training=declared, claim=claim, rng=rng, canaries=200)
    >>> audit.findings[0].rule
    'DPA320'
    """

    verdict: AuditVerdict
    layers: tuple[Layer, ...]
    conformance: Conformity
    canaries: int
    significance: float
    claim: Claim
    seconds: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong, by rule: conformance first, then what leaked too much."""
        leaks = (Finding(rule=held.rule, where=held.name, message=held.sentence) for held in self.layers if held.rule)
        return (*self.conformance.findings, *leaks)

    def text(self) -> str:
        """Return the audit in lines of plain text."""
        lines = [f"{self.verdict}: {self.canaries} canaries, significance {self.significance:g} a layer"]
        lines += [f"  {held.name}: {held.verdict}. {held.sentence}" for held in self.layers]
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
    canaries: int = 1000,
    significance: float = 1e-3,
) -> TrainingAudit:
    """Return what one watched run of `train` shows, layer by layer.

    Canaries are added to the records in feature columns of their own (see `dpaudit.plant`), so that the model's first
    layer must be linear in its features, without normalisation over a batch. `training.records` need not count them.
    `claim` is what is promised of the whole run, for add_remove or replace_one alike: a canary that is left out is
    absent, and a claim for replacement is about more.
    Guarantee: a run that keeps its declaration and its claim is accused by a layer with probability at most
    `significance`. Layer 1 takes the noise to be Gaussian, as declared; layer 2 takes nothing for granted.
    Raises: ValueError: shapes that do not fit, or a loop that never called back.

    >>> from dpaudit import Training
    >>> def loop(features, labels, watch, rng):
    ...     for _ in range(20):
    ...         batch = np.flatnonzero(rng.random(len(labels)) < 0.1)
    ...         errors = np.eye(2)[1 - labels[batch]] - np.eye(2)[labels[batch]]
    ...         norms = np.linalg.norm(features[batch], axis=1) * np.linalg.norm(errors, axis=1)
    ...         summed = features[batch].T @ (errors * np.minimum(1, 0.1 / norms)[:, None])
    ...         watch.step(summed + 0.05 * rng.standard_normal(summed.shape), summed, batch)  # 0.4 is declared
    >>> rng = np.random.default_rng(0)
    >>> features, labels = rng.uniform(-1, 1, (200, 4)), rng.integers(0, 2, 200)
    >>> declared = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=20, records=200)
    >>> claim = Claim(epsilon=1.0, delta=1e-9, neighbours="add_remove")
    >>> audit_training(loop, features, labels, training=declared, claim=claim, rng=rng, canaries=200).verdict
    'violation'
    """
    started = time.perf_counter()
    planting, training_rng, powers = rng.spawn(3)
    planted = plant(features, labels, outputs=outputs, canaries=canaries, rng=planting)
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
    """Return what a run that was watched before shows; errors and guarantee as for `audit_training`.

    >>> from dpaudit import Training, Watch, plant
    >>> def loop(features, labels, watch, rng):
    ...     for _ in range(20):
    ...         batch = np.flatnonzero(rng.random(len(labels)) < 0.1)
    ...         errors = np.eye(2)[1 - labels[batch]] - np.eye(2)[labels[batch]]
    ...         norms = np.linalg.norm(features[batch], axis=1) * np.linalg.norm(errors, axis=1)
    ...         summed = features[batch].T @ (errors * np.minimum(1, 0.1 / norms)[:, None])
    ...         watch.step(summed + 0.05 * rng.standard_normal(summed.shape), summed, batch)  # 0.4 is declared
    >>> rng = np.random.default_rng(0)
    >>> features, labels = rng.uniform(-1, 1, (200, 4)), rng.integers(0, 2, 200)
    >>> declared = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=20, records=200)
    >>> claim = Claim(epsilon=1.0, delta=1e-9, neighbours="add_remove")
    >>> planted = plant(features, labels, outputs=2, canaries=200, rng=rng)
    >>> watch = Watch(records=planted.records, slots=planted.slots)
    >>> loop(planted.features, planted.labels, watch, rng)
    >>> judge(watch, planted, training=declared, claim=claim, rng=rng).verdict
    'violation'
    """
    if not watch.steps:
        raise ValueError("The loop never called watch.step; call it once for each step, with the noisy gradient sum.")
    declared = replace(training, records=watch.records)
    conformance = conform(declared, watch, significance=significance)
    layers = (
        _conformance_layer(conformance),
        *step_layer(watch, declared, claim.delta, significance, rng),
        run_layer(watch.scores(), planted.included, declared, claim, significance, rng),
    )
    return TrainingAudit(
        verdict="violation" if any(held.verdict == "violation" for held in layers) else layers[0].verdict,
        layers=layers,
        conformance=conformance,
        canaries=len(planted.included),
        significance=significance,
        claim=claim,
        seconds=0.0,
    )


def _conformance_layer(conformance: Conformity) -> Layer:
    """Return layer 0."""
    caught = conformance.noise_caught
    if conformance.findings:
        verdict: AuditVerdict = "violation"
        sentence = " ".join(finding.message for finding in conformance.findings)
    else:
        verdict = "consistent" if caught else "inconclusive"
        sentence = (
            f"Noise below {caught:.4g} times the declared would have been caught."
            if caught
            else "No noise was seen: report `summed`, or leave blank columns in the features."
        )
    return Layer(name="conformance", verdict=verdict, noise_caught=caught, sentence=sentence)
