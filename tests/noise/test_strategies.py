"""Strategy matrices: the move of one record against numbers by hand and against every schedule counted out."""

import math
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest

from dpaudit import Claim, Release, certify, verify
from dpaudit.model.mechanism import Array
from dpaudit.verifier.strategies import squared_move as derived_again
from mechanisms import Gaussian, Matrix, TreeAggregation
from mechanisms._matrices.counts import best_counts

LEAF = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")


def matrix(strategy: Any, horizon: int, participations: int = 1, separation: int = 1, entries: Any = ()) -> Matrix:
    """Return a mechanism with unit sensitivity."""
    return Matrix(
        strategy=strategy,
        horizon=horizon,
        leaf=LEAF,
        participations=participations,
        separation=separation,
        entries=tuple(entries),
    )


def counted_out(whole: Array, participations: int, separation: int) -> tuple[float, float]:
    """Return the best signs of any schedule, and the sum of absolute entries of the Gram matrix, by force."""
    horizon, best, above = whole.shape[1], 0.0, 0.0
    gram = whole.T @ whole
    for size in range(1, participations + 1):
        for schedule in combinations(range(horizon), size):
            if all(b - a >= separation for a, b in pairwise(schedule)):
                inside = gram[np.ix_(schedule, schedule)]
                above = max(above, float(np.abs(inside).sum()))
                for signs in product((1.0, -1.0), repeat=size):
                    best = max(best, float(np.array(signs) @ inside @ np.array(signs)))
    return best, above


@pytest.mark.parametrize(
    ("participations", "separation", "full", "fenwick"), [(1, 1, 5, 5), (2, 1, 18, 17), (2, 8, 12, 11), (4, 4, 36, 30)]
)
def test_the_full_tree_costs_what_its_right_children_add(
    participations: int, separation: int, full: int, fenwick: int
) -> None:
    """Horizon 16: 5|5, 18|17, 12|11 and 36|30 squared nodes, full tree | Fenwick's left nodes."""
    moved = matrix("full_tree", 16, participations, separation).squared_move
    assert moved.lower == moved.upper == full
    left = TreeAggregation(horizon=16, leaf=LEAF, signs=(1,) * participations, separation=separation)
    assert left.squared_nodes == fenwick


@pytest.mark.parametrize(
    ("strategy", "entries", "participations", "separation", "square"),
    [
        ("square_root", (), 1, 1, 1.943878847),
        ("square_root", (), 4, 4, 13.802866008),
        ("toeplitz", (1, 0.5, 0.375, 0.3125), 1, 1, 1.48828125),
        ("toeplitz", (1, 0.5, 0.375, 0.3125), 4, 4, 5.953125),
    ],
)
def test_toeplitz_strategies_have_known_moves(
    strategy: str, entries: tuple[float, ...], participations: int, separation: int, square: float
) -> None:
    """Horizon 16, the square root of prefix sums whole and cut to four bands."""
    moved = matrix(strategy, 16, participations, separation, entries).squared_move
    assert moved.lower == pytest.approx(square, abs=2e-9)
    assert moved.lower <= moved.upper <= moved.lower * (1 + 1e-12)


