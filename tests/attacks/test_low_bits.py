"""The last bits of outputs: a true leak of floating-point noise, its own finding, and no false alarms."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from audits import Settings, audit, when_refuted
from audits.attacks.low_bits import _Events, _grid_of, _on_grid, learn_low_bits
from audits.experiment.function_case import Arithmetic
from audits.outputs.conversion import columns_of
from audits.procedures.replayed import _UNFOLLOWED
from dpaudit import AuditResult, Claim

ONE = Claim(epsilon=1.0, neighbours="replace_one")
ROUNDED = _UNFOLLOWED.format("the output")
"""The remark that a replay does not follow noise which is rounded."""
Floats = NDArray[np.float64]


def laplace(data: float, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return Laplace noise in doubles: finer around 0 than around 1."""
    return data + rng.laplace(size=n_runs)


def on_a_grid(data: float, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return the same, rounded to a grid that both data sets share."""
    return np.round(laplace(data, rng, n_runs) * 2**20) / 2**20


def response(data: float, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return randomised response of epsilon 1 whose answers differ in their last bit."""
    right = rng.random(n_runs) < 1 / (1 + np.exp(-1.0))
    return np.where(right, data, 1 - data) / 4 + 0.5 + rng.integers(100, size=n_runs)


def audited(function: object, seed: int, arithmetic: Arithmetic, runs: int = 20_000) -> AuditResult:
    rng = np.random.default_rng(seed)
    return audit(function, neighbours=(0.0, 1.0), claim=ONE, runs=runs, rng=rng, how=Settings(arithmetic=arithmetic))  # type: ignore[arg-type]


def test_floating_point_noise_is_a_violation_where_nothing_is_taken_for_granted() -> None:
    """A fifth of the values at 0 cannot be produced at 1: the bound exceeds 5, and one sentence says why."""
    result = audited(laplace, 0, "floating")
    assert (result.verdict, result.bound, result.attack) == ("violation", "low_bits", "last bits")
    assert result.epsilon_lower > 5
    assert sum("floating-point lattice of the outputs differs" in remark for remark in result.remarks) == 1
    assert "Round outputs to a coarse grid" in result.remarks[-1]


def test_it_is_a_remark_where_the_claim_takes_exact_arithmetic_for_granted() -> None:
    """The verdict and its bound stay; the bound of the last bits stands beside them."""
    result = audited(laplace, 0, "exact")
    assert (result.verdict, result.bound) == ("not_refuted", "guessing")
    assert result.epsilon_lower < 1
    assert next(bound.epsilon for bound in result.bounds if bound.name == "low_bits") > 5
    assert "as if arithmetic were exact" in result.remarks[-1]


def test_exact_arithmetic_is_what_an_audit_takes_for_granted() -> None:
    """An honest sum with Laplace noise in doubles is no violation, and the sentence names the other choice."""
    result = audit(
        laplace,
        neighbours=(0.0, 1.0),
        claim=ONE,
        runs=20_000,
        rng=np.random.default_rng(0),
        how=Settings(control_runs=0),
    )
    assert result.verdict != "violation"
    assert "arithmetic='floating'" in result.remarks[-1]


def noise_on_a_grid(data: float, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return noise of multiples of 1/256 added to an answer that is none on one data set."""
    return data / 3 + np.round(256 * rng.laplace(0.0, 3.0, n_runs)) / 256


def noise_in_single_precision(data: float, rng: np.random.Generator, n_runs: int) -> Any:
    """Return Laplace noise added in single precision."""
    return np.float32(data) + rng.laplace(size=n_runs).astype(np.float32)


def test_noise_on_a_coarser_grid_than_the_answers_is_a_violation_in_exact_arithmetic() -> None:
    """The digits below the grid are the answer's own; real-valued noise hides them, in single precision too."""
    for found in (audited(noise_on_a_grid, 0, "exact", runs=2_000), anytime(noise_on_a_grid, 0, "exact")):
        assert (found.verdict, found.attack) == ("violation", "last bits")
        assert found.remarks[-1] == ROUNDED
        assert "Round the answers to the grid of the noise" in found.remarks[-2]
    for seed in range(3):
        for function in (laplace, noise_in_single_precision):
            assert audited(function, seed, "exact", runs=4_000).verdict != "violation"


def test_numbers_of_every_size_are_rounded_to_a_grid() -> None:
    """Large and infinite ones stay as they are, and nothing overflows."""
    largest = float(np.finfo(float).max)
    values = np.array([0.3, -largest, np.inf, np.nan, 5e-324])
    assert _on_grid(values, 0.25).tolist()[:3] == [0.25, -largest, np.inf]
    assert np.isnan(_on_grid(values, 0.25)[3])
    assert _on_grid(values, _grid_of(values))[1] == -largest
    assert _grid_of(np.zeros(3)) == 0.0


def test_values_on_a_common_grid_have_no_such_finding() -> None:
    """The repaired twin: ten audits without a remark, but that replays do not follow rounded noise."""
    for seed in range(10):
        assert audited(on_a_grid, seed, "floating", runs=4_000).remarks == (ROUNDED,)


@pytest.mark.parametrize("number", [60, pytest.param(120, marks=pytest.mark.slow)])
def test_last_bits_that_keep_the_claim_are_accused_as_rarely_as_promised(number: int) -> None:
    """Audits of last bits with epsilon exactly 1: alarms at most the 1 - 1e-6 quantile of Bin(number, 0.05)."""
    found = [audited(response, seed, "floating", runs=600) for seed in range(number)]
    assert sum(result.verdict == "violation" for result in found) <= stats.binom.isf(1e-6, number, 0.05)


def test_the_event_is_learned_from_labelled_runs_and_whole_numbers_have_none() -> None:
    """Outputs of another type, one label alone, and whole numbers give no guess."""
    rng = np.random.default_rng(0)
    labels = rng.random(4000) < 0.5
    leaky = columns_of(rng.laplace(size=4000) + labels, 4000)
    guess = learn_low_bits(leaky, labels)
    assert guess is not None
    assert set(np.unique(guess(leaky))) <= {-1.0, 0.0, 1.0}
    assert learn_low_bits(leaky, np.ones(4000, dtype=bool)) is None
    assert learn_low_bits(columns_of(rng.integers(9, size=4000) + labels, 4000), labels) is None
    assert learn_low_bits({"values": labels}, labels) is None


def anytime(function: Any, seed: int, arithmetic: Arithmetic, runs: int = 2_000) -> AuditResult:
    rng = np.random.default_rng(seed)
    return audit(
        function,
        neighbours=(0.0, 1.0),
        claim=ONE,
        runs=runs,
        rng=rng,
        stop=when_refuted,
        how=Settings(arithmetic=arithmetic),
    )


def test_an_anytime_audit_finds_them_too_and_stops() -> None:
    """Epsilon 1 in real numbers: within 2,000 runs the last bits refute the doubles, and one sentence says so.

    The repaired twin on a common grid, and the claim that takes exact arithmetic for granted, are not refuted.
    """
    found = anytime(laplace, 0, "floating")
    assert (found.verdict, found.attack, found.runs < 2_000) == ("violation", "last bits", True)
    assert sum("floating-point lattice of the outputs differs" in remark for remark in found.remarks) == 1
    exact = anytime(laplace, 0, "exact")
    assert exact.verdict != "violation"
    assert exact.remarks == ()
    grid = anytime(on_a_grid, 0, "floating")
    assert grid.verdict != "violation"
    assert grid.remarks == (ROUNDED,)


@pytest.mark.parametrize("number", [16, pytest.param(40, marks=pytest.mark.slow)])
def test_an_anytime_audit_accuses_last_bits_that_keep_the_claim_as_rarely_as_promised(number: int) -> None:
    """Audits of last bits with epsilon exactly 1: alarms at most the 1 - 1e-6 quantile of Bin(number, 0.05)."""
    found = [anytime(response, seed, "floating", runs=150) for seed in range(number)]
    assert sum(result.verdict == "violation" for result in found) <= stats.binom.isf(1e-6, number, 0.05)


def noisy_sum(data: Floats, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return a sum with Laplace noise in doubles."""
    return data.sum() + rng.laplace(0, 1, n_runs)


def grid_sum(data: Floats, rng: np.random.Generator, n_runs: int) -> Floats:
    """Return the same, rounded to a grid that all data sets share."""
    return np.round(noisy_sum(data, rng, n_runs) * 2**20) / 2**20


def sums(function: Any, first: float, second: float, seed: int = 0, runs: int = 20_000, **options: Any) -> AuditResult:
    pair = (np.array([first]), np.array([second]))
    rng = np.random.default_rng(seed)
    how = replace(Settings(arithmetic="floating", control_runs=0), **options)
    return audit(function, neighbours=pair, claim=ONE, runs=runs, rng=rng, how=how)


@pytest.mark.parametrize(("first", "second", "shown"), [(2, 3, 3.5), (3, 4, 3.5), (5, 6, 1.5), (-3, -4, 3.5)])
def test_last_bits_are_judged_with_the_size_of_the_output(first: float, second: float, shown: float) -> None:
    """Between 0 and 1 half of what comes from 2 is odd in 2^-52, and nothing that comes from 3; and so on above."""
    found = sums(noisy_sum, first, second)
    assert (found.verdict, found.bound) == ("violation", "low_bits")
    assert found.epsilon_lower > shown
    turned = sums(noisy_sum, second, first)
    assert (turned.verdict, turned.bound) == ("violation", "low_bits")


def test_a_lattice_that_few_runs_show_is_a_remark() -> None:
    """At 10 and 11 one run in 7,000 is finer than the neighbour's: no bound, but equal random numbers show it."""
    found = sums(noisy_sum, 10, 11)
    assert found.verdict != "violation"
    assert sum("Noise is rounded after data are added" in remark for remark in found.remarks) == 1
    stopped = audit(
        noisy_sum,
        neighbours=(np.array([10.0]), np.array([11.0])),
        claim=ONE,
        runs=1_000,
        rng=np.random.default_rng(0),
        stop=when_refuted,
        how=Settings(control_runs=0, arithmetic="floating"),
    )
    assert sum("Noise is rounded after data are added" in remark for remark in stopped.remarks) == 1
    assert sums(noisy_sum, 10, 11, arithmetic="exact").remarks == ()


@pytest.mark.parametrize(("first", "second"), [(2, 3), (5, 6), (10, 11), (0.3, 1.2)])
def test_sums_on_a_common_grid_have_no_finding_at_any_size(first: float, second: float) -> None:
    """The repaired twin."""
    for seed in range(3):
        result = sums(grid_sum, first, second, seed=seed, runs=4_000)
        assert (result.remarks, result.bound) == ((ROUNDED,), "guessing")


def test_a_guess_is_believed_by_chance_as_rarely_as_promised() -> None:
    """The probability that Hoeffding's bound states is at least the exact one, over 3,000 tables of two shares."""
    rng = np.random.default_rng(3)
    first, second = rng.integers(1, 400, (2, 3_000))
    counts = np.stack([rng.binomial(first, share := rng.random(3_000)), rng.binomial(second, share)])
    totals = np.stack([first, second])
    events = _Events(
        windows=((0.0, -np.inf, np.inf),) * 3_000,
        exponents=np.zeros(1),
        counts=np.stack([counts, totals - counts], axis=1)[..., None].astype(float),
        totals=totals.astype(float),
    )
    log_chance = events._log_chance()[0, :, 0]
    sides = np.where(counts[1] > counts[0], 1, 0)
    held, drawn = counts[sides, np.arange(3_000)], totals[sides, np.arange(3_000)]
    exact = stats.hypergeom.logsf(held - 1, totals.sum(axis=0), counts.sum(axis=0), drawn)
    assert (log_chance >= exact - 1e-9)[log_chance < 0].all()
    assert (log_chance < 0).mean() > 0.3


def test_no_guess_is_learned_where_both_neighbours_are_one() -> None:
    """Forty columns of equal laws: the 1e-9 of all of them together is not met."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        labels = rng.random(3_000) < 0.5
        view = columns_of(rng.integers(0, 9) + rng.laplace(size=3_000) * rng.random(), 3_000)
        assert learn_low_bits(view, labels, 15_000) is None
