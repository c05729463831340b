"""A watched training loop in three layers: a right loop passes with its power stated, a wrong one is named."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audits import audit_training
from audits.training.membership import check_run
from audits.training.training_audit import FirstLayer
from audits.training.training_result import TrainingAudit
from benchmarks.known_bugs.loops import (
    CLAIM,
    FIXED,
    TRAINING,
    Loop,
    declared,
    of_the_mean,
    seeded,
    shuffled,
    whole_batch,
)
from dpaudit import Claim
from dpaudit.model.mechanism import Array
from dpaudit.training import Conformity, Training, Watch, conform, gradient_canaries, plant

FALSE_ALARM = 1e-7
"""A layer's chance to accuse a right loop; ten layers are looked at here, with fixed seeds."""


def records() -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    features = rng.uniform(-1, 1, (TRAINING.records, 6))
    return features, (features[:, 0] > 0).astype(np.int64)


def audited(
    loop: Loop, training: Training = TRAINING, seed: int = 0, significance: float = FALSE_ALARM
) -> TrainingAudit:
    features, labels = records()
    return audit_training(
        loop,
        features,
        labels,
        training=training,
        claim=CLAIM,
        rng=np.random.default_rng(seed),
        canaries=400,
        significance=significance,
    )


def rules(audit: TrainingAudit) -> set[Any]:
    return {finding.rule for finding in audit.findings}


def test_a_right_loop_is_consistent_and_says_what_it_would_have_caught() -> None:
    """No layer accuses it, and every layer that calls it consistent names a factor of missing noise."""
    audit = audited(FIXED)
    assert audit.verdict == "consistent"
    assert not audit.findings
    assert audit.without_result == ("canaries apart",)
    bare = replace(audit, checks=audit.checks[:1])
    assert bare.without_result == ("one step", "whole run", "canaries apart")
    assert "without a result: one step, whole run, canaries apart" in bare.text()
    for layer in audit.checks:
        assert (layer.verdict == "consistent") == (layer.noise_caught > 0)
        assert layer.verdict != "consistent" or f"below {layer.noise_caught:.1}"[:8] in layer.sentence


def test_a_check_by_canaries_names_its_run_and_a_check_that_was_not_made_is_listed() -> None:
    """Canaries change the number of records, and with a loader rate and steps: an epsilon of them is of that run."""
    evidence = audited(FIXED).evidence()
    by_canaries = [check for check in evidence.checks if check.name != "conformance"]
    assert {check.name for check in by_canaries} == {"one step", "whole run", "canaries apart"}
    assert all("In a run with canaries (" in c.sentence for c in by_canaries if c.noise_caught)
    without = replace(audited(FIXED), checks=())
    assert [check.sentence[:15] for check in without.evidence().checks] == ["It was not made"] * 3


def test_noise_at_the_factor_of_layer_0_is_caught_nine_times_in_ten() -> None:
    """The stated power is kept: with that factor of noise, at least 7 of 10 loops are accused (nine expected)."""
    caught = audited(FIXED).checks[0].noise_caught
    assert 0.85 < caught < 1
    weak = replace(FIXED, noise=lambda shape, batch, rng: caught * declared(shape, batch, rng))
    assert sum("DPA212" in rules(audited(weak, seed=seed)) for seed in range(10)) >= 7


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (replace(FIXED, noise=of_the_mean), "DPA212"),
        (replace(FIXED, clipped=whole_batch), "DPA220"),
        (replace(FIXED, batches=shuffled), "DPA326"),
        (replace(FIXED, batches=lambda n, rng: FIXED.batches(n, rng)[:-3]), "DPA213"),
        (replace(FIXED, noise=seeded), "DPA227"),
    ],
)
def test_each_fault_of_a_loop_has_its_rule(broken: Loop, rule: str) -> None:
    """Noise, clipping, independence, steps and freshness: one twin each."""
    audit = audited(broken)
    assert audit.verdict == "violation"
    assert rule in rules(audit)


def test_another_rate_than_declared_is_named() -> None:
    """A declaration with half the rate that the loop draws with."""
    assert "DPA326" in rules(audited(FIXED, replace(TRAINING, sample_rate=0.05)))


def test_a_step_without_clipping_leaks_more_than_its_noise_allows() -> None:
    """Layer 1 and layer 2 see a canary that fills the batch's norm, whatever layer 0 says."""
    audit = audited(replace(FIXED, clipped=whole_batch), significance=1e-6)
    leaks = {finding.where for finding in audit.findings if finding.rule == "DPA301"}
    assert {"one step", "whole run"} <= leaks


