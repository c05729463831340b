"""What each reading of the removal step costs, by enumeration of paths, by the tables, and by the printed argument."""

import itertools
import math
from typing import Any

import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.noise.calibrated import touched_nodes
from dpaudit import Claim, Condition, NormalForm, Release, Repeat, bracket_epsilon, certify, fold
from dpaudit.verifier import verify
from mechanisms import Laplace, TreeAggregation

UNIT = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
DELTAS = (1e-2, 1e-3, 1e-5, 1e-9)


def path(element: int, capacity: int) -> set[int]:
    """The nodes that hold an element, by definition: node n holds n - lowbit(n) + 1 .. n."""
    return {n for n in range(element, capacity + 1) if n - (n & -n) < element <= n}


def enumerated(reading: str, capacity: int) -> int:
    """The most nodes that one answer shifts, over all places of its leaves."""
    paths = [path(element, capacity) for element in range(1, capacity + 1)]
    longest = max(map(len, paths))
    parted = max((len(a ^ b) for a, b in itertools.combinations(paths, 2)), default=0)
    return {"R1": longest, "R2": parted, "R3": parted + longest}[reading]


@pytest.mark.parametrize("reading", ["R1", "R2", "R3"])
def test_the_shifted_nodes_are_those_that_enumeration_finds(reading: str) -> None:
    """Every capacity from 3 to 70 and some beyond, over all pairs of leaves."""
    for capacity in (*range(3, 71), 128, 129, 200, 255, 256, 300):
        assert touched_nodes(reading, capacity) == enumerated(reading, capacity), capacity


def test_a_pair_of_leaves_shifts_the_nodes_that_hold_one_of_them() -> None:
    """The symmetric difference of two paths, for every pair in trees of 6, 8 and 13 elements."""
    for capacity in (6, 8, 13):
        tree = TreeAggregation(horizon=capacity, leaf=UNIT, signs=(1, -1))
        for first, second in itertools.combinations(range(1, capacity + 1), 2):
            expected = path(first, capacity) ^ path(second, capacity)
            assert tree.parted(first, second) == tuple(sorted(expected))
        with pytest.raises(ValueError, match="element="):
            tree.parted(1, capacity + 1)


@pytest.mark.parametrize(
    ("capacity", "nodes"), [(16, 7), (64, 11), (256, 15), (1000, 19), (1005, 19), (1050, 19), (100_005, 33)]
)
def test_the_worst_pair_has_the_tabulated_nodes(capacity: int, nodes: int) -> None:
    """m = max(2 L - 3, L + #{l <= L - 2: 2^(L-1) + 2^l <= N}), at the values worked out by hand."""
    assert touched_nodes("R2", capacity) == nodes


@pytest.mark.parametrize(("reading", "credit"), [("R1", "left"), ("R2", "left"), ("R3", "both")])
@pytest.mark.parametrize(("epsilon", "horizon", "arms"), [(0.1, 1000, 5), (1.0, 10_000, 5), (4.0, 60, 4), (1.0, 5, 2)])
def test_the_certified_epsilon_is_the_enumerated_one(
    reading: str, credit: str, epsilon: float, horizon: int, arms: int
) -> None:
    """Pure epsilon = shifted nodes over node scale, from both sides, with the paper's noise and with the tight one.

    With credit for both arms a record enters two arrays by keys that nobody ties to each other, so that the lower end
    counts the trees of one.
    """
    paper = DpEbs(epsilon=epsilon, horizon=horizon, arms=arms, removal=reading, credit=credit)
    levels = (horizon + arms).bit_length()
    exact = touched_nodes(reading, horizon + arms) * epsilon / (4 * levels)
    enumerated_pair = Condition(
        kind="attained", text="One enumerated pair moves all releases by as much.", status="checked"
    )
    found = certify(paper.declaration(), paper.claim(), conditions=(enumerated_pair,))
    assert found.verdict == "certified"
    assert found.tight.epsilon.upper == pytest.approx(exact, rel=1e-12)
    one_array = touched_nodes("R2", horizon + arms) * epsilon / (4 * levels)
    assert found.tight.epsilon.lower == pytest.approx(one_array if credit == "both" else exact, rel=1e-12)
    assert found.printed.valid == (epsilon <= 1), "Lemma 2 is stated for epsilon of at most 1"
    tight = DpEbs(epsilon=epsilon, horizon=horizon, arms=arms, removal=reading, credit=credit, calibration="tight")
    assert certify(tight.declaration(), tight.claim()).verdict == "certified"
    assert bracket_epsilon(fold(tight.declaration(), "replace_one"), 0.0).upper == pytest.approx(epsilon, rel=2e-9)


