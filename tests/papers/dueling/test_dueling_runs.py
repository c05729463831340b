"""The engines follow Algorithm 1: equal to a slow simulator in law, exact without noise, and honest in their traces."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms._dueling.voters import SimulatedVoters
from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.checks import clocks_are_public
from algorithms.dp_ebs.rounds import event_both, event_driven
from algorithms.dp_ebs.rounds.event_driven import play_one
from algorithms.dp_ebs.rounds.lockstep import play
from algorithms.dp_ebs.widths.intervals import half_width, laplace_sum_quantile
from algorithms.problems import load
from algorithms.problems.duels import Duels
from dpaudit import Streams
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit
from mechanisms import DiscreteLaplace, Laplace, TreeAggregation
from tests.narrowing import scale_of
from tests.papers.dueling.stepper import step_by_step

PROBLEM = load("bradley_terry")(utilities=(1.5, 0.5, 0.0))
FALSE_ALARM = 1e-8


def config_of(**settings: Any) -> DpEbs:
    held: dict[str, Any] = {"epsilon": 4, "horizon": 300, "arms": 3, "width": "tight", "width_factor": 0.08, **settings}
    return DpEbs(**held)


def fast(config: DpEbs, engine: str, runs: int, seed: int, problem: Duels = PROBLEM) -> Any:
    """Removal times and plays by one engine."""
    plan, voters = config.plan(), SimulatedVoters.of(problem)
    streams = Streams.spawn(np.random.default_rng(seed))
    if engine == "lockstep":
        return play(plan, voters, streams, runs)
    outcomes = [
        play_one(
            plan, voters, streams, [plan.tree.path(streams.noise) for _ in range(config.arms)] if plan.tree else []
        )
        for _ in range(runs)
    ]
    return replace(
        outcomes[0],
        plays=np.concatenate([o.plays for o in outcomes]),
        eliminated_at=np.concatenate([o.eliminated_at for o in outcomes]),
    )


def slow(config: DpEbs, runs: int, seed: int) -> tuple[Array, Array]:
    """The same by the oracle."""
    rng = np.random.default_rng(seed)
    width = config.plan().half_width
    found = [
        step_by_step(
            arms=config.arms,
            horizon=config.horizon,
            scale=scale_of(config.tree().leaf),
            width=lambda kept, clock: float(width.of(np.array([float(kept)]), np.array([clock]))[0]),
            reading=config.removal,
            preferences=PROBLEM.preferences,
            rng=rng,
        )
        for _ in range(runs)
    ]
    return np.array([held[0] for held in found]), np.array([held[1] for held in found])


def largest_gap(first: Array, second: Array) -> Any:
    """The largest difference between two empirical distribution functions."""
    points = np.unique(np.concatenate([first, second]))
    return max(
        np.abs(
            np.searchsorted(np.sort(first), points, side="right") / len(first)
            - np.searchsorted(np.sort(second), points, side="right") / len(second)
        )
    )


def band(n: int, m: int) -> float:
    """A gap that two samples of one law exceed with probability FALSE_ALARM at most, by two bands of Massart."""
    return sum(math.sqrt(math.log(4 / FALSE_ALARM) / (2 * size)) for size in (n, m))


@pytest.fixture(scope="module")
def oracle() -> Callable[..., Any]:
    held: dict[DpEbs, Any] = {}

    def of(config: DpEbs, runs: int = 900) -> Any:
        if config not in held:
            held[config] = slow(config, runs, seed=7)
        return held[config]

    return of


@pytest.mark.parametrize(
    ("engine", "settings"),
    [
        ("lockstep", {}),
        ("event", {}),
        ("event", {"removal": "R1"}),
        ("lockstep", {"removal": "R1"}),
        ("lockstep", {"removal": "R3", "credit": "both"}),
        ("event", {"removal": "R3", "credit": "both"}),
    ],
)
def test_an_engine_has_the_law_of_the_slow_simulator(
    engine: str, settings: dict[str, Any], oracle: Callable[..., Any]
) -> None:
    """Each option's removal time and number of plays, 900 slow runs against 4,000 fast ones (600 one by one).

    False alarm 1e-8 a comparison, six for each engine; a shift of 0.25 in probability is seen, and half the noise is.
    """
    config = config_of(**settings)
    times, plays = oracle(config)
    runs = 4_000 if engine == "lockstep" else 600
    found = fast(config, engine, runs, seed=11)
    assert (found.plays.sum(axis=(1, 2)) == config.horizon).all()
    allowed = band(len(times), runs)
    assert allowed < 0.25
    for arm in range(3):
        assert largest_gap(found.eliminated_at[:, arm], times[:, arm]) < allowed
        assert largest_gap(found.plays[:, arm].sum(axis=1), plays[:, arm].sum(axis=1)) < allowed
    other = fast(replace(config, epsilon=40), engine, runs, seed=12)
    assert max(largest_gap(other.eliminated_at[:, arm], times[:, arm]) for arm in range(3)) > allowed


class Tape:
    """Answers and right-hand options written down in advance, read by whichever engine asks."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.arms, self.horizon = int(rng.integers(3, 6)), int(rng.integers(40, 300))
        self.width_factor = float(rng.choice([0.05, 0.1, 0.2, 0.3]))
        self.answers = rng.random((self.horizon, self.arms, self.arms)) < rng.random((self.arms, self.arms))
        self.draws, self.place = rng.random(self.horizon), 0

    def votes(self, rounds: int, left: Array, right: Array, rng: np.random.Generator) -> Any:
        return self.answers[rounds, left, right] + np.zeros(np.shape(left))

    def opponents(self, number: int, lists: Array, left: Array, rng: np.random.Generator) -> Array:
        return lists[np.arange(len(left)), (self.draws[number] * left).astype(int)]

    def random(self, size: int | tuple[int, ...]) -> Array:
        """The draws of a block of rounds, from the place that the engine has reached."""
        return np.concatenate([self.draws[self.place :], np.zeros(size)])[:size]


