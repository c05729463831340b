"""The audit of a training loop: what it does on the records as they are, in replays, and with canaries.

    conformance    noise, clipping, sampling and steps against the declaration (`dpaudit.training`)
    replays        other records and the same noisy sums: whatever is published must stay (`audits.training.replayed`)
    one step       was a canary in this batch? Against noise of the declared size
    whole run      was a canary trained on? Many canaries, one run, against the claim
    canaries apart the same question, where each canary was seen to have a row of its own, against the declared run

The training loop is user-supplied, in any framework: it gets the records and a watch, which it attaches to its
optimizer or calls once a step, and returns what it publishes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from audits.experiment.global_generators import seeded
from audits.outputs.raised import said_by
from audits.training.apart import check_apart
from audits.training.check import power_sentence, quiet_verdict, without_result
from audits.training.membership import check_run, without_direction
from audits.training.replay_data import Records
from audits.training.replay_runs import Run, Start, ended
from audits.training.replayed import Replay, replay_loop
from audits.training.step import check_step
from audits.training.training_result import TrainingAudit
from dpaudit import Claim, training_epsilon
from dpaudit.model.mechanism import Array
from dpaudit.training import Conformity, Planted, Training, Watch, conform, plant
from dpaudit.training.evidence import LoopCheck, TrainingVerdict

_NO_STEPS = "The loop never called watch.step; attach the watch, or call it once a step with the noisy gradient sum."

_TABLE = 2

MOST_CHECKS = 4
"""Checks of one run, each at the significance that is given: conformance, one step, the whole run, canaries apart."""

Train = Callable[[Array, Array, Watch, np.random.Generator], Any]
"""train(features, labels, watch, rng): trains on the records, reports each step to `watch`, and returns what it
publishes: the model, or weights, losses and whatever else leaves the loop. It draws all randomness from `rng`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLayer:
    """What the first layer of a model gives: the number of classes, and the number of its units where it gives none.

    Without `outputs` the classes are those of the labels. Without `width` the model is a linear softmax layer, of which
    a canary moves a row in a known direction; `width` says that it is another one.
    """

    outputs: int | None = None
    width: int | None = None


