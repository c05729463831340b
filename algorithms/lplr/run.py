"""Runs of LPLR, all in lock-step: Algorithm 1, with epochs that double and actions that are eliminated."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from algorithms._conditions import FRESH, all_took_part, conditions_of, nobody_twice, noise_is_fresh
from algorithms.lplr import checks
from algorithms.lplr.oracle import Answers, Estimate, fit_oracle
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released

_BLOCK_BYTES = 150e6


Hear = Callable[[Answers], Answers]
"""hear(answers of one phase) -> what enters the messages."""


def as_answered(answers: Answers) -> Answers:
    """Return the answers as they are."""
    return answers


def run_protocol(
    plan: Plan, problem: LinearBandit, streams: Streams, n_runs: int, hear: Hear = as_answered
) -> Transcript:
    """Return the transcript of `n_runs` runs, in blocks that keep memory near 150 MB; `hear` stands before the noise.

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
    starts = range(0, n_runs, block)
    parts = [_run_block(plan, problem, streams, min(block, n_runs - first), hear) for first in starts]
    arrays = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    outcomes = checks.check_device(plan)
    for _, _, block_outcomes in parts:
        for condition, holds in block_outcomes.by_condition.items():
            outcomes.add(condition, holds=holds)
    released = tuple(line for part in parts for line in part[1])
    outcomes.add(FRESH, holds=noise_is_fresh(streams, released))
    return Transcript(
        n_runs=n_runs,
        arrays=arrays,
        views={"public": ("value", "half_width", "active")},
        trace=checks.message_lines(released),
        conditions=conditions_of(outcomes.by_condition),
    )


def _run_block(
    plan: Plan, problem: LinearBandit, streams: Streams, n_runs: int, hear: Hear
) -> tuple[dict[str, Array], tuple[Released, ...], checks.Outcomes]:
    """Return one block's arrays, its trace, and the outcomes of its checks."""
    recorder, outcomes = Recorder(streams.noise), checks.Outcomes()
    active = np.ones((n_runs, problem.n_contexts, problem.n_actions), dtype=bool)
    history: dict[str, list[Array]] = {"active": [active], "regret": []}
    history |= {"value": [], "half_width": [], "layers": []}
    features = np.swapaxes(problem.features, 0, 1)
    arrived = 0
    for epoch in plan.epochs:  # Algorithm 1, line 3
        history["regret"].append(epoch.length * expected_regret(problem, active))
        if epoch.complete:
            users = plan.users(epoch)  # lines 4 and 5: fresh oracles, n_tau users shared out over their phases
            phases = answers_of(problem, active, users, streams, outcomes, arrived)
            estimate = fit_oracle(plan, features, map(hear, phases), users, recorder, n_runs)  # lines 11 and 13
            inside = estimate.smallest_entry >= 0 and estimate.largest_entry <= 1 + 1e-9
            outcomes.add(checks.ENTRIES, holds=inside)
            active = survivors(active, estimate)  # lines 7 to 9, for the users of the next epoch
            history["value"].append(estimate.value)
            history["half_width"].append(estimate.half_width)
            history["layers"].append(estimate.layers)
        arrived += epoch.length
        history["active"].append(active)
    outcomes.add(checks.ONE_PHASE, holds=nobody_twice(recorder.people))
    arrays: dict[str, Array] = {name: np.stack(lists, axis=1) for name, lists in history.items()}
    arrays["lost"] = _lost(problem, active)
    return arrays, recorder.trace(), outcomes


def _lost(problem: LinearBandit, active: Array) -> Array:
    """Return whether some context has lost all of its best actions; shape (R,)."""
    best: Array = np.asarray(problem.gaps <= 1e-12)
    return (active & best).sum(axis=2).min(axis=1) == 0


def answers_of(
    problem: LinearBandit, active: Array, users: int, streams: Streams, outcomes: checks.Outcomes, first: int = 0
) -> Iterator[Answers]:
    """Yield the answers of phase after phase, each of fresh users who play uniformly among their active actions.

    Drawn as counts, which is exact in law and costs the same for any number of users. `first` is the number of the
    first user; the phases take the users in order.
    """
    chance = (1 + problem.mean_reward.T) / 2
    law = active / active.sum(axis=2, keepdims=True)
    for start in count(first, users):
        arrivals = streams.environment.multinomial(users, problem.context_probabilities, size=len(active))
        # lines 6 and 10: contexts are drawn, and actions uniformly from the active ones
        counts = np.swapaxes(streams.actions.multinomial(arrivals, law), 1, 2)
        outcomes.add(checks.SCHEDULE, holds=all_took_part(counts, users))
        positive = streams.environment.binomial(counts, np.clip(chance, 0.0, 1.0))
        yield Answers(counts=counts, positive=positive, people=range(start, start + users))


def survivors(active: Array, estimate: Estimate) -> Array:
    """Return which actions stay: whose upper end reaches the largest lower end among the active ones.

    Shape: active (R, K, A). Filtering what is left of earlier epochs gives the nested sets of Algorithm 1.
    """
    value, half_width = (np.swapaxes(bound, 1, 2) for bound in (estimate.value, estimate.half_width))
    # line 8
    floor = np.where(active, value - half_width, -np.inf).max(axis=2, keepdims=True)
    return active & (value + half_width >= floor)


def expected_regret(problem: LinearBandit, active: Array) -> Array:
    """Return the regret to expect of one round when users play uniformly among their active actions; shape (R,)."""
    law = active / active.sum(axis=2, keepdims=True)
    return ((law * problem.gaps).sum(axis=2) * problem.context_probabilities).sum(axis=1)


_NO_PRIVACY = 1e9
"""An epsilon at which noise is far below one record."""


def run(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` independent runs on `problem`; see `run.run_protocol`."""
    return run_protocol(plan_of(settings), problem, streams, n_runs)


def run_without_noise(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose noise is far below one record, with widths for it: no privacy."""
    return run_protocol(plan_of(replace(settings, epsilon=_NO_PRIVACY)), problem, streams, n_runs)


def run_blind(settings: LplrSettings, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose messages hold noise alone: nothing is learned."""
    return run_protocol(plan_of(settings), problem, streams, n_runs, hear=nobody)


def nobody(answers: Answers) -> Answers:
    """Return the answers of a phase in which nobody stood at any atom."""
    return replace(answers, counts=np.zeros_like(answers.counts), positive=np.zeros_like(answers.positive))
