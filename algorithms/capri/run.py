"""The run of CAPRI: all runs in lock-step, one epoch at a time, at a cost that does not grow with the horizon."""

import math
from dataclasses import replace

import numpy as np

from algorithms._conditions import FRESH, all_took_part, conditions_of, noise_is_fresh
from algorithms.capri import checks
from algorithms.capri.design import cell_law
from algorithms.capri.domain import domain_of
from algorithms.capri.plan import Domain, Plan, plan_of
from algorithms.capri.settings import CapriSettings
from algorithms.capri.users import Played, SimulatedUsers, Users
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import Condition, Mechanism, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import tape_of
from dpaudit.model.trace import Released

_BLOCK_BYTES = 200e6
_PUBLISHED = ("basis", "covariance", "scale", "release", "active")
_VIEWS = {"joint": {"transcript": _PUBLISHED}, "local": {"sums": _PUBLISHED}}
"""What everybody sees. Counts of actions are in no view: they hold the target's own, which nobody else sees (joint
model), and in the local model no action leaves its device."""


def run(settings: CapriSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` independent runs on simulated users of `problem`.

    Beside the arrays of `run_epochs`: `regret` (n_runs, E), the expected regret of each epoch's
    actions, and `lost` (n_runs,), whether some context's best action was eliminated.
    Raises: ValueError: a problem without the features that the kernel needs.
    """
    return run_plan(plan_of(settings), settings, problem, streams, n_runs)


def run_plan(plan: Plan, settings: CapriSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return what `run` returns, for a plan whose steps may differ from those of the settings.

    Raises: ValueError: as for `run`.
    """
    domain = domain_of(settings, problem)
    return with_losses(run_epochs(plan, domain, SimulatedUsers(problem=problem), streams, n_runs), problem)


def with_losses(transcript: Transcript, problem: KernelBandit) -> Transcript:
    """Return the transcript with `regret` and `lost`, from its counts of `actions` and the `active` actions."""
    final = transcript.arrays["active"][:, -1].reshape(-1, *problem.gaps.shape)
    utility = {
        "regret": transcript.arrays["actions"] @ problem.gaps.ravel(),  # Eq. (1)
        "lost": (~(final & (problem.gaps == 0)).any(axis=2)).any(axis=1),
    }
    return replace(transcript, arrays={**transcript.arrays, **utility})


def run_epochs(plan: Plan, domain: Domain, users: Users, streams: Streams, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs of `plan`, in blocks that keep memory near 200 MB.

    Shape, with E epochs of which K release and N cells of dimension D:
    `release` (n_runs, K, D), the noisy sums over `scale` (n_runs, K); `basis` and `covariance` (n_runs, K, N),
    the sets S and R as counts; `active` (n_runs, E + 1, N), before each epoch and at the end; `actions`
    (n_runs, E, N), how often each cell was played. Memory: 8 n_runs E (2 N + D) bytes and as much again.
    """
    cells, dimension = domain.features.shape
    block = max(1, int(_BLOCK_BYTES / (8 * dimension * (2 * cells + 4 * dimension))))
    blocks = [_run_block(plan, domain, users, streams, min(block, n_runs - first)) for first in range(0, n_runs, block)]
    arrays = {name: np.concatenate([part[0][name] for part in blocks]) for name in blocks[0][0]}
    observed = {condition: all(part[2][condition] for part in blocks) for condition in blocks[0][2]}
    observed[FRESH] = noise_is_fresh(streams, tuple(line for part in blocks for line in part[1]))
    return Transcript(
        n_runs=n_runs,
        arrays=arrays,
        views=_VIEWS[plan.model],
        trace=blocks[0][1],
        conditions=conditions_of(observed),
    )


def _run_block(
    plan: Plan, domain: Domain, users: Users, streams: Streams, n_runs: int
) -> tuple[dict[str, Array], tuple[Released, ...], dict[Condition, bool]]:
    """Return one block's arrays, its trace, and whether each condition was true throughout.

    The steps follow Algorithm 1, whose lines are numbered beside them; R and S have a stream of their own, so it
    does not matter that the users of an epoch are drawn first.
    """
    recorder = Recorder(streams.noise)
    active = np.ones((n_runs, len(domain.context_probabilities), domain.n_actions), dtype=bool)
    arrays: dict[str, list[Array]] = {"active": [active.reshape(n_runs, -1)], "actions": []}
    arrays |= {"basis": [], "covariance": [], "scale": [], "release": []}
    observed = dict.fromkeys(checks.EVERY_EPOCH, True)
    for epoch in plan.epochs:  # lines 2 and 20: the lengths
        flat = active.reshape(n_runs, -1)
        played = users.play(epoch, active, streams)  # lines 10 to 12
        arrays["actions"].append(played.counts.reshape(n_runs, -1))
        observed[checks.SCHEDULE] &= all_took_part(played.counts, epoch.length)
        if plan.releases(epoch):
            law = cell_law(domain.context_probabilities, active)
            design = plan.draw(law, epoch.length, streams.public)  # lines 4 to 8, 21 to 25: S and R
            factors = plan.factorise(domain.features, design, flat, plan.ridge)  # lines 9 and 26, Eq. (6)
            sums = plan.collect(played, plan.reward_bound)
            unit = np.where(factors.scale > 0, factors.scale, 1.0)  # 0 where only cells without features are left
            value = factors.apply(sums) / unit[:, None]  # lines 13 and 15
            noisy = plan.release(recorder, plan.label(epoch), plan.mechanism, value, epoch.length)  # lines 14, 17
            tape = tape_of(recorder.rng)
            if tape is not None and plan.model == "local":  # the sum of all users' noise is drawn as one
                tape.total(plan.label(epoch), plan.mechanism, epoch.length, noisy - value)
            independent = checks.design_is_independent(design, played.counts, domain.context_probabilities)
            observed[checks.CLIPPED] &= checks.sums_are_clipped(played.counts, sums, plan.reward_bound)
            observed[checks.BOUND] &= checks.bound_holds(factors, flat)
            observed[checks.GENERATOR] &= independent
            if epoch.complete:  # line 16
                estimates = factors.scale[:, None] * factors.estimates(noisy)  # line 18, Eq. (4)
                noises = epoch.length if plan.model == "local" else 1
                half_width = domain.half_width.of(factors, factors.scale * plan.stddev * math.sqrt(noises))
                active = plan.eliminate(estimates, active, half_width)  # line 19, Eq. (7)
            arrays["basis"].append(design.basis)
            arrays["covariance"].append(design.covariance)
            arrays["scale"].append(factors.scale)
            arrays["release"].append(noisy)
        arrays["active"].append(active.reshape(n_runs, -1))
    return {name: np.stack(lists, axis=1) for name, lists in arrays.items()}, recorder.trace(), observed


def run_without_noise(settings: CapriSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs that release exact sums, with widths for no noise: no privacy."""
    plan = replace(plan_of(settings), release=exact_sum, stddev=0.0)
    return run_plan(plan, settings, problem, streams, n_runs)


def run_blind(settings: CapriSettings, problem: KernelBandit, streams: Streams, n_runs: int) -> Transcript:
    """Return runs whose releases hold noise alone: nothing is learned."""
    return run_plan(replace(plan_of(settings), collect=no_sums), settings, problem, streams, n_runs)


def exact_sum(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return the epoch's sum as it is."""
    return value


def no_sums(played: Played, reward_bound: float) -> Array:
    """Return 0 for every cell. Shape: (n_runs, C * X)."""
    return np.zeros((len(played.counts), int(np.prod(played.counts.shape[1:]))))
