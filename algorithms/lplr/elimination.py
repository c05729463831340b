"""Algorithm 1: epochs that double, actions that are eliminated, all runs in lock-step."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from algorithms.lplr import checks
from algorithms.lplr.oracle import Answers, Estimate, fit_oracle
from algorithms.lplr.plan import Plan
from dpaudit import Recorder, Released, Streams, Transcript
from dpaudit.model.mechanism import Array

if TYPE_CHECKING:
    from algorithms.problems.linear_bandit import LinearBandit

_BLOCK_BYTES = 150e6


def run_protocol(plan: Plan, problem: "LinearBandit", streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs, in blocks that keep memory near 150 MB.

    Shape, with E epochs of which F are complete, A actions and K contexts: `value` and `half_width` (n_runs, F, A, K),
    what the oracles answer; `layers` (n_runs, F, A, K), how many layers of an atom's bins were active; `active`
    (n_runs, E + 1, K, A), before each epoch and at the end; `regret` (n_runs, E), the regret to expect of an epoch's
    policy, exactly; `lost` (n_runs,), whether a best action was ever eliminated.
    Memory: 8 n_runs F (3 A K) bytes; working memory 24 A K (K + d (d + 2)) bytes a run of a block.
    Raises: ValueError: a problem of another dimension or number of actions.
    """
    if (problem.dimension, problem.n_actions) != (plan.dimension, plan.actions):
        raise ValueError(
            f"Expected a problem of dimension={plan.dimension} with actions={plan.actions}; {problem.name!r} has "
            f"{problem.dimension} and {problem.n_actions}. Change the two in the algorithm's settings."
        )
    atoms, dimension = problem.n_contexts * problem.n_actions, problem.dimension
    per_run = 24 * atoms * (problem.n_contexts + dimension * (dimension + 2))
    block = max(1, int(_BLOCK_BYTES / per_run))
    parts = [_run_block(plan, problem, streams, min(block, n_runs - first)) for first in range(0, n_runs, block)]
    arrays = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    looks = checks.look_at_device(plan)
    for _, _, seen in parts:
        for condition, held in seen.held.items():
            looks.see(condition, holds=held)
    released = tuple(line for part in parts for line in part[1])
    looks.see(checks.FRESH, holds=checks.noise_is_fresh(streams, released))
    return Transcript(
        n_runs=n_runs,
        arrays=arrays,
        views={"public": ("value", "half_width", "active")},
        trace=checks.message_lines(released),
        conditions=looks.conditions(),
    )


def _run_block(
    plan: Plan, problem: "LinearBandit", streams: Streams, n_runs: int
) -> tuple[dict[str, Array], tuple[Released, ...], checks.Looks]:
    """Return one block's arrays, its trace, and what was looked at."""
    recorder, looks = Recorder(streams.noise), checks.Looks()
    active = np.ones((n_runs, problem.n_contexts, problem.n_actions), dtype=bool)
    kept: dict[str, list[Array]] = {"active": [active], "regret": []}
    kept |= {"value": [], "half_width": [], "layers": []}
    features = np.swapaxes(problem.features, 0, 1)
    for epoch in plan.epochs:
        kept["regret"].append(epoch.length * expected_regret(problem, active))
        if epoch.complete:
            users = plan.users(epoch)
            phases = answers_of(problem, active, users, streams, looks)
            estimate = fit_oracle(plan, features, phases, users, recorder, n_runs)
            inside = estimate.smallest_entry >= 0 and estimate.largest_entry <= 1 + 1e-9
            looks.see(checks.ENTRIES, holds=inside)
            active = survivors(active, estimate)
            kept["value"].append(estimate.value)
            kept["half_width"].append(estimate.half_width)
            kept["layers"].append(estimate.layers)
        kept["active"].append(active)
    arrays: dict[str, Array] = {name: np.stack(lists, axis=1) for name, lists in kept.items()}
    arrays["lost"] = _lost(problem, active)
    return arrays, recorder.trace(), looks


def _lost(problem: "LinearBandit", active: Array) -> Array:
    """Return whether some context has lost all of its best actions; shape (R,)."""
    best: Array = np.asarray(problem.gaps <= 1e-12)
    lost: Array = (active & best).sum(axis=2).min(axis=1) == 0
    return lost


def answers_of(
    problem: "LinearBandit", active: Array, users: int, streams: Streams, looks: checks.Looks
) -> Iterator[Answers]:
    """Yield the answers of phase after phase, each of fresh users who play uniformly among their active actions.

    Drawn as counts, which is exact in law and costs the same for any number of users.
    """
    chance = (1 + problem.mean_reward.T) / 2
    law = active / active.sum(axis=2, keepdims=True)
    while True:
        arrivals = streams.environment.multinomial(users, problem.context_probabilities, size=len(active))
        counts = np.swapaxes(streams.actions.multinomial(arrivals, law), 1, 2)
        looks.see(checks.SCHEDULE, holds=checks.phase_is_full(counts, users))
        yield Answers(counts=counts, positive=streams.environment.binomial(counts, np.clip(chance, 0.0, 1.0)))


def survivors(active: Array, estimate: Estimate) -> Array:
    """Return which actions stay: whose upper end reaches the largest lower end among the active ones.

    Shape: active (R, K, A). Filtering what is left of earlier epochs gives the nested sets of Algorithm 1.
    """
    value, half_width = (np.swapaxes(held, 1, 2) for held in (estimate.value, estimate.half_width))
    floor = np.where(active, value - half_width, -np.inf).max(axis=2, keepdims=True)
    kept: Array = active & (value + half_width >= floor)
    return kept


def expected_regret(problem: "LinearBandit", active: Array) -> Array:
    """Return the regret to expect of one round when users play uniformly among their active actions; shape (R,)."""
    law = active / active.sum(axis=2, keepdims=True)
    regret: Array = ((law * problem.gaps).sum(axis=2) * problem.context_probabilities).sum(axis=1)
    return regret
