"""Lower bounds on regret: exact values, the linear program of small cases, and learners that cannot beat them."""

import math
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from algorithms import Capri, DpEbs, GOptimalDueling, Lplr, LsviUcb, UcrlVtr
from algorithms.lower_bounds import (
    Duels,
    Privacy,
    bandit_regret,
    duels_regret,
    fewest_looks,
    fewest_looks_without_privacy,
    largest_gap_in_ball,
    logistic_utilities,
    preferences,
)
from algorithms.lplr.constants import (
    epsilon_of_input_perturbation,
    least_error_of_input_perturbation,
    least_squared_error,
    squared_hellinger,
)
from algorithms.problems import load
from dpaudit import Streams, certify
from dpaudit.model.mechanism import Array
from dpaudit.study.measuring import total_regret


def _by_privacy(family: Duels, arms: int, rounds: float, privacy: Privacy) -> float:
    return family.cost * fewest_looks(arms - 1, 2 * rounds, family.moved, privacy)


@pytest.mark.parametrize(
    ("epsilon", "pure", "logistic", "approximate", "local"),
    [(1, 10.973, 7.817, 6.762, 42.538), (0.1, 62.943, 41.970, 43.732, 1202.3), (0.01, 391.53, 253.90, 275.63, 5773.6)],
)
def test_the_bounds_for_duels_have_these_values(
    epsilon: float, pure: float, logistic: float, approximate: float, local: float
) -> None:
    """Five options, 1e5 rounds; solved by another program, all to five digits; 11.470 holds without privacy."""
    table, rounds = preferences(), 1e5
    privacy, rough = Privacy(epsilon=epsilon), Privacy(epsilon=epsilon, delta=1e-5)
    found = [
        _by_privacy(table, 5, rounds, privacy),
        _by_privacy(logistic_utilities(), 5, rounds, privacy),
        _by_privacy(table, 5, rounds, rough),
        duels_regret(table, 5, rounds, Privacy(epsilon=epsilon, local=True)),
    ]
    assert found == pytest.approx([pure, logistic, approximate, local], rel=2e-4)
    without = table.cost * fewest_looks_without_privacy(4, rounds, table.divergence)
    assert without == pytest.approx(11.470, rel=1e-4)
    assert duels_regret(table, 5, rounds, privacy) == max(found[0], without)


def test_the_bounds_for_bandits_and_episodes_have_these_values() -> None:
    """Nine options at epsilon 1: 12.181 and 16.600 by privacy, 36.68 and 116 in the local model; episodes beside."""
    gaps = [0.05 * number for number in range(1, 6)]
    for rounds, joint, local in ((1e5, 12.181, 36.68), (1e6, 16.600, 116.0)):
        best = max(gap * fewest_looks(8, rounds, 4 * gap, Privacy(epsilon=1)) for gap in gaps)
        assert best == pytest.approx(joint, rel=1e-4)
        assert bandit_regret(9, rounds, Privacy(epsilon=1, local=True)) == pytest.approx(local, rel=2e-4)
        assert bandit_regret(9, rounds, Privacy(epsilon=1)) >= best
    assert bandit_regret(4, 1e5, Privacy(epsilon=0.1), unit=9, copies=10) == pytest.approx(966.62, rel=1e-5)
    alone = max(3 * gap * fewest_looks(1, 20_000, 4 * gap, Privacy(epsilon=10)) for gap in gaps)
    assert alone == pytest.approx(3.089, rel=1e-4)


