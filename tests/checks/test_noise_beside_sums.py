"""Noise of a watched loop beside the sums that it covers: noise that follows them, stays or is moved is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch, conform
from dpaudit.training.noise_beside_sums import by_size_of_sum, noise_follows_sums, noise_kept, noise_shared
from dpaudit.training.watching import Slots

STEPS, SHAPE, RATE, RECORDS = 40, (60, 2), 0.1, 400
DECLARED = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=RATE, steps=STEPS, records=RECORDS)
Noise = Callable[[np.random.Generator, Array, dict[str, Array]], Array]
"""noise(rng, sums, kept from the steps before) -> the noise of one step"""


def fresh(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    return np.asarray(DECLARED.stddev * rng.standard_normal(sums.shape))


def partly_kept(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    noise = fresh(rng, sums, kept)
    noise[40:43] = kept.setdefault("rows", noise[40:43])
    return noise


def rolled(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    kept["noise"] = np.roll(kept.get("noise", fresh(rng, sums, kept)), 1, axis=0)
    return kept["noise"]


def turned(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    kept["noise"] = kept.get("noise", fresh(rng, sums, kept))
    return np.asarray(kept["noise"] * rng.choice([-1.0, 1.0], sums.shape))


def enlarged(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    return fresh(rng, sums, kept) + 0.1 * sums


def less_on_data(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    return fresh(rng, sums, kept) * np.where(sums != 0, 0.75, 1.199)


def shrunk(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    return fresh(rng, sums, kept) - 0.1 * sums


def single(rng: np.random.Generator, sums: Array, kept: dict[str, Array]) -> Array:
    return np.asarray((sums + fresh(rng, sums, kept)).astype(np.float32) - sums)


def watched(noise: Noise, seed: int, steps: int = STEPS) -> Watch:
    """A loop whose sums follow what it released before, as in training; half of the rows are empty."""
    rng, kept = np.random.default_rng(seed), dict[str, Array]()
    watch, state = Watch(records=RECORDS), np.zeros(SHAPE)
    for _ in range(steps):
        sums = np.clip(rng.standard_normal(SHAPE) - 0.1 * state, -2, 2) * (np.arange(SHAPE[0]) < 30)[:, None]
        released = sums + noise(rng, sums, kept)
        watch.step(released, sums, np.flatnonzero(rng.random(RECORDS) < RATE))
        state = state + released
    return watch


def rules(noise: Noise, seed: int = 0) -> set[str]:
    return {finding.rule for finding in conform(DECLARED, watched(noise, seed)).findings}


@pytest.mark.parametrize(
    ("noise", "rule"),
    [(partly_kept, "DPA227"), (rolled, "DPA227"), (turned, "DPA227"), (enlarged, "DPA212"), (less_on_data, "DPA212")],
)
def test_noise_that_is_kept_or_follows_the_sums_is_found(noise: Noise, rule: str) -> None:
    """At significance 1e-6: three rows of sixty kept, all moved or turned, a tenth of the sum, less noise on data."""
    assert rule in rules(noise)


@pytest.mark.parametrize("noise", [fresh, shrunk, single])
def test_fresh_noise_a_smaller_sum_and_single_precision_are_not_accused(noise: Noise) -> None:
    """A sum that is made smaller moves less with each record; rounding gives equal numbers anywhere."""
    assert all(rules(noise, seed) == set() for seed in range(20))


def test_false_alarms_keep_their_level() -> None:
    """At level .1 each look accuses at most a tenth of 200 honest loops: 45 or more come with probability 2e-7."""
    watches = [watched(fresh, seed, steps=8) for seed in range(200)]
    assert sum(any(True for _ in noise_follows_sums(DECLARED, watch, 0.1)) for watch in watches) < 45
    assert sum(noise_kept(watch, 0.1)[0] > 0 for watch in watches) < 45


def canaries(reported: Callable[[np.random.Generator, Array], Array], moved: float = 0.0) -> set[str]:
    """The rules for a loop with ten canaries, each in a row of its own; rows of all others move by `moved`."""
    rng, rows = np.random.default_rng(0), np.arange(10)
    slots = Slots(canaries=rows, members=rows, directions=np.eye(10, 2) + 1.0, blanks=np.arange(0))
    watch = Watch(records=RECORDS, slots=slots)
    for _ in range(STEPS):
        batch = np.flatnonzero(rng.random(RECORDS) < RATE)
        sums = np.full((10, 2), moved)
        sums[batch[batch < 10]] = 0.05
        watch.step(sums + fresh(rng, sums, {}), sums, reported(rng, batch))
    return {finding.rule for finding in conform(DECLARED, watch).findings}


def test_batches_that_are_not_those_of_the_sums_are_found() -> None:
    """Canaries of the reported batches stand still, others move; weight decay moves all rows and is no finding."""

    def others(rng: np.random.Generator, batch: Array) -> Array:
        return np.flatnonzero(rng.random(RECORDS) < RATE)

    def told(rng: np.random.Generator, batch: Array) -> Array:
        return batch

    assert canaries(others) == {"DPA326"}
    assert canaries(told) == set()
    assert canaries(told, moved=0.01) == set()


def test_rows_that_others_move_say_nothing_of_one_contribution() -> None:
    """Shifted features move the rows of absent canaries: a long row is then no contribution of one record."""
    rng, rows = np.random.default_rng(0), np.arange(2)
    slots = Slots(canaries=rows, members=np.array([0, -1]), directions=np.eye(2), blanks=np.arange(0))
    for moved, seen in ((0.0, ["DPA220"]), (0.3, [])):
        watch = Watch(records=RECORDS, slots=slots)
        sums = np.array([[0.5, 0.0], [moved, 0.0]])
        watch.step(sums + fresh(rng, sums, {}), sums)
        found = conform(replace(DECLARED, steps=1), watch)
        assert [finding.rule for finding in found.findings] == seen
        assert ("clipping norm" in found.unseen) == (not seen)


def test_noise_is_heard_beside_the_sums_of_its_step() -> None:
    """One step by hand: a coordinate with no sum, one with a small and one with a large sum."""
    watch: Any = Watch(records=3)
    watch.step(np.array([[0.5], [3.0], [6.0]]), np.array([[0.0], [2.0], [4.0]]))
    assert by_size_of_sum(watch) == [(1, 0.25), (1, 1.0), (1, 4.0)]


def test_false_alarms_of_shared_noise_keep_their_level() -> None:
    """At level .1 at most a tenth of 200 loops with independent noise fall: 45 or more come with probability 2e-7."""
    rng, accused = np.random.default_rng(3), 0
    for _ in range(200):
        watch = Watch(records=1)
        for _ in range(5):
            noise = {"first": rng.normal(size=(6, 2)), "second": rng.normal(size=4), "third": rng.normal(size=(2, 2))}
            watch.step(noise, {name: 0 * values for name, values in noise.items()})
        accused += bool(noise_shared(watch, 0.1))
    assert 0 < accused < 45


@pytest.mark.parametrize("lines", ["Columns", "Rows"])
def test_noise_that_serves_two_lines_of_a_matrix_is_found(lines: str) -> None:
    """One draw a row, or a column, is added to two of its numbers, of either sign."""
    rng, watch = np.random.default_rng(4), Watch(records=1)
    for _ in range(10):
        noise = rng.normal(size=(5, 4))
        noise[:, 3] = -noise[:, 1]
        given = noise if lines == "Columns" else noise.T
        watch.step({"weights": given}, {"weights": 0 * given})
    assert noise_shared(watch, 1e-6).startswith(f"{lines} 2 and 4 of weights carry the same noise")


@pytest.mark.parametrize("shared", [True, False])
def test_noise_whose_size_decays_is_no_shared_noise(*, shared: bool) -> None:
    """Few large steps are alike by chance more often than as many numbers of one size. Twin: one draw serves both."""
    accused = 0
    for seed in range(60):
        rng, watch = np.random.default_rng(seed), Watch(records=1)
        for step in range(150):
            first = 0.8**step * rng.normal(size=(8, 1))
            second = first if shared else 0.8**step * rng.normal(size=(8, 1))
            watch.step({"first": first, "second": second}, {"first": 0 * first, "second": 0 * second})
        accused += bool(noise_shared(watch, 1e-6))
    assert accused == (60 if shared else 0)


def test_steps_without_noise_are_counted_and_sizes_that_change_are_named() -> None:
    declared = Training(noise_multiplier=1, max_grad_norm=1, sample_rate=0.3, steps=20, records=10)
    sizes: tuple[tuple[Array, str], ...] = (
        (np.arange(20) % 2.0, "10 of 20 steps have none"),
        (0.9 ** np.arange(20), "in the last"),
    )
    for factors, words in sizes:
        rng, watch = np.random.default_rng(0), Watch(records=10)
        for factor in factors:
            watch.step(factor * rng.normal(size=(20, 2)), np.zeros((20, 2)), np.arange(3))
        messages = [finding.message for finding in conform(declared, watch).findings]
        assert words in messages[0]
        assert not any("not fresh" in message or "not drawn afresh" in message for message in messages)