def test_a_loop_that_never_calls_back_is_refused() -> None:
    """Nothing was seen, so nothing is said."""
    features, labels = records()
    with pytest.raises(ValueError, match=r"watch\.step"):
        audit_training(lambda *_: None, features, labels, training=TRAINING, claim=CLAIM, rng=np.random.default_rng(0))


def test_a_layer_without_power_is_inconclusive_not_consistent() -> None:
    """Against a claim of epsilon 30 no count of 4 canaries says anything."""
    rng = np.random.default_rng(0)
    claim = Claim(epsilon=30.0, delta=1e-5, neighbours="add_remove")
    layer = check_run(rng.normal(size=4), rng.random(4) < 0.5, TRAINING, claim, 0.01, rng)
    assert (layer.verdict, layer.noise_caught) == ("inconclusive", 0.0)


def test_what_a_loop_does_not_report_stays_assumed() -> None:
    """Without batches and without blank rows, only the steps are looked at."""
    watch = Watch(records=10)
    for _ in range(3):
        watch.step(np.ones((4, 2)))
    seen = conform(Training(noise_multiplier=1, max_grad_norm=1, sample_rate=0.1, steps=3, records=10), watch)
    assert seen.unseen == ("noise", "clipping norm", "sampling rate")
    assert [c.status for c in seen.conditions()].count("assumed") == 3


def test_canaries_may_be_gradients_of_any_model() -> None:
    """A loop that takes per-record gradients apart appends coordinates of its own; missing clipping is named."""
    rng = np.random.default_rng(3)
    slots, coins = gradient_canaries(500, 60, 8, rng)
    members = slots.members[coins]

    def run(norm: float) -> Conformity:
        watch = Watch(records=500 + len(members), slots=slots)
        for _ in range(TRAINING.steps):
            batch = np.flatnonzero(rng.random(watch.records) < TRAINING.sample_rate)
            summed = np.zeros((68, 1))
            for place in np.flatnonzero(np.isin(slots.members, batch)):
                summed[slots.canaries[place]] = norm
            watch.step(summed + TRAINING.stddev * rng.standard_normal(summed.shape), summed, batch)
        return conform(replace(TRAINING, records=watch.records), watch)

    assert not run(TRAINING.max_grad_norm).findings
    assert [finding.rule for finding in run(1.0).findings] == ["DPA220"]


def test_planted_canaries_touch_only_their_own_columns() -> None:
    """Each record is one-hot beyond the data's columns, blanks stay blank, and coins say who is in."""
    features, labels = records()
    planted = plant(features, labels, outputs=2, canaries=50, rng=np.random.default_rng(1), blanks=5)
    assert planted.records == TRAINING.records + planted.included.sum()
    assert not planted.features[: TRAINING.records, 6:].any()
    assert not planted.features[:, planted.slots.blanks].any()
    rows = planted.features[TRAINING.records :]
    assert (np.count_nonzero(rows, axis=1) == 1).all()
    assert ((planted.slots.members >= 0) == planted.included).all()


def test_what_no_noise_covers_has_a_rule_each() -> None:
    """NaN, an empty batch without noise, a record twice, a logged loss; the right loop has none."""
    rng = np.random.default_rng(0)

    def seen(kind: str = "") -> set[str]:
        watch = Watch(records=50)
        for step in range(30):
            batch = np.flatnonzero(rng.random(50) < 0.1)
            summed, noise = np.ones((20, 2)), rng.normal(0, 0.4, (20, 2))
            if kind == "NaN" and step in (3, 7):
                summed[0, 0] = np.nan
            if kind == "empty" and step == 3:
                batch, noise = batch[:0], np.zeros((20, 2))
            if kind == "twice" and step == 3:
                batch = np.array([1, 2, 1])
            watch.step(summed + noise, summed, batch)
        if kind == "logged":
            watch.publish("loss of the batch")
        training = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=30, records=50)
        return {finding.rule for finding in conform(training, watch, significance=1e-9).findings}

    assert seen() == set()
    expected = {"NaN": "DPA220", "empty": "DPA229", "twice": "DPA228", "logged": "DPA224"}
    for kind, rule in expected.items():
        assert rule in seen(kind), kind
        assert seen(kind) <= {rule, "DPA212"}, kind