def _minimax(
    pairs: list[tuple[int, ...]], wins: Array, costs: Array, rounds: int, epsilon: float, delta: float = 0.0
) -> float:
    """Return the least regret on the worst instance, over all private learners, by linear programming.

    A learner is the probability A(s | o) of each sequence of choices s given all answers o but the last; it does not
    look ahead, and it is private for whoever sees all choices: with delta > 0 for answers that are fixed beforehand,
    which leaves more learners than adaptive ones. Shape: wins and costs (instances, rounds or 1, choices).
    """
    wins, costs = (np.broadcast_to(a, (len(a), rounds, len(pairs))) for a in (wins, costs))
    choices = range(len(pairs))
    bits: tuple[int, int] = (0, 1)
    answers = list(product(bits, repeat=rounds - 1))
    number = {key: place for place, key in enumerate(product(product(choices, repeat=rounds), answers))}
    slack = len(number)
    size = slack + 1 + (len(number) * (rounds - 1) if delta > 0 else 0)
    equal, at_most = [], []  # rows as {column: value}; the last column is the regret of the worst instance
    for kept in range(rounds):  # marginals of the first choices do not depend on later answers
        for start in product(choices, repeat=kept + 1):
            for past in product(bits, repeat=kept):
                seen = [past + rest for rest in product(bits, repeat=rounds - 1 - kept)]
                ends = [start + rest for rest in product(choices, repeat=rounds - 1 - kept)]
                equal += [
                    {number[s, first]: 1.0 for s in ends} | {number[s, other]: -1.0 for s in ends}
                    for first, other in pairwise(seen)
                ]
    totals = [{number[s, o]: 1.0 for s in product(choices, repeat=rounds)} for o in answers]
    lost: dict[tuple[Any, int], dict[int, float]] = {}  # what one pair of neighbours exceeds e^epsilon by
    for (s, o), place in product(number, range(rounds - 1) if epsilon < math.inf else ()):
        other = (*o[:place], 1 - o[place], *o[place + 1 :])
        row = {number[s, o]: 1.0, number[s, other]: -math.exp(epsilon)}
        if delta > 0:
            column = slack + 1 + number[s, o] * (rounds - 1) + place
            row[column] = -1.0
            lost.setdefault((o, place), {})[column] = 1.0
        at_most.append(row)
    for law, price in zip(wins, costs, strict=True):
        row = {slack: -1.0}
        for (s, o), column in number.items():
            likely = math.prod(law[t][s[t]] if won else 1 - law[t][s[t]] for t, won in enumerate(o))
            row[column] = likely * sum(price[t][c] for t, c in enumerate(s))
        at_most.append(row)
    ends_at = np.concatenate([np.zeros(len(at_most)), np.full(len(lost), delta)])
    at_most += lost.values()
    matrices: list[Any] = []
    for rows in (at_most, equal + totals):
        matrix = lil_matrix((len(rows), size))
        for line, row in enumerate(rows):
            for column, value in row.items():
                matrix[line, column] = value
        matrices.append(matrix.tocsr())
    right = np.concatenate([np.zeros(len(equal)), np.ones(len(totals))])
    target = np.zeros(size)
    target[slack] = 1.0
    found = linprog(target, matrices[0], ends_at, matrices[1], right, (0, None), method="highs")
    assert found.status == 0
    least: Any = found.fun
    return float(least)


@pytest.mark.parametrize(
    ("arms", "rounds", "epsilon", "exact"), [(2, 4, 1.0, 0.825822), (3, 3, 0.5, 0.947912), (2, 3, 0.1, None)]
)
def test_no_bound_for_duels_is_above_the_best_private_learner(
    arms: int, rounds: int, epsilon: float, exact: float | None
) -> None:
    """The linear program over all learners of a few rounds; the twin, three times the bound, is above it."""
    instances = [load("hardest_duels")(arms=arms, seed=seed) for seed in range(arms)]
    pairs: list[tuple[int, ...]] = list(combinations_with_replacement(range(arms), 2))
    wins = np.array([[problem.preferences[pair] for pair in pairs] for problem in instances])
    costs = np.array([[problem.preference_regret[pair] for pair in pairs] for problem in instances])
    least = _minimax(pairs, wins[:, None], costs[:, None], rounds, epsilon)
    bound = duels_regret(preferences(), arms, rounds, Privacy(epsilon=epsilon))
    assert 0 < bound <= least < 3 * bound
    assert exact is None or least == pytest.approx(exact, abs=2e-6)


