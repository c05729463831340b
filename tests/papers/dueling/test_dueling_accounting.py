"""What each reading of the removal step costs: by paths, tables, the printed argument, audits and traces."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.noise.calibrated import touched_nodes
from algorithms.problems import load
from audits import audit
from dpaudit import Condition, Streams, bracket_epsilon, certify, fold
from dpaudit.verifier import verify
from mechanisms import Laplace, TreeAggregation

UNIT = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")


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


def test_discrete_nodes_cost_the_same_as_continuous_ones() -> None:
    """A whole step of two-sided geometric noise costs 1 / scale, as for Laplace noise."""
    config = DpEbs(epsilon=1, horizon=1000, arms=3, noise="discrete")
    smooth = DpEbs(epsilon=1, horizon=1000, arms=3)
    first, second = (bracket_epsilon(fold(c.declaration(), "replace_one"), 0.0).upper for c in (config, smooth))
    assert first == pytest.approx(second, rel=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"credit": "both"}, "R3"),
        ({"removal": "R3"}, "R3"),
        ({"model": "local", "removal": "R1"}, "local"),
        ({"arms": 2, "removal": "R4"}, "arms=2"),
    ],
)
def test_a_bad_field_is_refused_by_name_and_value(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DpEbs(**{"epsilon": 1, "horizon": 100, "arms": 3, **settings})


R0 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R0")
R4 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R4")


@pytest.mark.parametrize("config", [R0, R4], ids=lambda config: config.removal)
def test_the_literal_readings_are_refuted_by_both_halves_and_by_the_run(config: DpEbs) -> None:
    """The accountant refutes the declaration, the audit breaks the code, and a run reports the clock."""
    assert certify(config.declaration(), config.claim()).verdict == "refuted"
    transcript = config.run(load("bradley_terry")(arms=3), Streams.spawn(np.random.default_rng(0)), 3)
    assert "violated" in {condition.status for condition in transcript.conditions}
    case = config.cases()[0]
    assert case.view == "counters"
    shown = audit(case, claim=config.claim(), runs=2_000, rng=np.random.default_rng(1), significance=1e-3)
    assert shown.verdict == "violation"