def audit_training(
    train: Train,
    features: Array,
    labels: Array,
    *,
    training: Training,
    claim: Claim,
    rng: np.random.Generator,
    first_layer: FirstLayer = FirstLayer(),
    canaries: int = 1000,
    significance: float = 1e-3,
) -> TrainingAudit:
    """Return what runs of `train` show: on the records as they are, in replays, and with canaries, check by check.

    The loop runs about ten times: take a small model and few steps. `training` is about the records as given.
    In the last run canaries are added to the records in feature columns of their own (see `dpaudit.training.plant`), so
    that the model's first layer must be linear in its features, without normalisation over a batch; rate and steps are
    then those that the attached loader states. A loop that cannot take further columns is audited without canaries.
    Of a network that is attached with several layers no direction of a canary's row is taken for granted; elsewhere
    `first_layer` says that the model is no linear one.
    `claim` is the claim for the whole run, under add_remove or replace_one. Canaries are left out, not replaced; a
    claim under replace_one is about the larger change.
    Guarantee: a run that keeps its declaration and its claim is flagged by a check with probability at most
    `significance`. The check of one step assumes Gaussian noise, as declared; that of the whole run assumes nothing.
    Replays leave nothing to chance, see `replay_loop`.
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
    planting, canary_rng, powers, replays = rng.spawn(4)
    records = Records(features=np.asarray(features), labels=np.asarray(labels))
    planted = _planted(records, first_layer, canaries, planting)
    plain = _run(train, records, Watch(records=len(records.labels)), replays)
    if not plain.watch.steps:
        raise ValueError(_NO_STEPS)
    declared = replace(training, records=len(records.labels))
    conformance = conform(declared, plain.watch, significance=significance / 2)
    replay = replay_loop(plain, declared, replays)
    watch = None if planted is None else Watch(records=planted.records, slots=planted.slots)
    said = "the features are no table, or the labels no classes"
    try:
        if planted is not None and watch is not None:
            _run(train, Records(features=planted.features, labels=planted.labels), watch, canary_rng)
    except Exception as error:  # a loop that takes no further columns is audited without canaries
        watch, said = None, said_by(error)
    if planted is None or watch is None:
        audit = _audit(_merged(conformance, None, replay), (_without_canaries(said),), replay, claim, 0, significance)
    else:
        loaded = _as_loaded(declared, claim, watch)
        attacked = conform(loaded[0], watch, significance=significance / 2)
        checks = _attacks(watch, planted, *loaded, powers, significance)
        merged = _merged(conformance, attacked, replay)
        audit = _audit(merged, checks, replay, claim, len(planted.included), significance)
    return replace(audit, untrained=plain.untrained, seconds=time.perf_counter() - started)


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

    >>> from dpaudit.training import Watch, plant
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
        raise ValueError(_NO_STEPS)
    declared = replace(training, records=watch.records)
    conformance = conform(declared, watch, significance=significance)
    checks = _attacks(watch, planted, declared, claim, rng, significance)
    replay = Replay(findings=(), unseen=("replays: give the loop to audit_training",), compared=())
    return _audit(conformance, checks, replay, claim, len(planted.included), significance)


def _run(train: Train, records: Records, watch: Watch, rng: np.random.Generator) -> Run:
    """Return a run of the loop that is not replayed; what it raises and prints passes."""
    seed = int(rng.integers(2**31))
    with seeded(seed):
        returned = train(records.features.copy(), records.labels.copy(), watch, np.random.default_rng(seed))
    return ended(Start(train=train, records=records, seed=seed), watch, returned)


def _planted(records: Records, first_layer: FirstLayer, canaries: int, rng: np.random.Generator) -> Planted | None:
    """Return the records with canaries; nothing where features are no table, or labels no classes."""
    features, labels = records.features, records.labels
    classes = labels.ndim == 1 and labels.dtype.kind in "iufb" and not (labels != np.round(labels)).any()
    if features.ndim != _TABLE or not classes:
        return None
    outputs = first_layer.outputs or max(2, int(np.max(labels, initial=0)) + 1)
    return plant(features, labels, outputs=outputs, canaries=canaries, rng=rng, width=first_layer.width)


def _as_loaded(declared: Training, claim: Claim, watch: Watch) -> tuple[Training, Claim]:
    """Return what is declared and claimed of a run with canaries: they change rate and steps of a loader.

    So they do with noise that an engine computes from the loader. The declared noise itself is looked at on the records
    as they are. The claim of such a run is not below what its own noise, rate and steps deliver; noise that delivers
    no finite epsilon is not the engine's answer to a claim, and the declared noise stands.
    """
    if watch.loader is None or not watch.steps or claim.delta == 0:
        return replace(declared, records=watch.records), claim
    run = replace(declared, records=watch.records, sample_rate=watch.loader.rate, steps=watch.steps)
    for noise in (watch.loader.noise_multiplier, declared.noise_multiplier):
        loaded = replace(run, noise_multiplier=noise or declared.noise_multiplier)
        epsilon = training_epsilon(loaded, claim.delta)[1]
        if isfinite(epsilon):
            return loaded, replace(claim, epsilon=max(claim.epsilon, epsilon))
    return run, claim


def _attacks(
    watch: Watch, planted: Planted, declared: Training, claim: Claim, rng: np.random.Generator, significance: float
) -> tuple[LoopCheck, ...]:
    """Return the checks by canaries."""
    run_check = check_run(watch.scores(), planted.included, declared, claim, significance, rng)
    checks = (
        *check_step(watch, declared, claim.delta, significance, rng),
        run_check if watch.slots.directed else without_direction(run_check),
    )
    if watch.slots.directed and len(planted.included) > 1:
        checks += (check_apart(watch, planted.included, declared, claim, significance),)
    run = f"{declared.records:,} records, {declared.steps} steps at rate {declared.sample_rate:.4g}"
    return tuple(replace(check, sentence=f"In a run with canaries ({run}): {check.sentence}") for check in checks)


def _without_canaries(said: str) -> LoopCheck:
    """Return the check of a loop that does not run with canaries."""
    sentence = f"The loop did not run with canaries, which are further columns and records: {said.rstrip('.')}."
    return without_result("whole run", sentence)


def _merged(plain: Conformity, attacked: Conformity | None, replay: Replay) -> Conformity:
    """Return the checks on the records as they are, and those with canaries that add something to them."""
    names = {check.name for check in plain.checks}
    wrong = {check.name for check in plain.checks if check.rule}
    more = () if attacked is None else attacked.checks
    others = tuple(check for check in more if check.name not in (wrong if check.rule else names))
    seen = {"clipping norm"} if replay.sums else set[str]()
    unseen = tuple(what for what in plain.unseen if what not in seen and (attacked is None or what in attacked.unseen))
    return Conformity(checks=(*plain.checks, *others), unseen=unseen, significance=plain.significance)


def _audit(
    conformance: Conformity,
    checks: tuple[LoopCheck, ...],
    replay: Replay,
    claim: Claim,
    canaries: int,
    significance: float,
) -> TrainingAudit:
    """Return the audit of all that was seen."""
    every = (_conformance_check(conformance), *checks)
    unseen = (*conformance.unseen, *replay.unseen)
    verdict: TrainingVerdict = "inconclusive" if unseen else every[0].verdict
    if replay.findings or any(check.verdict == "violation" for check in every):
        verdict = "violation"
    return TrainingAudit(
        verdict=verdict,
        checks=every,
        conformance=conformance,
        canaries=canaries,
        significance=significance,
        claim=claim,
        seconds=0.0,
        replayed=replay.findings,
        watched=replay.compared,
        unseen=unseen,
    )


def _conformance_check(conformance: Conformity) -> LoopCheck:
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
            power_sentence(caught)
            if caught
            else "No noise was seen: report `summed`, or leave blank columns in the features."
        )
    return LoopCheck(name="conformance", verdict=verdict, epsilon_lower=0.0, noise_caught=caught, sentence=sentence)
