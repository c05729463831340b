"""Replay on neighbours: facts without statistics, each with the defect it must catch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audits.checks.paired_replay import Tape, replay_neighbours
from audits.experiment.equality import same
from audits.replay.coverage_pairs import coverage_pairs
from dpaudit import Parallel, Release
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian

NOISE = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")


class Carried(Gaussian):
    """Noise of one draw for all answers."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the answer with the noise of a generator of its own."""
        return Gaussian.release(self, value, np.random.default_rng(5))


FIRST = np.linspace(-0.5, 0.5, 50)
SECOND = np.concatenate([[0.5], FIRST[1:]])


def clipped(data: Array) -> Array:
    return np.clip(np.nan_to_num(data, nan=0.0, posinf=0.5, neginf=-0.5), -0.5, 0.5)


def honest(data: Array, tape: Tape, rng: np.random.Generator) -> dict[str, Any]:
    total = tape.release("sum", NOISE, clipped(data).sum())
    jitter = rng.standard_normal()
    return {"mean": total / 50, "jitter": jitter}


def rules(
    function: Callable[..., Any], neighbours: tuple[Array, Array] = (FIRST, SECOND), declaration: Parallel | None = None
) -> set[str]:
    found = replay_neighbours(function, neighbours, np.random.default_rng(0), declaration=declaration)
    return {finding.rule for finding in found}


def test_an_honest_sum_is_clean_on_every_pair_that_covers_its_data() -> None:
    """Clipping and NaN handling leave nothing to find."""
    pairs = {pair.says: pair.neighbours for pair in coverage_pairs(FIRST, "replace_one")}
    assert {"one record holds NaN", "one record holds infinity"} <= pairs.keys()
    assert all(rules(honest, pair) == set() for pair in pairs.values())


def test_a_missing_clip_is_found_by_some_covering_pair() -> None:
    """An unclipped sum moves without bound, and NaN counts as infinitely far."""

    def unclipped(data: Array, tape: Tape, rng: np.random.Generator) -> Any:
        return tape.release("sum", NOISE, data.sum())

    found = {pair.says: rules(unclipped, pair.neighbours) for pair in coverage_pairs(FIRST, "replace_one")}
    wild = ("NaN", "infinity", "a value far above the others")
    assert all(found[f"one record holds {value}"] == {"DPA220"} for value in wild)
    assert found["one record holds the largest value, 0.5, or the smallest value, -0.5"] == set()


def test_nan_is_infinitely_far() -> None:
    """`NaN > limit` is false; the distance is infinite instead, and that of a vector is its norm."""

    def as_is(data: Array, tape: Tape, rng: np.random.Generator) -> Any:
        return tape.release("vector", NOISE, data)

    zeros = np.zeros(2)
    assert rules(as_is, (np.array([0.0, np.nan]), zeros)) == {"DPA220"}
    assert rules(as_is, (np.zeros(3), zeros)) == {"DPA221"}
    assert rules(as_is, (np.full(2, 0.7), zeros)) == set()
    assert rules(as_is, (np.full(2, 0.8), zeros)) == {"DPA220"}


def twice(data: Array, tape: Tape, rng: np.random.Generator) -> Any:
    return tape.release("sum", NOISE, 2 * clipped(data).sum())


def branching(data: Array, tape: Tape, rng: np.random.Generator) -> None:
    tape.release("sum", NOISE, clipped(data).sum())
    if data[0] > 0:
        tape.release("more", NOISE, np.array(0.0))


def data_dependent_noise(data: Array, tape: Tape, rng: np.random.Generator) -> Any:
    return tape.release("sum", NOISE.scaled(2 + float(data[0])), clipped(data).sum())


def length_leak(data: Array, tape: Tape, rng: np.random.Generator) -> Any:
    return tape.release("values", NOISE, np.zeros(int((data == 0.5).sum())))


def reads_behind(data: Array, tape: Any, rng: np.random.Generator | None) -> Array:
    tape.release("sum", NOISE, clipped(data).sum())
    return np.concatenate([np.zeros(3000), data[:1], np.zeros(3000)])


def draws_more(data: Array, tape: Tape, rng: np.random.Generator) -> None:
    tape.release("sum", NOISE, clipped(data).sum())
    rng.standard_normal(int(data[0] > 0) + 1)


def reuses_noise(data: Array, tape: Tape, rng: np.random.Generator) -> None:
    for label in ("sum", "again"):
        tape.release(label, Carried(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one"), clipped(data).sum())


@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (twice, "DPA220"),
        (branching, "DPA221"),
        (data_dependent_noise, "DPA221"),
        (length_leak, "DPA221"),
        (reads_behind, "DPA224"),
        (draws_more, "DPA221"),
        (reuses_noise, "DPA227"),
    ],
)
def test_each_defect_has_its_rule(function: Callable[..., Any], rule: str) -> None:
    """One planted defect, one finding; the value elided in a long array's print is among them."""
    assert rule in rules(function)
    if function is reads_behind:
        long_first, long_second = (reads_behind(data, _Deaf(), None) for data in (FIRST, SECOND))
        assert str(long_first) == str(long_second)


class _Deaf:
    def release(self, label: str, mechanism: Gaussian, value: Array, times: int = 1) -> Array:
        return value


def test_one_record_may_move_one_part_of_a_parallel_composition() -> None:
    """Moving two parts is a finding, moving one is none."""
    parts = Parallel(parts=tuple(Release(label=name, mechanism=NOISE) for name in "ab"), key="the arrival time")

    def halves(data: Array, tape: Tape, rng: np.random.Generator) -> None:
        tape.release("a", NOISE, clipped(data)[:25].sum())
        tape.release("b", NOISE, clipped(data)[25:].sum())

    def overlapping(data: Array, tape: Tape, rng: np.random.Generator) -> None:
        tape.release("a", NOISE, clipped(data).sum())
        tape.release("b", NOISE, clipped(data).sum() / 2)

    assert rules(halves, declaration=parts) == set()
    assert rules(overlapping, declaration=parts) == {"DPA228"}


def test_identical_data_never_raise_an_alarm() -> None:
    """Both runs start from one generator state, so that randomised code is clean on equal data."""

    def random_order(data: Array, tape: Tape, rng: np.random.Generator) -> tuple[Any, Array]:
        order = rng.permutation(len(data))
        return tape.release("sum", NOISE, clipped(data)[order].sum()), order

    assert rules(random_order, (FIRST, FIRST.copy())) == set()


def test_equality_is_structural() -> None:
    """Types, shapes, signs of zero and every entry count; NaN equals NaN."""
    long = np.zeros(10_000)
    other = long.copy()
    other[5000] = 1e-300
    assert str(long) == str(other)
    assert not same(long, other)
    assert not same(0.0, -0.0)
    assert not same(np.zeros(2), np.zeros(2, dtype=np.float32))
    assert same({"a": [np.nan, (1, "x")]}, {"a": [np.nan, (1, "x")]})
    assert not same([1, 2], (1, 2))