_OTHER_WALLS: dict[str, tuple[int, float, float, bool, bool]] = {
    "no privacy": (4, math.inf, 0.0, False, False),
    "utilities": (4, 0.7, 0.0, False, True),
    "utilities, no privacy": (4, math.inf, 0.0, False, True),
    "local": (4, 1.0, 0.0, True, False),
    "local, little noise": (4, 4.0, 0.0, True, False),
    "delta": (3, 0.5, 0.02, False, False),
}
"""Rounds, epsilon, delta, whether every answer is noisy, and whether there are utilities."""


@pytest.mark.parametrize("name", _OTHER_WALLS)
def test_no_other_bound_for_two_options_is_above_the_best_learner(name: str) -> None:
    """Duels and bandits; a local learner sees randomised answers, of which all that is local is a function."""
    rounds, epsilon, delta, local, utilities = _OTHER_WALLS[name]
    truth = 1 / (1 + math.exp(-epsilon)) if local else 1.0
    seen, privacy = math.inf if local else epsilon, Privacy(epsilon=epsilon, delta=delta, local=local)
    duels = [load("hardest_duels")(arms=2, seed=seed, utilities=utilities) for seed in range(2)]
    pairs: list[tuple[int, ...]] = list(combinations_with_replacement(range(2), 2))
    wins = np.array([[[problem.preferences[pair] for pair in pairs]] for problem in duels])
    costs = np.array([[[problem.regret[pair] for pair in pairs]] for problem in duels])
    least = _minimax(pairs, 1 - truth + (2 * truth - 1) * wins, costs, rounds, seen, delta)
    family = logistic_utilities(in_utility=True) if utilities else preferences()
    assert 0 < duels_regret(family, 2, rounds, privacy) <= least
    bandits = [load("hardest_bandit")(actions=2, gap=0.2, seed=seed) for seed in range(2)]
    wins = np.array([[(1 + problem.mean_reward[0]) / 2] for problem in bandits])
    costs = wins.max(axis=2, keepdims=True) - wins
    least = _minimax([(0,), (1,)], 1 - truth + (2 * truth - 1) * wins, costs, rounds + 1, seen, delta)
    assert 0 < bandit_regret(2, rounds + 1, privacy, gap=0.2) <= least


@pytest.mark.parametrize("epsilon", [0.3, math.inf])
def test_the_bound_for_episodes_with_two_first_states_is_not_above_the_best_learner(epsilon: float) -> None:
    """Five episodes whose first states alternate, two actions each: the base, and one better action in either state."""
    gap, base = 0.2, np.array([[0.7, 0.5], [0.7, 0.5]])
    better = [base, base.copy(), base.copy()]
    for state in range(2):
        better[state + 1][state, 1] = 0.9
    wins = np.array([[table[episode % 2] for episode in range(5)] for table in better])
    least = _minimax([(0,), (1,)], wins, wins.max(axis=2, keepdims=True) - wins, 5, epsilon)
    assert 0 < bandit_regret(2, 5, Privacy(epsilon=epsilon), copies=2, gap=gap) <= least


def test_a_bound_grows_with_the_horizon_and_falls_with_epsilon_to_what_holds_without_privacy() -> None:
    """Also at the ends: no privacy at all, none to speak of, one option, no round."""
    for local in (False, True):
        values = [duels_regret(preferences(), 5, 1e6, Privacy(epsilon=e, local=local)) for e in (1e-6, 0.1, 1, 100)]
        assert values == sorted(values, reverse=True)
    free = duels_regret(preferences(), 5, 1e6, Privacy(epsilon=math.inf))
    assert values[-1] == pytest.approx(free, rel=1e-9)
    assert duels_regret(preferences(), 5, 1e5, Privacy(epsilon=1)) < free
    assert bandit_regret(1, 1e5, Privacy(epsilon=1)) == fewest_looks(4, 0, 0.5, Privacy(epsilon=1)) == 0.0
    hidden = duels_regret(preferences(), 5, 1e5, Privacy(epsilon=1e-12))
    uniform = 0.25 * 4 / 5 * 2e5  # no answer says anything, and 4 of 5 options are wrong
    assert 0.5 * uniform < hidden < uniform


