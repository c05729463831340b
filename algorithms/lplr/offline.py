"""Estimation alone: how well the layered regression of one action fits, from users who all play it."""

import numpy as np

from algorithms.lplr.checks import Outcomes
from algorithms.lplr.oracle import Estimate, fit_oracle
from algorithms.lplr.plan import Plan
from algorithms.lplr.run import answers_of
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Recorder, Streams
from dpaudit.model.mechanism import Array


def fit_offline(plan: Plan, problem: LinearBandit, users: int, streams: Streams, n_runs: int) -> Estimate:
    """Return one oracle's estimate at every atom of `problem` from `users` users, shared out over the phases.

    Raises: ValueError: a problem with several actions, or fewer users than phases.
    """
    if problem.n_actions != 1:
        raise ValueError(f"Expected a problem with one action; {problem.name!r} has {problem.n_actions}.")
    if users < plan.phases:
        raise ValueError(f"Expected users={users} to be at least the number of phases, {plan.phases}.")
    each = users // plan.phases
    phases = answers_of(problem, np.ones((n_runs, problem.n_contexts, 1), dtype=bool), each, streams, Outcomes())
    return fit_oracle(plan, np.swapaxes(problem.features, 0, 1), phases, each, Recorder(streams.noise), n_runs)


def deviation(problem: LinearBandit, values: Array) -> Array:
    """Return the mean absolute deviation of predictions from the true means, by context probability; shape (R,).

    Shape: values (R, C), of a problem with one action.
    """
    return np.abs(values - problem.mean_reward[:, 0]) @ problem.context_probabilities
