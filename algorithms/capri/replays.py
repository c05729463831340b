"""Replays of CAPRI on one tape: recorded users of the whole horizon, of whom one differs."""

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.capri.cases import audit_geometry
from algorithms.capri.plan import Domain, Plan, plan_of
from algorithms.capri.releases import message
from algorithms.capri.run import run_epochs
from algorithms.capri.settings import CapriSettings
from algorithms.capri.users import RecordedUsers, two_records, unlike_records, usual_pairs
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_LONGEST = 100_000


def replays_of(settings: CapriSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of the whole run, on the domain where the sensitivity is attained.

    The user who differs comes first, at a border of epochs, in the middle or last; everybody else sees reward 0, so
    that the draws of their actions move no sum. Rewards out of range, infinite and not a number are among the pairs.
    What the elimination reads must follow from the releases as well. `problem` does not matter. In the local model a
    device's own message is replayed as well, also where its vector has zeros.
    """
    short = replace(settings, horizon=min(settings.horizon, _LONGEST))
    plan = plan_of(short)
    runs = tuple(
        _replay(name, plan, audit_geometry(changed, plan))
        for name, changed in (("capri", short), ("capri, best action only", replace(short, elimination="argmax")))
    )
    return (*runs, _message(plan)) if plan.model == "local" else runs


def _message(plan: Plan) -> ReplayCase:
    """Return the replay of one user's message: vectors of the largest length, along an axis, spread, or 0."""
    shapes = {"along an axis": np.array([1.0, 0.0, 0.0]), "spread": np.full(3, 3**-0.5), "0": np.zeros(3)}
    bound = plan.reward_bound

    def run(data: tuple[str, float], rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        says, reward = data
        vectors, rewards = np.broadcast_to(shapes[says], (n_runs, 3)), np.full(n_runs, reward)
        recorder = Recorder(Streams.spawn(rng).noise)
        return {"message": message(recorder, plan.label(plan.epochs[0]), plan.mechanism, vectors, rewards)}

    pairs = tuple(
        (f"the reward is {-bound:g} or {bound:g}, the vector {says} or {other}", (says, -bound), (other, bound))
        for says in shapes
        for other in shapes
    )
    return ReplayCase(name="capri message", pairs=pairs, run=run)


def _replay(name: str, plan: Plan, domain: Domain) -> ReplayCase:
    """Return the replay on one domain."""

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        read: list[Array] = []

        def eliminate(estimates: Array, active: Array, half_width: Array) -> Array:
            read.append(np.column_stack([estimates, half_width]))
            return plan.eliminate(estimates, active, half_width)

        watched = replace(plan, eliminate=eliminate)
        transcript = run_epochs(watched, domain, data, Streams.spawn(rng), n_runs)
        published = {field: array for view in transcript.views for field, array in transcript.view(view).items()}
        return {**published, "estimates and half widths": np.stack(read, axis=1)}

    rounds, bound = plan.epochs[-1].stop, plan.reward_bound
    last = max(epoch.stop for epoch in plan.epochs if plan.releases(epoch)) - 1
    hostile = tuple(
        (
            f"the {'first' if at == 0 else 'last'} reward is {reward:g} or {other:g}, {where}",
            *two_records(rounds, at, reward, other, context),
        )
        for at, context, where in ((0, 0, "alone at its context"), (0, 1, "in a crowd"), (last, 1, "in a crowd"))
        for reward in (np.nan, np.inf, 1e300, -1e300, 3.0 * bound)
        for other in (-bound, bound)
    )
    pairs = (*usual_pairs(rounds, plan.epochs[0].stop, bound), *hostile)
    return ReplayCase(name=name, pairs=pairs, run=run, others=(unlike_records(rounds, bound),))