def test_signs_matter() -> None:
    """Coefficients (1, -.9), horizon 8, three neighbours in time: equal contributions move 5.43, the truth is 9.03."""
    found = matrix("toeplitz", 8, 3, 1, (1, -0.9))
    gram = found.matrix().T @ found.matrix()
    assert max(float(gram[np.ix_(s, s)].sum()) for s in combinations(range(8), 3)) == pytest.approx(5.43)
    assert found.squared_move.upper == pytest.approx(9.03, rel=1e-12)
    assert found.squared_move.lower == pytest.approx(9.03, rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_moves_further(seed: int) -> None:
    """Random lower triangular, Toeplitz and tree strategies, up to 9 elements: force lies between both ends."""
    rng = np.random.default_rng(seed)
    horizon, participations, separation = int(rng.integers(2, 10)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    signed = np.tril(rng.normal(size=(horizon, horizon)))
    banded = np.where(np.subtract.outer(np.arange(horizon), np.arange(horizon)) < separation, signed, 0.0)
    kinds = [
        ("explicit", tuple(signed.ravel())),
        ("explicit", tuple(np.abs(signed).ravel())),
        ("explicit", tuple(banded.ravel())),
        ("toeplitz", tuple(rng.normal(size=horizon))),
        ("toeplitz", tuple(np.sort(rng.uniform(size=horizon))[::-1])),
        ("square_root", ()),
        ("full_tree", ()),
    ]
    for strategy, entries in kinds:
        found = matrix(strategy, horizon, participations, separation, entries)
        best, above = counted_out(found.matrix(), min(participations, -(-horizon // separation)), separation)
        moved = found.squared_move
        assert moved.lower <= best * (1 + 1e-9)
        assert moved.upper >= best * (1 - 1e-9)
        if strategy == "full_tree":
            assert moved.lower == moved.upper
        assert moved.upper <= above * (1 + 1e-9)
        if np.all(np.asarray(entries) >= 0):
            assert moved.lower >= best * (1 - 1e-9)
        assert pair_moves(found) == pytest.approx(moved.lower, rel=1e-9)


@pytest.mark.parametrize(("horizon", "participations", "separation"), [(300, 4, 44), (241, 5, 40), (500, 9, 70)])
def test_a_full_tree_of_far_participations_lies_in_its_bracket(
    horizon: int, participations: int, separation: int
) -> None:
    """Blocks of two and four elements stand for single ones; the count of single ones lies in the bracket."""
    moved = matrix("full_tree", horizon, participations, separation).squared_move
    exact, places = best_counts(horizon, min(participations, -(-horizon // separation)), separation)
    assert moved.lower <= exact <= moved.upper
    assert min(np.diff(places)) >= separation


@pytest.mark.parametrize("signed", [False, True])
def test_too_many_schedules_to_count_are_bounded_row_by_row(signed: bool) -> None:
    """No schedule that a search by exchanges finds is above; non-negative columns are known to 3 %, for 50 before."""
    rng = np.random.default_rng(7)
    entries = np.tril(rng.normal(size=(40, 40)) if signed else rng.uniform(size=(40, 40)))
    moved = matrix("explicit", 40, 6, 3, tuple(entries.ravel())).squared_move
    sizes, best = np.abs(entries.T @ entries), 0.0
    for _ in range(400):
        chosen = np.sort(rng.choice(40 - 5 * 2, 6, replace=False)) + 2 * np.arange(6)
        best = max(best, float(sizes[np.ix_(chosen, chosen)].sum()))
    assert best <= moved.upper <= 36 * sizes.max()
    assert moved.lower <= moved.upper
    assert signed or moved.upper <= 1.03 * moved.lower


def pair_moves(found: Matrix) -> float:
    """Return how far the worst pair moves the rows, squared."""
    first, second = found.worst_pair()
    return float(np.sum((found.rows(first) - found.rows(second)) ** 2))


@pytest.mark.parametrize("seed", range(6))
def test_the_checker_derives_the_same_moves(seed: int) -> None:
    """The independent reading agrees with both ends on strategies of every kind, also where the bound is loose."""
    rng = np.random.default_rng(100 + seed)
    horizon, participations, separation = int(rng.integers(2, 40)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    entries = np.tril(rng.normal(size=(horizon, horizon)))
    for strategy, given in [
        ("explicit", tuple(entries.ravel())),
        ("explicit", tuple(np.abs(entries).ravel())),
        ("toeplitz", tuple(rng.normal(size=min(horizon, 3)))),
        ("square_root", ()),
        ("full_tree", ()),
    ]:
        moved = matrix(strategy, horizon, participations, separation, given).squared_move
        low, high = derived_again(
            {
                "strategy": strategy,
                "horizon": horizon,
                "entries": list(given),
                "participations": participations,
                "separation": separation,
            }
        )
        assert (low, high) == pytest.approx((moved.lower, moved.upper), rel=1e-9)


@pytest.mark.parametrize("strategy", ["square_root", "full_tree"])
def test_a_certificate_of_a_strategy_is_verified(strategy: str) -> None:
    """What certifies is accepted, and a forged number of participations is not."""
    found = matrix(strategy, 64, 4, 16)
    certificate = certify(
        Release(label="gradients", mechanism=found), Claim(epsilon=12.0, delta=1e-5, neighbours="add_remove")
    )
    assert certificate.tight.epsilon.lower == pytest.approx(certificate.tight.epsilon.upper, rel=1e-6)
    assert verify(certificate.to_json()).accepted
    assert not verify(certificate.to_json().replace('"participations": 4', '"participations": 3')).accepted


@pytest.mark.parametrize("strategy", ["square_root", "full_tree"])
def test_the_estimate_of_prefix_sums_is_right_without_noise(strategy: str) -> None:
    """Rows of a stream give back its prefix sums."""
    found = matrix(strategy, 13)
    stream = np.random.default_rng(3).normal(size=(2, 13))
    assert np.allclose(found.prefix_sums(found.rows(stream)), np.cumsum(stream, axis=-1))
    assert np.allclose(found.rows(stream), stream @ found.matrix().T)


def test_a_wide_search_says_that_it_is_loose() -> None:
    """Signed coefficients over 600 elements: both sides stand, and the gap says how far apart."""
    wide = matrix("toeplitz", 600, 3, 1, (1.0, -0.9))
    assert wide.gap == pytest.approx(3.0)
    assert matrix("square_root", 600, 3, 1).gap == pytest.approx(1.0, abs=1e-11)


def test_cyclic_sampling_of_a_band_is_sampled_releases() -> None:
    """64 steps in 4 bands: each record is met by 16 sampled releases with the move of a column."""
    band = matrix("toeplitz", 64, 16, 4, (1.0, 0.5, 0.375, 0.3125))
    declared = band.cyclic_poisson(0.04, "gradients")
    assert declared.times == 16
    certificate = certify(declared, Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove"))
    whole = certify(Release(label="gradients", mechanism=band), certificate.claim)
    assert certificate.tight.epsilon.upper < whole.tight.epsilon.upper / 5
    with pytest.raises(ValueError, match="to be a band"):
        matrix("square_root", 64).cyclic_poisson(0.04, "gradients")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "fourier"}, "Expected strategy="),
        ({"strategy": "toeplitz"}, "Expected entries"),
        ({"entries": (1.0, 2.0)}, "Expected no entries"),
        ({"strategy": "explicit", "entries": (1.0, 1.0, 0.0, 1.0)}, "lower triangular"),
        ({"strategy": "explicit", "entries": (1.0, 0.0)}, "2 rows of 2"),
        ({"entries": (math.nan,)}, "finite numbers"),
        ({"horizon": 10**6}, "at most"),
    ],
)
def test_a_bad_strategy_is_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    """Value, rule and remedy."""
    fields: dict[str, Any] = {"strategy": "square_root", "horizon": 2, "leaf": LEAF} | change
    with pytest.raises(ValueError, match=message):
        Matrix(**fields)