def test_looseness_at_a_hundred_thousand_rounds_is_4_and_2_06_and_1_36() -> None:
    """The claim over what is delivered: 4, 4L/(2L-1) and 4L/(3L-1) at L = 17."""
    ratios = []
    for reading, credit in (("R1", "left"), ("R2", "left"), ("R3", "both")):
        config = DpEbs(epsilon=1, horizon=100_000, arms=5, removal=reading, credit=credit)
        ratios.append(1 / certify(config.declaration(), config.claim()).tight.epsilon.upper)
    assert ratios == pytest.approx([4, 68 / 33, 68 / 50])


def test_the_printed_argument_holds_and_ends_at_the_claim() -> None:
    """Lemma 2 replayed: tree eps / 4, group of two eps / 2, two counters eps; valid, and twice too much."""
    config = DpEbs(epsilon=1, horizon=1000, arms=5)
    found = certify(config.printed_declaration(), config.claim())
    assert found.verdict == "certified"
    assert (found.printed.valid, found.printed.epsilon) == (True, 1.0)
    assert found.tight.epsilon.upper == pytest.approx(0.5)


@pytest.mark.parametrize("reading", ["R0", "R4"])
@pytest.mark.parametrize("calibration", ["paper", "tight"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_literal_readings_are_refuted_whatever_the_noise(reading: str, calibration: str, epsilon: float) -> None:
    """A clock that the data sets: infinite for R0 and for R4, of whose delta nothing is stated but that it is not 0."""
    config = DpEbs(epsilon=epsilon, horizon=200, arms=3, removal=reading, calibration=calibration)
    found = certify(config.declaration(), config.claim())
    assert found.verdict == "refuted"
    assert found.tight.epsilon.lower == math.inf
    assert (found.tight.delta.lower < 1e-300) == (reading == "R4")
    assert verify(found.to_json()).complaints == ()


def test_the_clock_of_removals_attains_what_its_densities_say() -> None:
    """A pair of reads shows |x| > 2 with probability e^-2 under one neighbour and 2 e^-2 under the other, by sampling.

    False alarm 1e-9 by Hoeffding with 200,000 draws; a fault of 0.01 is seen.
    """
    import numpy as np

    from algorithms.dp_ebs.noise.clocks import RemovalClock

    clock = RemovalClock(reads=10)
    error = math.sqrt(math.log(2e9) / (2 * 200_000))
    assert error < 0.0075
    for value, expected in ((0, math.exp(-2)), (1, 2 * math.exp(-2))):
        noise = clock.release(np.full(20_000, value), np.random.default_rng(value))
        assert abs((np.abs(noise) > 2).mean() - expected) < error
    grid = np.linspace(-60, 60, 2_000_001)[:, None]
    for value in (0, 1):
        density = np.exp(RemovalClock(reads=1).log_density(grid, np.full(len(grid), value)))
        assert density.sum() * 6e-5 == pytest.approx(1, abs=1e-6)


def test_other_variants_cost_exactly_epsilon() -> None:
    """Randomised response, and one Laplace sum a person, are certified at the claim with nothing to spare."""
    variants: tuple[dict[str, Any], ...] = ({"model": "local"}, {"variant": "batched"}, {"variant": "champion"})
    for settings in variants:
        config = DpEbs(epsilon=0.7, horizon=10_000, arms=4, **settings)
        found = certify(config.declaration(), config.claim())
        assert found.verdict == "certified"
        assert found.tight.epsilon.lower == pytest.approx(0.7, rel=1e-8)


def test_a_certificate_is_accepted_by_the_independent_checker() -> None:
    """R2's tree with a removal is read again from the certificate's JSON alone."""
    config = DpEbs(epsilon=1, horizon=1000, arms=3)
    assert verify(certify(config.declaration(), config.claim()).to_json()).accepted


def test_discrete_nodes_cost_the_same_as_continuous_ones() -> None:
    """A whole step of two-sided geometric noise costs 1 / scale, as for Laplace noise."""
    config = DpEbs(epsilon=1, horizon=1000, arms=3, noise="discrete")
    smooth = DpEbs(epsilon=1, horizon=1000, arms=3)
    first, second = (bracket_epsilon(fold(c.declaration(), "replace_one"), 0.0).upper for c in (config, smooth))
    assert first == pytest.approx(second, rel=1e-12)


PLD_ROWS = (
    # epsilon, levels, {composed nodes / levels: epsilon at DELTAS}
    (0.1, 10, {1: (0, 0.0061, 0.0195, 0.025), 2: (0, 0.0107, 0.0296, 0.049), 4: (0, 0.0182, 0.0444, 0.0743)}),
    (0.1, 14, {1: (0, 0.0046, 0.0169, 0.025), 2: (0, 0.0083, 0.0248, 0.0425), 4: (0, 0.0141, 0.0372, 0.0636)}),
    (0.1, 17, {1: (0, 0.0038, 0.0152, 0.0249), 2: (0, 0.0071, 0.0226, 0.0389), 4: (0, 0.0122, 0.0335, 0.058)}),
    (
        0.5,
        10,
        {1: (0.0143, 0.0624, 0.115, 0.125), 2: (0.0323, 0.0954, 0.172, 0.249), 4: (0.0626, 0.1467, 0.257, 0.393)},
    ),
    (
        0.5,
        17,
        {1: (0.0046, 0.0443, 0.0891, 0.125), 2: (0.017, 0.069, 0.1312, 0.2048), 4: (0.038, 0.1064, 0.1946, 0.3064)},
    ),
    (
        1.0,
        14,
        {1: (0.0462, 0.1187, 0.2062, 0.25), 2: (0.0846, 0.1802, 0.3097, 0.4569), 4: (0.1447, 0.2777, 0.4573, 0.688)},
    ),
    (
        1.0,
        17,
        {1: (0.038, 0.1029, 0.1867, 0.25), 2: (0.072, 0.1628, 0.2805, 0.4184), 4: (0.1254, 0.2479, 0.4116, 0.6287)},
    ),
    (4.0, 10, {1: (0.4837, 0.7383, 0.99, 1), 2: (0.7656, 1.1302, 1.5922, 1.999), 4: (1.2194, 1.7292, 2.4512, 3.3726)}),
    (
        4.0,
        14,
        {1: (0.3873, 0.6106, 0.8818, 1), 2: (0.619, 0.9386, 1.3774, 1.8705), 4: (0.9841, 1.4263, 2.0667, 2.9163)},
    ),
)
R3_ROWS = (
    (0.1, (0, 0.0096, 0.0282, 0.0489)),
    (1.0, (0.0986, 0.2045, 0.3476, 0.5267)),
    (4.0, (0.7051, 1.0582, 1.5641, 2.2216)),
)


def composed(nodes: int, levels: int, epsilon: float) -> NormalForm:
    """The normal form of so many node releases at the paper's noise."""
    leaf = Laplace(scale=4 * levels / epsilon, l1_sensitivity=1.0, neighbours="replace_one")
    return fold(Repeat(part=Release(label="node", mechanism=leaf), times=nodes), "replace_one")


@pytest.mark.parametrize(
    ("epsilon", "levels", "rows"),
    [pytest.param(*row, marks=() if row[:2] == (1.0, 17) else pytest.mark.slow) for row in PLD_ROWS],
)
def test_the_privacy_curve_of_composed_nodes_matches_the_table(
    epsilon: float, levels: int, rows: dict[int, tuple[float, ...]]
) -> None:
    """m = L, 2 L and 4 L nodes at four deltas, within 1e-3 of values computed with dp-accounting."""
    for factor, expected in rows.items():
        form = composed(factor * levels, levels, epsilon)
        found = [bracket_epsilon(form, delta).upper for delta in DELTAS]
        assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "expected"), [pytest.param(*row, marks=() if row[0] == 0.1 else pytest.mark.slow) for row in R3_ROWS]
)
def test_the_privacy_curve_of_r3_matches_the_table(epsilon: float, expected: tuple[int, float, float, float]) -> None:
    """3 L - 1 = 50 nodes at L = 17."""
    form = composed(50, 17, epsilon)
    assert [bracket_epsilon(form, delta).upper for delta in DELTAS] == pytest.approx(expected, abs=1e-3)