@pytest.mark.parametrize(("span", "in_utility"), [(1.0, False), (1.0, True), (3.0, True)])
def test_the_answers_of_instances_move_by_no_more_than_the_family_says(span: float, in_utility: bool) -> None:
    """Mass moved over losing mass, and divergence, of every pair with the option in it, from the tables themselves."""
    family = logistic_utilities(span, in_utility=in_utility)
    values = np.array([span / 2, 0.0, 0.0])
    better = np.array([span / 2, span, 0.0])
    for opponent in (0, 2):
        base, instance = (1 / (1 + math.exp(r[opponent] - r[1])) for r in (values, better))
        assert (instance - base) / (1 - base) <= family.moved + 1e-12
        divergence = base * math.log(base / instance) + (1 - base) * math.log((1 - base) / (1 - instance))
        assert divergence <= family.divergence + 1e-12
    least = span / 2 if in_utility else 1 / (1 + math.exp(-span / 2)) - 0.5
    assert family.cost == pytest.approx(least)


def test_functions_of_a_smooth_kernel_have_smaller_gaps_and_so_smaller_bounds() -> None:
    """The means of the family have norm 1 at the stated gap; a kernel that is nearly singular allows none."""
    rough, smooth = (load("grid")(contexts=2, actions=5, length_scale=length) for length in (0.05, 1.0))
    stated = {"horizon": 10**3, "epsilon": 0.1, "delta": 1e-5, "model": "joint"}
    assert smooth.regret_lower_bound(**stated).value < rough.regret_lower_bound(**stated).value
    gram = smooth.gram[:5, :5]
    gap = largest_gap_in_ball(gram, 1.0)
    norms = []
    for base in range(5):
        means = [2 * gap * np.eye(5)[base] + (4 * gap * np.eye(5)[i] if i != base else 0) for i in range(5)]
        norms.append(max(float(mean @ np.linalg.solve(gram, mean)) for mean in means))
    assert min(norms) == pytest.approx(1.0, rel=1e-5)
    assert min(norms) <= 1
    assert load("grid")(contexts=20, actions=20, length_scale=1.0).regret_lower_bound(**stated) is None


_EPISODES: dict[str, Any] = {
    "episodes": 2_000,
    "steps": 4,
    "epsilon": 10.0,
    "delta": 1e-5,
    "bonus_scale": 0.01,
    "shift_scale": 0.1,
}
_SETTINGS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "dp_ebs": (DpEbs(epsilon=1.0, horizon=4_000, arms=3, model="local"), "hardest_duels", {"arms": 3}),
    "g_optimal_dueling": (
        GOptimalDueling(epsilon=1.0, horizon=4_000, arms=3, dimension=3),
        "hardest_duels",
        {"arms": 3, "utilities": True},
    ),
    "capri": (
        Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=10_000, kernel="features"),
        "hardest_bandit",
        {"actions": 3},
    ),
    "lplr": (Lplr(epsilon=4.0, horizon=10**6, dimension=2, actions=2), "hardest_linear", {}),
    "lsvi_ucb": (LsviUcb(dimension=4, **_EPISODES), "hardest_process", {}),
    "ucrl_vtr": (UcrlVtr(model="joint", dimension=3, planning_period=50, **_EPISODES), "hardest_mixture", {}),
}


@pytest.mark.parametrize("name", _SETTINGS)
def test_every_algorithm_loses_as_much_as_its_bound_on_the_worst_of_all_instances(name: str) -> None:
    """The mean of the worst instance, 4 standard errors up, at the certified epsilon."""
    algorithm, problem, parameters = _SETTINGS[name]
    bound = load(problem)(**parameters).regret_lower_bound(
        horizon=algorithm.number_of_units,
        epsilon=certify(algorithm.declaration(), algorithm.claim()).tight.epsilon.upper,
        delta=algorithm.claim().delta,
        model=algorithm.claim().model,
    )
    assert bound.is_member
    reached = []
    for seed in range(bound.instances):
        streams = Streams.spawn(np.random.default_rng(seed))
        run = algorithm.run(load(problem)(**parameters, seed=seed), streams, 10)
        lost = total_regret(run, cumulative=hasattr(algorithm, "episodes"))
        reached.append(lost.mean() + 4 * lost.std(ddof=1) / math.sqrt(len(lost)))
    assert max(reached) >= bound.value > 0


