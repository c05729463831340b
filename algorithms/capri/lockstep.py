"""The run: all runs in lock-step, one epoch at a time, at a cost that does not grow with the horizon."""

import math

import numpy as np

from algorithms.capri import checks
from algorithms.capri.design import cell_law
from algorithms.capri.plan import Domain, Plan
from algorithms.capri.users import Users
from dpaudit import Condition, Recorder, Released, Streams, Transcript
from dpaudit.model.mechanism import Array

_BLOCK_BYTES = 200e6
_PUBLISHED = ("basis", "covariance", "scale", "release", "active")
_VIEWS = {"joint": {"transcript": _PUBLISHED}, "local": {"sums": _PUBLISHED}}
"""What everybody sees. Counts of actions are in no view: they hold the target's own, which nobody else sees (joint
model), and in the local model no action leaves its device."""


def run_epochs(plan: Plan, domain: Domain, users: Users, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs of `plan`, in blocks that keep memory near 200 MB.

    Shape, with E epochs of which K release and N cells of dimension D:
    `release` (n_runs, K, D), the noisy sums over `scale` (n_runs, K); `basis` and `covariance` (n_runs, K, N),
    the sets S and R as counts; `active` (n_runs, E + 1, N), before each epoch and at the end; `actions`
    (n_runs, E, N), how often each cell was played. Memory: 8 n_runs E (2 N + D) bytes and as much again.
    """
    cells, dimension = domain.features.shape
    block = max(1, int(_BLOCK_BYTES / (8 * dimension * (2 * cells + 4 * dimension))))
    parts = [_run_block(plan, domain, users, streams, min(block, n_runs - first)) for first in range(0, n_runs, block)]
    arrays = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    looked = {seen: all(part[2][seen] for part in parts) for seen in parts[0][2]}
    looked[checks.FRESH] = checks.noise_is_fresh(streams, tuple(line for part in parts for line in part[1]))
    return Transcript(
        n_runs=n_runs,
        arrays=arrays,
        views=_VIEWS[plan.model],
        trace=parts[0][1],
        conditions=checks.conditions(looked),
    )


def _run_block(
    plan: Plan, domain: Domain, users: Users, streams: Streams, n_runs: int
) -> tuple[dict[str, Array], tuple[Released, ...], dict[Condition, bool]]:
    """Return one block's arrays, its trace, and whether each condition held throughout.

    The steps follow Algorithm 1; R and S have a stream of their own, so it does not matter that the users
    of an epoch are drawn first.
    """
    recorder = Recorder(streams.noise)
    active = np.ones((n_runs, len(domain.context_probabilities), domain.n_actions), dtype=bool)
    kept: dict[str, list[Array]] = {"active": [active.reshape(n_runs, -1)], "actions": []}
    kept |= {"basis": [], "covariance": [], "scale": [], "release": []}
    held = dict.fromkeys(checks.EVERY_EPOCH, True)
    for epoch in plan.epochs:
        flat = active.reshape(n_runs, -1)
        played = users.play(epoch, active, streams)  # lines 10 to 12
        kept["actions"].append(played.counts.reshape(n_runs, -1))
        held[checks.SCHEDULE] &= checks.epoch_is_full(epoch, played.counts)
        if plan.releases(epoch):
            design = plan.draw(cell_law(domain.context_probabilities, active), epoch.length, streams.public)
            factors = plan.factorise(domain.features, design, flat, plan.ridge)
            sums = plan.collect(played, plan.reward_bound)
            unit = np.where(factors.scale > 0, factors.scale, 1.0)  # 0 where only cells without features are left
            value = factors.apply(sums) / unit[:, None]  # lines 13 and 15
            noisy = plan.release(recorder, plan.label(epoch), plan.mechanism, value, epoch.length)  # 14, 17
            clipped = checks.sums_are_clipped(played.counts, sums, plan.reward_bound)
            bounded = checks.bound_holds(factors, flat)
            held[checks.CLIPPED] &= clipped
            held[checks.BOUND] &= bounded
            held[checks.SENSITIVITY] &= clipped and bounded
            held[checks.GENERATOR] &= checks.design_is_independent(design, played.counts, domain.context_probabilities)
            if epoch.complete:
                estimates = factors.scale[:, None] * factors.estimates(noisy)  # line 18
                noises = epoch.length if plan.model == "local" else 1
                half_width = domain.half_width.of(factors, factors.scale * plan.stddev * math.sqrt(noises))
                active = plan.eliminate(estimates, active, half_width)  # line 19, Eq. (7)
            kept["basis"].append(design.basis)
            kept["covariance"].append(design.covariance)
            kept["scale"].append(factors.scale)
            kept["release"].append(noisy)
        kept["active"].append(active.reshape(n_runs, -1))
    return {name: np.stack(lists, axis=1) for name, lists in kept.items()}, recorder.trace(), held
