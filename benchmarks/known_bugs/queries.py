"""Bugs of the query: it is more sensitive than declared, or it reads the data in other ways."""

from typing import Any

import numpy as np

from audits.checks.paired_replay import Tape
from benchmarks.known_bugs.known_bug import KnownBug, Variant, by_replay, mechanism
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Finding


def _laplace(scale: float, sensitivity: float, neighbours: str = "replace_one") -> Any:
    return mechanism("laplace", scale=scale, l1_sensitivity=sensitivity, neighbours=neighbours)


def _records(rng: np.random.Generator, low: float, high: float, count: int = 20) -> Array:
    return rng.uniform(low, high, count)


def _changed(records: Array, value: float) -> Array:
    other = records.copy()
    other[0] = value
    return other


def _replaced(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Values in [-1, 1]: adding one moves a sum by 1, replacing one by 2."""
    sensitivity = 1.0 if variant == "broken" else 2.0
    data = _changed(_records(rng, -1, 1), -1.0)

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        return tape.release("sum", _laplace(sensitivity, sensitivity), np.array([np.clip(records, -1, 1).sum()]))

    return by_replay(run, (data, _changed(data, 1.0)), rng)


def _lower_bound(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """A sensitivity computed from the lower bound alone, which is 0 for values in [0, 100]."""
    low, high = 0.0, 100.0
    sensitivity = max(abs(low), 1e-6) if variant == "broken" else high - low
    data = _changed(_records(rng, low, high), low)

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        return tape.release("sum", _laplace(1.0, sensitivity), np.array([np.clip(records, low, high).sum()]))

    return by_replay(run, (data, _changed(data, high)), rng)


def _own_maximum(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Values clipped to the largest one that occurs, with noise in proportion: the noise gives it away."""
    data = _records(rng, 0, 1)

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        limit = float(np.abs(records).max()) if variant == "broken" else 1.0
        return tape.release("sum", _laplace(limit, limit), np.array([np.clip(records, 0, limit).sum()]))

    return by_replay(run, (data, _changed(data, 5.0)), rng)


def _domain(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """A histogram over the categories that occur: a record with one of its own adds a bin."""
    data = rng.integers(0, 3, 20)
    data[:3] = (0, 1, 2)
    other = data.copy()
    other[5] = 7

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        bins = np.unique(records) if variant == "broken" else np.arange(8)
        counts = (records[:, None] == bins).sum(axis=0).astype(float)
        return tape.release("histogram", _laplace(2.0, 2.0), counts)

    return by_replay(run, (data, other), rng)


def _length(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """One release for each ten records: how many there are is published exactly."""
    data = _records(rng, 0, 1, 30)
    longest = 8

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        parts = -(-len(records) // 10) if variant == "broken" else longest
        for part in range(parts):
            total = np.array([np.clip(records[part * 10 : part * 10 + 10], 0, 1).sum()])
            tape.release(f"part {part}", _laplace(1.0, 1.0, "add_remove"), total)
        return None

    return by_replay(run, (data, np.append(data, 0.5)), rng)


def _true_count(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """A noisy sum averaged over the true number of records, as by an expected batch size read off the data set."""
    data = _records(rng, 0, 1)

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        total = tape.release("sum", _laplace(1.0, 1.0, "add_remove"), np.array([np.clip(records, 0, 1).sum()]))
        return total / (len(records) if variant == "broken" else 20)

    return by_replay(run, (data, np.append(data, 0.0)), rng)


def _not_a_number(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """NaN passes np.clip; one record turns the answer into NaN, whatever the noise."""
    data = _records(rng, 0, 1)

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        clipped = np.clip(records, 0, 1) if variant == "broken" else np.clip(np.nan_to_num(records), 0, 1)
        return tape.release("sum", _laplace(1.0, 1.0), np.array([clipped.sum()]))

    return by_replay(run, (data, _changed(data, np.nan)), rng)


def _joint(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """A recommender whose other users are shown the best item of the exact counts, target's own vote included."""
    votes = rng.integers(0, 2, 20)
    votes[0] = 0
    other = votes.copy()
    other[0] = 1
    balanced = (np.concatenate([votes[:1], np.arange(20) % 2]), np.concatenate([other[:1], np.arange(20) % 2]))

    def run(records: Array, tape: Tape, _: np.random.Generator) -> Any:
        counts = np.bincount(records, minlength=2).astype(float)
        noisy = tape.release("counts", _laplace(2.0, 2.0), counts)
        shown = int(np.argmax(counts if variant == "broken" else noisy))
        return {"noisy counts": noisy, "shown to the others": np.full(len(records) - 1, shown)}

    return by_replay(run, balanced, rng)


_ROWS = (
    ("replace-one scale", "sensitivity", "noise calibrated for add-remove, claim for replace-one", _replaced),
    ("sensitivity from one bound", "sensitivity", "diffprivlib's regression: 0 for bounds (0, 100)", _lower_bound),
    ("clip at the data's maximum", "clipping", "found in several libraries of 12 (arXiv 2602.17454)", _own_maximum),
    ("domain inferred from data", "domain inference", "histograms and synthetic data without a stated domain", _domain),
    ("length decided by the data", "data-dependent length", "one noisy answer a block of records", _length),
    ("true count in the denominator", "data-dependent length", "Opacus' expected batch size tells n", _true_count),
    ("NaN passes the clip", "clipping", "np.clip and torch.clamp keep NaN", _not_a_number),
    ("own vote shown to others", "joint model", "post-processing that reads the data again", _joint),
)
BUGS = tuple(
    KnownBug(name=name, family=family, story=story, path="replay", look=look) for name, family, story, look in _ROWS
)