def test_the_bounds_of_locally_private_regression_have_these_values() -> None:
    """Theorem 2.1 at two points, and Theorem 2.2 at four; the printed constants are smaller."""
    assert least_squared_error(1.0, 1e4) == pytest.approx(3.63735e-4, rel=1e-5)
    assert least_squared_error(0.1, 1e6) == pytest.approx(1.07544e-3, rel=1e-5)
    found = [least_error_of_input_perturbation(1.0, n) * n ** (1 / 3) for n in (1e3, 1e4, 1e6, 1e8)]
    assert found == pytest.approx([0.306, 0.332, 0.367, 0.380], abs=6e-4)
    assert least_error_of_input_perturbation(1.0, 1e6) == pytest.approx(0.0036732, rel=1e-4)
    assert epsilon_of_input_perturbation(0.20711) == pytest.approx(1.0, abs=1e-4)


def test_the_distance_of_two_messages_is_a_192nd_of_the_cube_and_what_a_plain_sum_finds() -> None:
    """b / (alpha m)^3 tends to 1/192; at a size of 0.8 a fine grid agrees; kinks are why pieces are needed."""
    assert squared_hellinger(1e-4) * 192 / 1e-12 == pytest.approx(1.0, rel=1e-3)
    size, x, y = 0.8, np.linspace(-20, 20, 2001)[:, None], np.linspace(-20, 20, 2001)[None, :]
    first = (np.exp(-np.abs(x - size)) + np.exp(-np.abs(x + size))) * np.exp(-np.abs(y)) / 8
    second = np.exp(-np.abs(x - size) - np.abs(y - size / 2)) + np.exp(-np.abs(x + size) - np.abs(y + size / 2))
    plain = ((np.sqrt(first) - np.sqrt(second / 8)) ** 2).sum() * 0.02**2 / 2
    assert squared_hellinger(size) == pytest.approx(plain, rel=1e-3)


_OWN: dict[str, tuple[str, dict[str, Any], str]] = {
    "capri": ("hardest_bandit", {"actions": 2, "gap": 0.2}, "joint"),
    "lplr": ("hardest_linear", {"gap": 0.1, "gaps": 2}, "local"),
    "lsvi_ucb": ("hardest_process", {"steps": 3, "gap": 0.2}, "joint"),
    "ucrl_vtr": ("hardest_mixture", {"steps": 3, "gap": 0.2}, "joint"),
}
"""The family of each algorithm but those for duels, at two actions."""


@pytest.mark.parametrize("name", _OWN)
def test_no_bound_that_a_problem_states_is_above_the_best_learner_of_five_rounds(name: str) -> None:
    """Of all its instances, at epsilon 0.5, by linear programming; the twin, eight times the bound, is above it."""
    problem, parameters, model = _OWN[name]
    bound = load(problem)(**parameters).regret_lower_bound(horizon=5, epsilon=0.5, delta=0.0, model=model)
    instances = [load(problem)(**parameters, seed=seed) for seed in range(bound.instances)]
    if hasattr(instances[0], "mdp"):
        paid = parameters["steps"] - 1.0
        wins = np.array([instance.mdp.transitions[0, 0, :, 1] for instance in instances])
    else:
        paid = 2.0  # rewards are -1 and +1
        wins = np.array([(1 + instance.mean_reward[0]) / 2 for instance in instances])
    costs = paid * (wins.max(axis=1, keepdims=True) - wins)
    truth = 1 / (1 + math.exp(-0.5)) if model == "local" else 1.0
    seen = math.inf if model == "local" else 0.5
    least = _minimax([(0,), (1,)], (1 - truth + (2 * truth - 1) * wins)[:, None], costs[:, None], 5, seen)
    assert 0 < bound.value <= least < 8 * bound.value