def engines_disagree(seed: int, cells: int, monkeypatch: pytest.MonkeyPatch, **reading: Any) -> bool:
    """Whether the two engines do different things on one tape, with noise that is nothing to speak of."""
    tape: Any = Tape(seed)
    config = config_of(epsilon=1e9, horizon=tape.horizon, arms=tape.arms, width_factor=tape.width_factor, **reading)
    plan = replace(config.plan(), opponents=tape.opponents)
    streams = Streams.spawn(np.random.default_rng(0))
    engine: Any = event_both if plan.credits_both else event_driven
    commit = engine._commit

    def counted(run: Callable[..., Any], options: Any, others: Any, won: Array) -> None:
        tape.place += len(options)
        commit(run, options, others, won)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_ROUNDS" if plan.credits_both else "_CELLS", cells)
        patch.setattr(engine, "_commit", counted)
        paths = [plan.tree.path(streams.noise) for _ in range(tape.arms)]
        one = play_one(plan, tape, replace(streams, actions=tape), paths)
    many = play(plan, tape, streams, 1, watch=lambda pushed: None)
    return not (np.array_equal(one.plays, many.plays) and np.array_equal(one.eliminated_at, many.eliminated_at))


@pytest.mark.parametrize("cells", [12, 64, 4096])
def test_on_one_tape_both_engines_do_the_same(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every duel and every removal, on 25 tapes, for blocks of any size; a slip in the first row is seen."""
    assert not any(engines_disagree(seed, cells, monkeypatch) for seed in range(25))
    honest = event_driven._suffixes

    def forgetful(values: Any, held: Any, combine: Any) -> Array:
        return honest(values, np.full(held.shape, -np.inf if combine is np.maximum else np.inf), combine)

    monkeypatch.setattr(event_driven, "_suffixes", forgetful)
    assert cells > 64 or any(engines_disagree(seed, cells, monkeypatch) for seed in range(25))


@pytest.mark.parametrize("rounds", [1, 7, 4096])
def test_on_one_tape_both_engines_credit_both_options_alike(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading R3: every duel and every removal, on 25 tapes; a schedule that forgets plays on the right is seen."""
    reading = {"removal": "R3", "credit": "both"}
    assert not any(engines_disagree(seed, rounds, monkeypatch, **reading) for seed in range(25))

    def forgetful(plays: list[int], left: Array, drawn: Array) -> tuple[Array, Array]:
        places = np.empty_like(drawn)
        for number in range(len(drawn)):
            places[number] = plays.index(min(plays))
            plays[places[number]] += 1
        return left[places], left[drawn]

    monkeypatch.setattr(event_both, "_schedule", forgetful)
    assert rounds == 1 or any(engines_disagree(seed, rounds, monkeypatch, **reading) for seed in range(25))


def test_clocks_of_runs_that_credit_both_options_are_public() -> None:
    """A run of R3 checks its clocks against its plays on both sides; with the plays on the left alone they differ."""
    config = config_of(removal="R3", credit="both", calibration="tight")
    transcript = config.run(PROBLEM, Streams.spawn(np.random.default_rng(3)), 4)
    (clock,) = [line for line in transcript.conditions if line.kind == "public_schedule" and "counter" in line.text]
    assert clock.status == "checked"
    plan, streams = config.plan(), Streams.spawn(np.random.default_rng(3))
    assert plan.tree is not None
    paths: list[Any] = [plan.tree.path(streams.noise) for _ in range(config.arms)]
    single = play_one(plan, SimulatedVoters.of(PROBLEM), streams, paths)
    clocks = [path.clock for path in paths]
    assert clocks_are_public(single, clocks, plan)
    assert not clocks_are_public(single, clocks, replace(plan, reading="R2"))


def test_counters_are_unbiased_with_the_stated_variance_whatever_the_interface() -> None:
    """c_n - S_n has mean 0 and variance 2 b^2 popcount(n): path, bank and block release, 40,000 counters.

    Five standard errors a node, 13 nodes and two interfaces: false alarm 2e-5 x 26 under normality, so 6 are allowed
    for 1e-7; 10 % more noise moves a variance by 21 %, which is more than 6 standard errors of 2.6 %.
    """
    tree = TreeAggregation(horizon=13, leaf=Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one"))
    counters, rng = 40_000, np.random.default_rng(0)
    bank = tree.bank(counters, rng)
    every = np.arange(counters)
    noise = np.array([bank.push(every, np.full(counters, float(n))) - n * (n + 1) / 2 for n in range(1, 14)])
    paths = np.empty((13, 4_000))
    for run in range(4_000):
        path = tree.path(rng)
        path.ahead(6)
        path.advance(4)
        path.ahead(9)
        path.advance(9)
        paths[:, run] = path._path[1:]
    for held in (noise, paths):
        for n in range(1, 14):
            variance = 2 * 4 * bin(n).count("1")
            assert abs(held[n - 1].mean()) < 6 * math.sqrt(variance / held.shape[1])
            assert abs(held[n - 1].var() / variance - 1) < 6 * math.sqrt(5 / held.shape[1])
    # nodes are shared as they should be: the noise of 12 is that of 8 plus a fresh one
    assert np.corrcoef(noise[11] - noise[7], noise[7])[0, 1] == pytest.approx(0, abs=0.03)
    assert np.var(noise[11] - noise[7]) == pytest.approx(8, rel=0.1)


def test_a_counter_refuses_more_elements_than_its_capacity() -> None:
    tree = TreeAggregation(horizon=3, leaf=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"))
    bank, path = tree.bank(1, np.random.default_rng(0)), tree.path(np.random.default_rng(0))
    for _ in range(3):
        bank.push(np.array([0]), np.array([1.0]))
    with pytest.raises(ValueError, match="horizon=3"):
        bank.push(np.array([0]), np.array([1.0]))
    with pytest.raises(ValueError, match="horizon=3"):
        path.ahead(4)


def test_discrete_nodes_keep_counters_on_integers() -> None:
    """With two-sided geometric noise every output is a whole number."""
    leaf = DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="replace_one")
    bank = TreeAggregation(horizon=8, leaf=leaf).bank(5, np.random.default_rng(0))
    outputs = np.array([bank.push(np.arange(5), np.ones(5)) for _ in range(8)])
    assert (outputs == np.rint(outputs)).all()
    config = config_of(noise="discrete")
    transcript = config.run(PROBLEM, Streams.spawn(np.random.default_rng(0)), 2)
    assert not admit(config.declaration(), transcript.trace)


def test_the_best_option_stays_in_every_run_without_noise() -> None:
    """T2: at failure probability 1/T, 200 runs of 5,000 rounds keep and identify the best of three options."""
    config = config_of(epsilon=1e6, horizon=5_000, width_factor=1.0)
    transcript = config.run(PROBLEM, Streams.spawn(np.random.default_rng(4)), 200)
    assert (transcript.arrays["recommended"] == 0).all()
    assert (transcript.arrays["eliminated_at"][:, 1:] <= 5_000).all()


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("arms", [5, 10])
def test_the_printed_width_removes_nobody_up_to_a_hundred_thousand_rounds(epsilon: float, arms: int) -> None:
    """T5: zero removals, since the width at T / K plays exceeds what means can differ by; the notes say vacuous."""
    config = DpEbs(epsilon=epsilon, horizon=100_000, arms=arms, width="paper")
    problem = load("bradley_terry")(arms=arms)
    transcript = config.run(problem, Streams.spawn(np.random.default_rng(0)), 2)
    assert (transcript.arrays["eliminated_at"] == 100_001).all()
    assert "vacuous" in " ".join(config.notes(problem))
    assert "vacuous" not in " ".join(replace(config, epsilon=4.0, width="tight", arms=5).notes(load("bradley_terry")()))


@pytest.mark.parametrize(
    ("arms", "horizon", "expected"),
    [(5, 1_000, 155), (5, 10_000, 41), (5, 100_000, 8.9), (50, 1_000, 1780), (50, 100_000, 97)],
)
def test_the_printed_width_has_the_tabulated_values(arms: int, horizon: int, expected: float) -> None:
    """At n = T / K, epsilon = 1 and delta = 1/T, within the table's digits."""
    levels = (horizon + arms).bit_length()
    width = half_width(
        "paper", arms=arms, horizon=horizon, fail_prob=1 / horizon, scale=4.0 * levels, levels=levels, factor=1.0
    )
    found = float(width.of(np.array([horizon / arms]), np.array([1]))[0])
    assert found == pytest.approx(expected, rel=0.02)


def test_the_chernoff_quantile_bounds_sums_of_laplace_draws() -> None:
    """P(sum of k > q) <= e^-7 by sampling: 400,000 draws, false alarm 1e-7 (Bernstein); 873 at T = 1e5 as tabulated."""
    rng = np.random.default_rng(0)
    for nodes in (1, 5, 10):
        draws = rng.laplace(size=(400_000, nodes)).sum(axis=1)
        target = math.exp(-7)
        slack = math.sqrt(2 * target * 16.2 / 400_000) + 16.2 / (3 * 400_000)
        assert (draws > laplace_sum_quantile(nodes, 1.0, 7.0)).mean() < target + slack
        assert (draws > laplace_sum_quantile(nodes, 1.0, 7.0) / 2).mean() > target + slack
    assert laplace_sum_quantile(16, 17.0, math.log(2 * 5 * 1e5**2)) == pytest.approx(873, rel=0.03)