def test_gradient_accumulation_falls() -> None:
    """Two samples to a step, accounted for as one: records stand twice, and the rate is not the declared one."""

    def doubled(records: int, stream: np.random.Generator) -> list[Array]:
        first, second = FIXED.batches(records, stream), FIXED.batches(records, stream)
        return [np.concatenate(pair) for pair in zip(first, second, strict=True)]

    assert {"DPA228", "DPA326"} <= rules(audited(replace(FIXED, batches=doubled)))


class Network:
    """A network of one hidden layer in numpy, with clipped gradients and noise; reports both layers."""

    def __init__(self, noise: float) -> None:
        self.noise = noise

    def __call__(self, features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> tuple[Array, Array]:
        first = rng.normal(0, 0.3, (features.shape[1], 8))
        second = rng.normal(0, 0.3, (8, 2))
        for _ in range(TRAINING.steps):
            batch = np.flatnonzero(rng.random(len(labels)) < TRAINING.sample_rate)
            x = features[batch]
            hidden = np.tanh(x @ first)
            logits = hidden @ second
            chance = np.exp(logits - logits.max(axis=1, keepdims=True))
            errors = chance / chance.sum(axis=1, keepdims=True) - np.eye(2)[labels[batch]]
            back = (errors @ second.T) * (1 - hidden**2)
            grad1, grad2 = x[:, :, None] * back[:, None, :], hidden[:, :, None] * errors[:, None, :]
            norms = np.sqrt((grad1**2).sum(axis=(1, 2)) + (grad2**2).sum(axis=(1, 2)))
            factor = np.minimum(1, TRAINING.max_grad_norm / np.maximum(norms, 1e-12))
            sums = [np.einsum("n,nij->ij", factor, grad) for grad in (grad1, grad2)]
            noisy = [total + self.noise * TRAINING.stddev * rng.standard_normal(total.shape) for total in sums]
            given = watch.step({"first": noisy[0], "second": noisy[1]}, {"first": sums[0], "second": sums[1]}, batch)
            first -= 0.01 * given["first"]
            second -= 0.01 * given["second"]
        return first, second


def network_audit(noise: float) -> TrainingAudit:
    features, labels = records()
    return audit_training(
        Network(noise),
        features,
        labels,
        training=TRAINING,
        claim=CLAIM,
        rng=np.random.default_rng(1),
        canaries=60,
        significance=FALSE_ALARM,
    )


def test_any_network_can_be_audited() -> None:
    """A hidden layer of 8 units: right noise is not accused, 0.8 times the noise is; its run has no stated power."""
    right = network_audit(1.0)
    assert (right.verdict, right.findings, right.unseen) == ("consistent", (), ())
    assert right.checks[-1].verdict == "inconclusive"
    assert "directions" in right.checks[-1].sentence
    assert "DPA212" in rules(network_audit(0.8))


def test_shapes_are_checked_in_words() -> None:
    """Labels that are no classes, and sums of another shape."""
    with pytest.raises(ValueError, match="Expected labels to be classes from 0 to outputs=2 less 1, got 0 to 2"):
        plant(np.zeros((3, 2)), np.array([0, 1, 2]), outputs=2, canaries=2, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="summed in the shape of released"):
        Watch(records=1).step(np.zeros((3, 2)), np.zeros((2, 3)))


def test_a_loop_without_canaries_is_audited_by_its_replays() -> None:
    """Features that are no table, and a loop that takes no further columns: no canary, and the rest is looked at."""

    def images(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> tuple[Array, Array]:
        return Network(1.0)(features.reshape(len(features), -1), labels, watch, rng)

    def narrow(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> tuple[Array, Array]:
        if features.shape[1] != 6:
            raise ValueError("six columns are known")
        return Network(1.0)(features, labels, watch, rng)

    features, labels = records()
    for train, given, reason in ((images, features.reshape(-1, 2, 3), "no table"), (narrow, features, "six columns")):
        rng = np.random.default_rng(2)
        audit = audit_training(train, given, labels, training=TRAINING, claim=CLAIM, rng=rng, significance=FALSE_ALARM)
        assert (audit.verdict, audit.canaries, audit.unseen) == ("consistent", 0, ())
        assert reason in audit.checks[1].sentence


def test_wrong_labels_are_refused_before_they_are_planted() -> None:
    """More classes than `outputs` is a usage error, and no missing canary."""
    features, labels = records()
    with pytest.raises(ValueError, match="Expected labels to be classes from 0 to outputs=2 less 1"):
        audit_training(
            FIXED,
            features,
            labels + 1,
            training=TRAINING,
            claim=CLAIM,
            rng=np.random.default_rng(0),
            first_layer=FirstLayer(outputs=2),
        )