def test_levels_by_another_logarithm_break_the_claim() -> None:
    """ceil(log2 N) is one short exactly at powers of two; the natural logarithm is short by 1.45 to 2.2."""
    for capacity in (4, 16, 1024):
        levels = capacity.bit_length()
        assert levels / math.ceil(math.log2(capacity)) == pytest.approx(1 + 1 / (levels - 1))
    ratios = [n.bit_length() / math.log(n) for n in (4, 16, 1000, 100_000)]
    assert ratios == pytest.approx([2.16, 1.80, 1.448, 1.477], abs=0.005)
    leaf = Laplace(scale=math.log(16) / 1.0, l1_sensitivity=1.0, neighbours="replace_one")
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    tree = TreeAggregation(horizon=16, leaf=leaf)
    assert certify(Release(label="counter", mechanism=tree), claim).verdict == "refuted"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"credit": "both"}, "R3"),
        ({"removal": "R3"}, "R3"),
        ({"removal": "R5"}, "removal='R5'"),
        ({"model": "joint"}, "model='joint'"),
        ({"model": "local", "removal": "R1"}, "local"),
        ({"horizon": 3}, "horizon=3"),
        ({"epsilon": 0}, "epsilon=0"),
        ({"arms": 2, "removal": "R4"}, "arms=2"),
        ({"fail_prob": 1.0}, "fail_prob=1.0"),
    ],
)
def test_a_bad_field_is_refused_by_name_and_value(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DpEbs(**{"epsilon": 1, "horizon": 100, "arms": 3, **settings})
